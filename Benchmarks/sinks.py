"""Far ends that are not ours: nginx in the place of Linq and of APNs, which takes everything and counts it."""

import re
import shutil
import signal
import subprocess
from pathlib import Path

from stack import eventually, free_port, request

LINQ_ANSWER = '{"message":{"id":"00000000-0000-4000-8000-000000000000","delivery_status":"queued"}}'

CONFIG = """
daemon off;
worker_processes 1;
pid {folder}/pid;
error_log {folder}/error.log;
events {{ worker_connections 4096; }}
http {{
    log_format times '$msec $request_uri';
    access_log {log};
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    keepalive_requests 1000000000;
    keepalive_timeout 600s;
    http2_max_concurrent_streams 1000;
    server {{
        listen 127.0.0.1:{port} {options};
        {certificate}
        location / {{ default_type application/json; add_header apns-id $http_apns_id; return {answer}; }}
    }}
    server {{
        listen 127.0.0.1:{count_port};
        access_log off;
        location / {{ stub_status; }}
    }}
}}
"""


class Sink:
    """One nginx with one worker; `times=True` has it note when each request came, to the millisecond."""

    def __init__(self, folder, secrets=None, answer="200", times=False):
        self.folder, self.secrets, self.answer = Path(folder), secrets, answer
        self.times = self.folder / "times.log" if times else None
        self.asked = 0

    def __enter__(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.port, self.count_port = free_port(), free_port()
        tls = self.secrets is not None
        (self.folder / "nginx.conf").write_text(CONFIG.format(
            folder=self.folder, port=self.port, count_port=self.count_port, answer=self.answer,
            options="ssl http2" if tls else "",
            log=f"{self.times} times buffer=64k flush=1s" if self.times else "off",
            certificate=f"ssl_certificate {self.secrets}/server.pem; ssl_certificate_key {self.secrets}/server-key.pem;"
            if tls else ""))
        # Not to be stopped by the first Ctrl-C of whoever measures.
        self.process = subprocess.Popen(
            [shutil.which("nginx", path="/usr/sbin:/usr/bin"), "-c", f"{self.folder}/nginx.conf", "-e", "stderr"],
            start_new_session=True)
        eventually("nginx answers", self.is_up)
        return self

    def is_up(self):
        assert self.process.poll() is None, (self.folder / "error.log").read_text()
        try:
            return self.count() >= 0
        except OSError:
            return False

    def count(self):
        """How many requests came since it was started."""
        status = request("GET", f"http://127.0.0.1:{self.count_port}/").body.decode()
        # The last of three numbers counts requests; those for the count are among them.
        requests = int(re.search(r"^ *\d+ \d+ (\d+)", status, re.MULTILINE)[1])
        self.asked += 1
        return requests - self.asked

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(20)
