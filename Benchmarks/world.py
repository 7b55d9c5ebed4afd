"""The stack that is measured: the five services of a release build, a broker, Redis, and nginx at the far ends."""

import base64
import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "Tests" / "Interop"))

from sinks import LINQ_ANSWER, Sink  # noqa: E402
from stack import Stack, free_port, request  # noqa: E402, F401

SERVICES = ["ingress", "agent", "linq-sender", "apns-pusher", "token-registry"]
# Linq takes 30 messages a minute between a line and a person, and more are slowed down.
MOST_TEXTS_A_USER = 29


class World:
    def __init__(self, stack, linq, apns):
        self.stack, self.linq, self.apns = stack, linq, apns
        self.secrets = stack.folder / "secrets"
        self.next_user = 0

    def load(self, command, *options):
        """Runs `Load COMMAND`, whose options are names and values; its figures."""
        done = subprocess.run(
            [ROOT / ".build/release/Load", command, *map(str, options)], capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(done.stderr)
        return json.loads(done.stdout)

    # What the commands want to know.

    @property
    def broker(self):
        return ["--url", self.stack.broker_url(), "--partitions", self.stack.settings("agent")["PARTITIONS"]]

    def publish(self, stage, count, size=700, window=1024):
        """The broker's own rate for messages of one size; what was published is gone afterwards."""
        with self.stopped(*SERVICES):
            figures = self.load("publish", *self.broker, "--stage", stage, "--count", count, "--size", size,
                                "--window", window)
            self.purge(stage)
        return figures["rate"]

    def fill(self, stage, count, users, first=0):
        return self.load("fill", *self.broker, "--stage", stage, "--count", count, "--users", users,
                         "--first-user", first)

    def users(self, count):
        """The number of the first of so many users whom nobody has written as yet."""
        first = self.next_user
        self.next_user += count
        return first

    def register(self, first, count, sessions=False):
        url = "http://" + self.stack.settings("token-registry")["HTTP_LISTEN"]
        return self.load("register", "--url", url, "--key-file", self.secrets / "backend-key", "--users", count,
                         "--first-user", first, *(["--sessions", "yes"] if sessions else []))

    def webhooks(self, first, users, count, connections=64, rate=None, sent_at=None):
        return self.load("webhooks", "--url", self.stack.webhook_url, "--secret-file", self.secrets / "webhook-secret",
                         "--first-user", first, "--users", users, "--count", count, "--connections", connections,
                         *(["--rate", rate] if rate else []), *(["--sent-at", sent_at] if sent_at else []))

    # The processes.

    def pid(self, name):
        pid = int((self.stack.folder / "pids" / name).read_text().split()[0])
        if name == "rabbitmq":
            # Its script stays in front of it.
            children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
            return int(children[0]) if children else pid
        return pid

    def cpu(self, name):
        """Seconds of a processor that the process has had."""
        fields = Path(f"/proc/{self.pid(name)}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def resident(self, name):
        """Megabytes."""
        for line in Path(f"/proc/{self.pid(name)}/status").read_text().splitlines():
            if line.startswith("VmRSS"):
                return int(line.split()[1]) / 1024

    @contextmanager
    def stopped(self, *names):
        """Keeps these from running; the broker keeps what comes for them."""
        pids = [self.pid(name) for name in names]
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            for pid in pids:
                os.kill(pid, signal.SIGCONT)

    # The queues.

    def queues(self, stage):
        """The management API's queues of a stage."""
        port = re.search(r'\[management\]="(\d+)"', (self.stack.folder / "stack").read_text())[1]
        self.queues_url = f"http://127.0.0.1:{port}/api/queues/%2F"
        credentials = "admin:" + (self.secrets / "broker-admin").read_text()
        self.as_admin = {"Authorization": "Basic " + base64.b64encode(credentials.encode()).decode()}
        found = request("GET", self.queues_url, headers=self.as_admin).json()
        return [queue for queue in found if queue["name"].startswith(f"{stage}.v1.")]

    def depth(self, stage):
        """How many messages are in the stage's queues or on their way to its worker; a second old at the most."""
        return sum(queue.get("messages", 0) for queue in self.queues(stage))

    def purge(self, stage):
        for queue in self.queues(stage):
            request("DELETE", f"{self.queues_url}/{queue['name']}/contents", headers=self.as_admin)

    def replies(self):
        return self.stack.metric("linq-sender", "isthmus_replies_accepted_total")

    def await_quiet(self, seconds=60):
        """Until nothing is left to do."""
        def left():
            stages = ("inbound", "replies", "islands", "registry")
            return {stage: depth for stage in stages if (depth := self.depth(stage))}

        def is_quiet():
            if left():
                return False
            # What the broker says is up to a second old, and what one stage has done may be the next one's work.
            time.sleep(1.5)
            return not left()

        until(is_quiet, seconds, pause=0.2, what=lambda: f"still in the queues: {left()}")


@contextmanager
def running_world(name="bench", times=False, **settings):
    with ExitStack() as exits:
        # Load is what is looked at, and neither a page, a trace nor a clock that a test may move.
        stack = Stack(ROOT / ".bench" / name, ISTHMUS_CONFIGURATION="release", OTEL_TRACES_SAMPLER="always_off",
                      CLOCK_FILE="", **settings)
        exits.callback(stack.stop)
        stack.start()
        linq = exits.enter_context(Sink(stack.folder / "linq", answer=f"202 '{LINQ_ANSWER}'", times=times))
        apns = exits.enter_context(Sink(stack.folder / "apns", secrets=stack.folder / "secrets", times=times))
        stack.restart("apns-pusher", APNS_URL=f"https://localhost:{apns.port}")
        stack.restart("linq-sender", LINQ_API_URL=f"http://127.0.0.1:{linq.port}")
        yield World(stack, linq, apns)


def until(condition, seconds=120, pause=0.1, what=lambda: "that took too long"):
    """Waits for it, and returns the seconds that it took; `what` says what did not come true."""
    start = time.monotonic()
    while not condition():
        if time.monotonic() - start > seconds:
            raise SystemExit(f"after {seconds} s: {what()}")
        time.sleep(pause)
    return time.monotonic() - start
