"""Ways to break parts of a stack that ./run watches over: what ends is started again by it."""

import os
import re
import signal
import socket
import subprocess
import time
from urllib.parse import urlsplit

from broker import rabbitmqctl
from stack import eventually, free_port, request


def pid(stack, name):
    """The process id, or None while it is between two lives."""
    try:
        found = int((stack.folder / "pids" / name).read_text().split()[0])
        os.kill(found, 0)
        return found
    except (FileNotFoundError, ProcessLookupError, IndexError):
        return None


def send_signal(stack, name, number):
    """Sends it to the process and its children, once it runs."""

    def is_sent():
        found = pid(stack, name)
        if found is None:
            return False
        try:
            os.killpg(found, number)
        except ProcessLookupError:
            return False  # It has ended meanwhile, or does not lead its group yet.
        return True

    eventually(f"{name} runs", is_sent)


def kill(stack, name):
    send_signal(stack, name, signal.SIGKILL)


def await_ready(stack, *names):
    def all_ready():
        told = stack.run("--status").stdout
        return all(re.search(rf"^{name} +ready ", told, re.MULTILINE) for name in names)

    eventually(f"{names} are ready", all_ready, seconds=90)


def is_ready(stack, name):
    return request("GET", f"http://{stack.settings(name)['METRICS_LISTEN']}/readyz").status == 200


def await_in_hand(stack, name, messages):
    """Waits until the stage has taken this many messages from its queues and settled none of them."""

    def has_them():
        try:
            return stack.metric(name, "isthmus_stage_in_flight") == messages
        except OSError:
            return False  # It is between two lives.

    eventually(f"{name} has {messages} messages in hand", has_them)


def freeze(stack, name, seconds):
    send_signal(stack, name, signal.SIGSTOP)
    try:
        time.sleep(seconds)
    finally:
        send_signal(stack, name, signal.SIGCONT)


def redis(stack, *words):
    """Sends Redis a command; returns the first line of its answer."""
    url = urlsplit(stack.setting("agent", "REDIS_URL"))
    with socket.create_connection((url.hostname, url.port), timeout=30) as connection:
        connection.sendall(f"AUTH {url.password}\r\n{' '.join(words)}\r\n".encode())
        answers = connection.makefile("rb")
        assert answers.readline() == b"+OK\r\n"
        return answers.readline().decode().strip()


def parked(stack):
    """Messages that were parked, by stage."""
    lines = rabbitmqctl(stack, "-q", "list_queues", "--no-table-headers", "name", "messages").splitlines()
    counts = dict(line.split("\t") for line in lines if "\t" in line)
    return {name: int(count) for name, count in counts.items() if name.startswith("parked") and int(count)}


class Replica:
    """One more process of a service, beside the one that ./run has started; with other settings if you like."""

    def __init__(self, stack, service, **settings):
        self.log = open(stack.folder / "logs" / f"{service}.replica.log", "ab")
        self.address = f"127.0.0.1:{free_port()}"
        settings = {**stack.settings(service), **settings, "METRICS_LISTEN": self.address}
        self.process = subprocess.Popen(
            [stack.program(service)], env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8", **settings},
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, start_new_session=True)

    def __enter__(self):
        return self

    def partitions(self):
        """How many it works by its own figures."""
        try:
            told = request("GET", f"http://{self.address}/metrics").body.decode()
        except OSError:
            return 0  # It does not listen yet.
        return sum(float(line.rsplit(" ", 1)[1]) for line in told.splitlines()
                   if line.startswith("isthmus_stage_partitions{"))

    def kill(self):
        self.process.kill()
        self.process.wait()

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.kill()
        self.log.close()
