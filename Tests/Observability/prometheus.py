"""A real Prometheus with the project's own configuration, pointed at a stack's loopback ports."""

import re
import shutil
import socket
import subprocess
from urllib.parse import urlencode

import yaml

from stack import ROOT, request

FOLDER = ROOT / "infra" / "prometheus"
SERVICES = ("ingress", "agent", "linq-sender", "apns-pusher", "token-registry")
# A name, and what may stand behind it in braces: a selector of one metric.
SELECTOR = re.compile(r'\b((?:isthmus|rabbitmq|stage:|job:|isthmus:)[a-z0-9_:]+)(\{[^}]*\})?')


def rules():
    """Every rule of infra/prometheus/rules."""
    return [
        rule for path in sorted((FOLDER / "rules").glob("*.yml"))
        for group in yaml.safe_load(path.read_text())["groups"] for rule in group["rules"]]


def selectors(expression):
    """Every metric that an expression asks for, with its labels."""
    # A label in "by (…)" is no metric, and neither is a text.
    return {name + (labels or "") for name, labels in SELECTOR.findall(expression)}


def broker_port(stack):
    return int(re.search(r'\[broker-metrics\]="(\d+)"', (stack.folder / "stack").read_text())[1])


class Prometheus:
    def __init__(self, folder, stack):
        self.folder = folder
        self._targets = {
            name: stack.settings(name)["METRICS_LISTEN"] for name in SERVICES
        } | {"rabbitmq": f"127.0.0.1:{broker_port(stack)}"}
        self._process = None

    def start(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        config = yaml.safe_load((FOLDER / "prometheus.yml").read_text())
        config["global"] = {"scrape_interval": "1s", "evaluation_interval": "1s"}
        config["rule_files"] = [str(FOLDER / "rules" / "*.yml")]
        for job in config["scrape_configs"]:
            # The addresses alone are other ones here.
            (where,) = job.pop("dns_sd_configs")
            job["static_configs"] = [{"targets": [self._targets[where["names"][0]]]}]
        (self.folder / "prometheus.yml").write_text(yaml.safe_dump(config))
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            address = f"127.0.0.1:{free.getsockname()[1]}"
        self.url = f"http://{address}"
        with (self.folder / "log").open("w") as log:
            self._process = subprocess.Popen(
                ["/usr/bin/prometheus", f"--config.file={self.folder}/prometheus.yml", f"--web.listen-address={address}",
                 f"--storage.tsdb.path={self.folder}/data"], stdout=log, stderr=subprocess.STDOUT)

    def stop(self):
        self._process.terminate()
        self._process.wait(timeout=30)

    def get(self, path, **parameters):
        return request("GET", f"{self.url}/api/v1/{path}?{urlencode(parameters)}")

    def query(self, expression):
        answer = self.get("query", query=expression)
        assert answer.status == 200, f"{expression}: {answer.body}"
        return answer.json()["data"]["result"]

    def is_scraping(self):
        """Whether each job has been scraped at least three times."""
        try:
            if request("GET", f"{self.url}/-/ready").status != 200:
                return False
        except OSError:
            return False
        return len(self.query("count_over_time(up[1m]) >= 3 and up == 1")) == len(SERVICES) + 2
