"""TLS to RabbitMQ and PostgreSQL: a text goes through over it, and a service that is shown a wrong certificate is never
ready and names what is wrong."""

import json
import re
import subprocess

import pytest

import certificates
from broker import listen_with_tls, rabbitmqctl
from postgresql import PostgreSQL
from stack import ROOT, eventually, free_port, request, running_stack

SERVICES = ["ingress", "agent", "linq-sender", "apns-pusher", "token-registry"]
WITH_DATABASE = ["agent", "token-registry"]


@pytest.fixture(scope="module")
def folder():
    folder = ROOT / ".test" / "interop-certificates"
    certificates.write(folder)
    return folder


@pytest.fixture(scope="module")
def postgresql(folder):
    with PostgreSQL(ROOT / ".test" / "interop-postgresql-tls", folder / "localhost.pem") as server:
        yield server


@pytest.fixture(scope="module")
def stack(folder, postgresql):
    """Everything, with its databases over TLS from the first start on."""
    with running_stack("interop-tls", ISTHMUS_DATABASE_URL=postgresql.url_over_tls(folder / "ca.pem")) as stack:
        yield stack


@pytest.fixture(scope="module")
def ports(stack, folder):
    """The broker's ports with TLS, by the host of the certificate that each one shows."""
    return {host: listen_with_tls(stack, folder / f"{host}.pem", folder / "ca.pem")
            for host in ("localhost", "elsewhere.example")}


def broker_url(stack, service, port):
    return re.sub(r"^amqp:(.*)@.*", rf"amqps:\1@localhost:{port}/", stack.settings(service)["AMQP_URL"])


class Started:
    """One more process of the service, with other settings."""

    def __init__(self, stack, service, **settings):
        self.address = f"127.0.0.1:{free_port()}"
        self.process = subprocess.Popen(
            [stack.program(service)], text=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, env={
                **stack.settings(service), "METRICS_LISTEN": self.address, "HTTP_LISTEN": "127.0.0.1:0", **settings})

    def why_not_ready(self):
        """What it says while it is not ready, once it says anything; None before."""
        try:
            answer = request("GET", f"http://{self.address}/readyz")
        except OSError:
            return None  # It does not listen yet.
        assert answer.status == 503
        return answer.body.decode()

    def end(self):
        """Stops it; returns what it has written."""
        self.process.kill()
        return self.process.communicate(timeout=20)[1]


def errors(log):
    return " ".join(json.loads(line).get("error", "") for line in log.splitlines() if line.startswith("{"))


def test_a_text_goes_through_over_tls(stack, folder, ports, postgresql, handle):
    before = {service: stack.setting(service, "AMQP_URL") for service in SERVICES}
    for service in SERVICES:
        stack.restart(
            service, AMQP_URL=broker_url(stack, service, ports["localhost"]), AMQP_CA_FILE=str(folder / "ca.pem"))
    try:
        said = stack.control("POST", "say", {"from": handle, "text": "chicken bowl, 600 cal"}).json()
        assert "600" in said["reply"] and said["island"]["contentState"]["calories"] == 600
        told = rabbitmqctl(stack, "-q", "list_connections", "--no-table-headers", "user", "ssl").split("\n")
        seen = {tuple(line.split("\t")) for line in told if line}
        assert seen >= {(service, "true") for service in SERVICES} and all(over_tls == "true" for _, over_tls in seen)
    finally:
        for service, url in before.items():
            stack.restart(service, AMQP_URL=url)
    unsafe = postgresql.sql(
        "SELECT count(*) FILTER (WHERE ssl), count(*) FILTER (WHERE NOT ssl) FROM pg_stat_ssl "
        "JOIN pg_stat_activity USING (pid) WHERE usename = 'isthmus'").split("|")
    assert int(unsafe[0]) > 0 and int(unsafe[1]) == 0


@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize("host, authority, words", [
    ("localhost", "other-ca.pem", "peer cert verification failed"),
    ("elsewhere.example", "ca.pem", "hostname"),
    ("localhost", "not-there.pem", "not-there.pem"),
])
def test_a_broker_with_a_wrong_certificate_is_not_spoken_to(stack, folder, ports, service, host, authority, words):
    started = Started(
        stack, service, AMQP_URL=broker_url(stack, service, ports[host]), AMQP_CA_FILE=str(folder / authority))
    try:
        reason = eventually("it says why it is not ready", lambda: (
            found if (found := started.why_not_ready()) and words in found else None))
        assert "localhost" in reason or authority in reason
    finally:
        log = started.end()
    password = re.search(r":([^:@]+)@", stack.settings(service)["AMQP_URL"])[1]
    assert password not in log and password not in reason


@pytest.mark.parametrize("service", WITH_DATABASE)
@pytest.mark.parametrize("host, authority, words", [
    ("localhost", "other-ca.pem", "certificate verify failed"),
    ("127.0.0.1", "ca.pem", "does not match host name"),
    ("localhost", "not-there.pem", "does not exist"),
])
def test_a_wrong_postgresql_stops_the_start(stack, folder, postgresql, service, host, authority, words):
    started = Started(stack, service, DATABASE_URL=postgresql.url_over_tls(folder / authority, host))
    assert started.process.wait(60) == 1
    assert words in errors(started.end())


@pytest.mark.parametrize("service", WITH_DATABASE)
def test_a_postgresql_without_tls_is_not_spoken_to_in_the_clear(stack, folder, postgresql, service):
    postgresql.sql("ALTER SYSTEM SET ssl = off")
    postgresql.sql("SELECT pg_reload_conf()")
    try:
        eventually("it speaks TLS no more", lambda: postgresql.sql("SHOW ssl") == "off")
        started = Started(stack, service)
        assert started.process.wait(60) == 1
        assert "server does not support SSL" in errors(started.end())
    finally:
        postgresql.sql("ALTER SYSTEM SET ssl = on")
        postgresql.sql("SELECT pg_reload_conf()")
