"""Two more nodes for the broker of a stack that ./run watches over."""

import os
import subprocess

from broker import RABBITMQCTL, port
from stack import eventually, free_port

FIRST = "isthmus@localhost"


class Node:
    """A further node, with everything that it writes in the stack's folder."""

    def __init__(self, stack, number):
        self.stack, self.name = stack, f"isthmus{number}@localhost"
        self.folder = stack.folder / "data" / f"rabbitmq{number}"
        self.amqp, self.dist = free_port(), free_port()
        self.process = None

    def environment(self):
        # The home of the first one has the cookie that they know each other by.
        return {"PATH": os.environ["PATH"], "LANG": "C.UTF-8",
                "HOME": str(self.stack.folder / "data" / "rabbitmq" / "home"), "ERL_EPMD_ADDRESS": "127.0.0.1",
                "ERL_EPMD_PORT": port(self.stack, "epmd"), "RABBITMQ_CONF_ENV_FILE": "/nonexistent"}

    def start(self):
        self.folder.mkdir(exist_ok=True)
        (self.folder / "rabbitmq.conf").write_text(
            f"listeners.tcp.default = 127.0.0.1:{self.amqp}\ndisk_free_limit.absolute = 200MB\n")
        (self.folder / "enabled_plugins").write_text("[].\n")
        with open(self.stack.folder / "logs" / f"{self.folder.name}.log", "ab") as log:
            self.process = subprocess.Popen(
                ["/usr/lib/rabbitmq/bin/rabbitmq-server"], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env={**self.environment(), "RABBITMQ_NODENAME": self.name, "RABBITMQ_LOGS": "-",
                     "RABBITMQ_MNESIA_BASE": str(self.folder / "mnesia"), "RABBITMQ_LOG_BASE": str(self.folder),
                     "RABBITMQ_CONFIG_FILE": str(self.folder / "rabbitmq"), "RABBITMQ_DIST_PORT": str(self.dist),
                     "RABBITMQ_ENABLED_PLUGINS_FILE": str(self.folder / "enabled_plugins"),
                     # The start script becomes the server, so that a signal reaches it.
                     "RUNNING_UNDER_SYSTEMD": "true",
                     "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "+sbwt none +sbwtdcpu none +sbwtdio none"})
        eventually(f"{self.name} has started", self.has_started, seconds=120)

    def has_started(self):
        assert self.process.poll() is None, f"{self.name} has ended; its log is {self.folder.name}.log"
        return ctl(self.stack, self.name, "await_startup", "--timeout", "20", check=False)[0] == 0

    def ctl(self, *arguments):
        return ctl(self.stack, self.name, *arguments)

    def join(self):
        for words in (["stop_app"], ["join_cluster", FIRST], ["start_app"]):
            self.ctl(*words)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.kill()


def ctl(stack, node, *arguments, tool="rabbitmqctl", check=True):
    done = subprocess.run(
        [RABBITMQCTL.replace("rabbitmqctl", tool), "-n", node, *arguments], stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=120, env=Node(stack, 0).environment())
    assert done.returncode == 0 or not check, done.stdout + done.stderr
    return done.returncode, done.stdout


def grow(stack, nodes):
    """Gives each quorum queue a member on each node."""
    for node in nodes:
        ctl(stack, FIRST, "grow", node.name, "all", tool="rabbitmq-queues")


def await_whole(stack, names):
    """Waits until any one node may go: each queue has all its members, and they have caught up."""

    def is_whole():
        return all(
            ctl(stack, name, "check_if_node_is_quorum_critical", tool="rabbitmq-queues", check=False)[0] == 0
            for name in names)

    eventually("no node is needed for a majority", is_whole, seconds=180)


def addresses(stack, service, nodes):
    """The service's AMQP_URL with all nodes."""
    url = stack.setting(service, "AMQP_URL")
    hosts = ",".join(f"127.0.0.1:{node.amqp}" for node in nodes)
    return url.replace(f"127.0.0.1:{port(stack, 'amqp')}", f"127.0.0.1:{port(stack, 'amqp')},{hosts}")
