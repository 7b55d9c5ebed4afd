"""docker-compose.yml on a Docker engine, and what the tests ask of it."""

import json
import os
import re
import socket
import subprocess
import time
import urllib.request
from urllib.parse import quote

from stack import ROOT, request

SERVICES = ("ingress", "agent", "linq-sender", "apns-pusher", "token-registry")
# Built here; all others come from a registry, unless the engine has them.
OURS = (*SERVICES, "simulator")
TOOLS = ("isthmus-parked",)


def docker(*arguments, status=0, timeout=600):
    """What a docker command prints."""
    done = subprocess.run(
        ["docker", *arguments], cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout,
        env={**os.environ, "DOCKER_BUILDKIT": "1"})
    assert status is None or done.returncode == status, f"docker {arguments}: {done.stdout}{done.stderr}"
    return done.stdout + (done.stderr if status != 0 else "")


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]


class Composition:
    """Speaks to the simulator as a stack of ./run does, so that the fault tests' load can be run through it."""

    def __init__(self, folder):
        self.folder = folder
        self.project = f"isthmus-test-{os.getpid()}"
        self.ports = {name: free_port() for name in ("INGRESS_PORT", "REGISTRY_PORT", "SIMULATOR_PORT")}
        self.without = []

    # ---- its life

    def start(self):
        made = subprocess.run(
            [ROOT / "infra/docker/make-secrets", "--simulator"], capture_output=True, text=True, timeout=120,
            env={**os.environ, "ISTHMUS_SECRETS": str(self.folder / "secrets"), "ISTHMUS_ENV": str(self.env_file)})
        assert made.returncode == 0, made.stdout + made.stderr
        with self.env_file.open("a") as file:
            file.write(f"ISTHMUS_SECRETS={self.folder}/secrets\n")
            file.writelines(f"{name}={port}\n" for name, port in self.ports.items())
        self.build()
        self.config = json.loads(self.compose("config", "--format", "json"))
        for name, service in self.config["services"].items():
            if name not in OURS and docker("image", "inspect", service["image"], status=None).startswith("[]"):
                pulled = docker("pull", service["image"], status=None)
                if docker("image", "inspect", service["image"], status=None).startswith("[]"):
                    # Grafana shows figures and carries nothing: without it all else can be tried.
                    assert name == "grafana", f"no image for {name}: {pulled}"
                    self.without.append(name)
        self.up()

    @property
    def env_file(self):
        return self.folder / "env"

    def build(self):
        """One after the other: they share one compilation, and a builder that makes them at once needs more memory."""
        for name in (*OURS, *TOOLS):
            docker("build", "--target", name, "--tag", f"isthmus/{name}:latest", "--file", "infra/docker/Dockerfile",
                   ".", timeout=3600)

    def compose(self, *arguments, status=0, timeout=600):
        return docker("compose", "--project-name", self.project, "--env-file", str(self.env_file), "--profile",
                      "simulator", *arguments, status=status, timeout=timeout)

    def up(self, *options):
        names = [name for name in self.config["services"] if name not in self.without]
        self.compose("up", "--detach", "--no-build", "--wait", "--wait-timeout", "400", *options, *names)

    def remove(self):
        self.compose("down", "--volumes", "--timeout", "20", status=None)

    # ---- its containers

    def containers(self, service):
        """What the engine knows of each running replica."""
        ids = self.compose("ps", "--quiet", service).split()
        return json.loads(docker("inspect", *ids)) if ids else []

    def run(self, service, *command, status=0):
        return self.compose("exec", "--no-TTY", service, *command, status=status)

    def parked(self, *command, status=0):
        """What isthmus-parked answers; a container of its own, gone afterwards."""
        told = self.compose("run", "--rm", "--no-deps", "--no-TTY", "isthmus-parked", *command, "--json", status=status)
        return json.loads(told)

    def address(self, container, network="metrics"):
        return container["NetworkSettings"]["Networks"][f"{self.project}_{network}"]["IPAddress"]

    def metric(self, container, name):
        told = request("GET", f"http://{self.address(container)}:9100/metrics").body.decode()
        return sum(float(value) for value in re.findall(rf"^{name}(?:{{.*}})? (\S+)$", told, re.MULTILINE))

    def partitions(self, service):
        """How many partitions each replica works, in ascending order."""
        return sorted(int(self.metric(one, "isthmus_stage_partitions")) for one in self.containers(service))

    # ---- the simulator

    @staticmethod
    def now():
        """What the clocks of the containers say: nobody moves them."""
        return time.time()

    def page(self, handle):
        """What an open page is told of somebody and of the queues, by the name of the event."""
        told = {}
        with urllib.request.urlopen(f"{self.simulator_url}/events?user=" + quote(handle), timeout=30) as events:
            for line in events:
                if line.startswith(b"event: "):
                    name = line[7:].decode().strip()
                elif line.startswith(b"data: ") and name not in told:
                    told[name] = json.loads(line[6:])
                    if {"state", "queues"} <= set(told) and told["queues"] is not None:
                        return told
        raise AssertionError(f"the page was told of {sorted(told)} only")

    @property
    def simulator_url(self):
        return f"http://127.0.0.1:{self.ports['SIMULATOR_PORT']}"

    def control(self, method, path, body=None):
        return request(method, f"{self.simulator_url}/control/{path}", body)

    def state(self, handle):
        answer = self.control("GET", "state?user=" + handle.replace("+", "%2B"))
        assert answer.status == 200, answer.body
        return answer.json()

    def say(self, handle, text):
        said = self.control("POST", "say", {"from": handle, "text": text})
        assert said.status == 200, said.body
        return said.json()


def evenly(count, replicas):
    """How `count` partitions fall to so many replicas, in ascending order."""
    return sorted(count // replicas + (number < count % replicas) for number in range(replicas))
