"""The whole stack, started privately by ./run, and what the tests ask of it."""

import json
import os
import re
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class Answer:
    def __init__(self, status, headers, body):
        self.status = status
        self.headers = headers
        self.body = body

    def json(self):
        return json.loads(self.body)


def request(method, url, body=None, headers=None, timeout=40):
    """An HTTP exchange; every status is an answer, none an exception."""
    if isinstance(body, (dict, list)):
        body = json.dumps(body).encode()
        headers = {"Content-Type": "application/json", **(headers or {})}
    asked = urllib.request.Request(url, data=body, headers=headers or {}, method=method)
    try:
        with urllib.request.urlopen(asked, timeout=timeout) as answer:
            return Answer(answer.status, answer.headers, answer.read())
    except urllib.error.HTTPError as error:
        return Answer(error.code, error.headers, error.read())


def free_port():
    """A port of the loopback address that nobody has just now."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def eventually(what, condition, seconds=60):
    """Waits until the condition gives something true, and returns that."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < deadline, f"not within {seconds} s: {what}"
        time.sleep(0.05)


class Stack:
    """A stack in a folder of its own; settings are what ./run takes from its environment."""

    def __init__(self, folder, **settings):
        self.folder = Path(folder)
        self.environment = {**os.environ, **settings, "ISTHMUS_RUN_DIR": str(self.folder)}

    def run(self, *arguments, timeout=180):
        """./run with these arguments; the finished process, whatever its status."""
        return subprocess.run(
            [str(ROOT / "run"), *arguments], env=self.environment, stdin=subprocess.DEVNULL, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=timeout)

    def start(self):
        # Something may be left of a test run that was killed.
        self.run("--stop")
        shutil.rmtree(self.folder, ignore_errors=True)
        started = self.run("--detach", "--no-build")
        assert started.returncode == 0, started.stdout

    def stop(self):
        stopped = self.run("--stop")
        assert stopped.returncode == 0, stopped.stdout

    def restart(self, service, **settings):
        restarted = self.run("--restart", service, *[f"{name}={value}" for name, value in settings.items()])
        assert restarted.returncode == 0, restarted.stdout

    def settings(self, service):
        lines = (self.folder / "settings" / service).read_text().splitlines()
        return dict(line.split("=", 1) for line in lines)

    def setting(self, service, name):
        """The value of a setting, which may be given as a file."""
        settings = self.settings(service)
        if name in settings:
            return settings[name]
        return Path(settings[name + "_FILE"]).read_text().rstrip("\n")

    def secret_file(self, name):
        return self.folder / "secrets" / name

    def program(self, name):
        """The path of one of our executables, as ./run starts it."""
        return re.search(r'BIN="(.*)"', (self.folder / "stack").read_text())[1] + "/" + name

    def parked(self, *arguments):
        """What isthmus-parked says to these arguments: its status and its answer."""
        done = subprocess.run(
            [self.program("isthmus-parked"), *arguments, "--json"], env={"AMQP_URL": self.broker_url("operator")},
            capture_output=True, text=True, timeout=60)
        assert done.returncode in (0, 1) and done.stdout, done.stderr
        return done.returncode, json.loads(done.stdout)

    def left_running(self):
        """The processes that belong to this folder, by what they were started with."""
        mark = str(self.folder).encode()
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                told = (process / "cmdline").read_bytes() + (process / "environ").read_bytes()
            except OSError:
                # It ended while we looked, or is not ours.
                continue
            if mark in told:
                found.append(process.name)
        return found

    def broker_url(self, user="admin"):
        """The broker's address for one of its users; `admin` may do everything."""
        password = (self.folder / "secrets" / f"broker-{user}").read_text()
        return re.sub(r"//.*@", f"//{user}:{password}@", self.settings("agent")["AMQP_URL"])

    def now(self):
        """What the clocks of the stack say, which a test may have moved."""
        file = self.folder / "clock"
        return time.time() + (float(file.read_text()) if file.exists() else 0)

    @property
    def simulator_url(self):
        return (self.folder / "url").read_text().strip()

    @property
    def webhook_url(self):
        return self.settings("simulator")["SIMULATOR_INGRESS_URL"]

    @property
    def linq_url(self):
        return self.settings("linq-sender")["LINQ_API_URL"]

    def control(self, method, path, body=None):
        return request(method, f"{self.simulator_url}/control/{path}", body)

    def advance(self, seconds):
        """Lets time pass at a stroke, for all services and phones: their clocks are ahead from then on."""
        moved = self.control("POST", "clock", {"advanceSeconds": seconds})
        assert moved.status == 200, moved.body

    def text(self, handle, text, **more):
        """Somebody writes; returns the ids of event, message and chat."""
        answer = self.control("POST", "texts", {"from": handle, "text": text, **more})
        assert answer.status == 202, answer.body
        return answer.json()

    def state(self, handle):
        answer = self.control("GET", "state?user=" + urllib.request.quote(handle))
        assert answer.status == 200, answer.body
        return answer.json()

    def thread(self, handle):
        return [message for chat in self.state(handle)["chats"] for message in chat["messages"]]

    def island(self, handle):
        """The content state on the person's phone, or None."""
        for phone in self.state(handle)["phones"]:
            if phone.get("island"):
                return phone["island"]["contentState"]
        return None

    def metrics(self, service):
        """The service's figures by name and labels, as they stand in the text."""
        answer = request("GET", f"http://{self.settings(service)['METRICS_LISTEN']}/metrics")
        assert answer.status == 200
        figures = {}
        for line in answer.body.decode().splitlines():
            if line and not line.startswith("#"):
                name, value = line.rsplit(" ", 1)
                figures[name] = float(value)
        return figures

    def metric(self, service, prefix):
        """The sum over all labels."""
        return sum(value for name, value in self.metrics(service).items() if name == prefix or name.startswith(prefix + "{"))


@contextmanager
def running_stack(name, **settings):
    """Everything of ./run, in the folder .test/NAME of its own; stopped whatever happens.

    What a folder of tests shares is a fixture of it: `with running_stack("end-to-end") as stack: yield stack`.
    """
    stack = Stack(ROOT / ".test" / name, **settings)
    try:
        stack.start()
        yield stack
    finally:
        stack.stop()
