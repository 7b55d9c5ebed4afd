"""A PostgreSQL of a test's own: a fresh cluster in a folder, on a free port of the loopback address."""

import os
import shutil
import signal
import subprocess
from pathlib import Path

from processes import children
from stack import eventually, free_port


class PostgreSQL:
    """Its role `isthmus` owns the database `isthmus`; the superuser is `postgres`. Nobody needs a password.

    With a certificate for `localhost`, which has its key beside it, it speaks TLS to who asks for it.
    """

    def __init__(self, folder, certificate=None):
        self.folder = Path(folder)
        self.certificate = certificate
        self.port = free_port()
        versions = sorted(Path("/usr/lib/postgresql").iterdir(), key=lambda path: int(path.name))
        assert versions, "PostgreSQL is not installed; see infra/packages"
        self.binaries = versions[-1] / "bin"
        self.process = None

    @property
    def url(self):
        return f"postgres://isthmus@127.0.0.1:{self.port}/isthmus?sslmode=disable"

    def url_over_tls(self, authority, host="localhost"):
        return f"postgres://isthmus@{host}:{self.port}/isthmus?sslmode=verify-full&sslrootcert={authority}"

    def __enter__(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        if os.geteuid() == 0:
            # It refuses to run as root.
            shutil.chown(self.folder, "postgres", "postgres")
        self.run("initdb", "-D", "data", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
        if self.certificate:
            self.speak_tls()
        self.start()
        self.sql("CREATE ROLE isthmus LOGIN")
        self.sql("CREATE DATABASE isthmus OWNER isthmus")
        return self

    def __exit__(self, *_):
        if self.process:
            self.signal_all(signal.SIGCONT)
            self.process.send_signal(signal.SIGQUIT)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def speak_tls(self):
        """It takes no key that others may read."""
        for source, name in [(self.certificate, "server.crt"), (self.certificate.with_suffix(".key"), "server.key")]:
            copy = self.folder / "data" / name
            copy.touch(0o600)
            copy.write_bytes(source.read_bytes())
            shutil.chown(copy, self.folder.owner(), self.folder.group())
        with open(self.folder / "data" / "postgresql.auto.conf", "a") as settings:
            settings.write("ssl = on\n")

    def command(self, program, *arguments):
        command = [str(self.binaries / program), *arguments]
        if os.geteuid() == 0:
            # The kernel ends it with us, whatever becomes of us.
            command = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups", "--pdeathsig", "KILL", "--",
                       *command]
        return command

    def run(self, program, *arguments):
        done = subprocess.run(
            self.command(program, *arguments), cwd=self.folder, env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout.strip()

    def sql(self, statement):
        return self.run(
            "psql", "-h", "127.0.0.1", "-p", str(self.port), "-U", "postgres", "-qtA", "-v", "ON_ERROR_STOP=1", "-c",
            statement)

    def start(self):
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(
                self.command("postgres", "-D", "data", "-k", str(self.folder), "-h", "127.0.0.1", "-p", str(self.port),
                             "-c", "shared_buffers=16MB", "-c", "fsync=off"),
                cwd=self.folder, env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}, stdin=subprocess.DEVNULL,
                stdout=log, stderr=log)
        eventually("PostgreSQL is ready", self.is_ready)

    def is_ready(self):
        assert self.process.poll() is None, (self.folder / "log").read_text()
        state = self.folder / "data" / "postmaster.pid"
        return state.exists() and state.read_text().rstrip().endswith("ready")

    def stop(self):
        """In good order; clients are disconnected."""
        self.process.send_signal(signal.SIGINT)
        self.process.wait(30)

    def kill(self):
        """Everything at once, as when the machine goes."""
        self.signal_all(signal.SIGKILL)
        self.process.wait(10)

    def signal_all(self, number):
        """To the server and to those that serve its clients."""
        parent = self.process.pid
        for process in [parent, *children(parent)]:
            try:
                os.kill(process, number)
            except ProcessLookupError:
                pass  # It has ended meanwhile.
