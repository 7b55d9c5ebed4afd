"""A service that can do nothing says so."""

import sys
from pathlib import Path

import pytest

from prometheus import SERVICES
from stack import eventually, request

sys.path.append(str(Path(__file__).resolve().parents[1] / "Faults"))

import breaking  # noqa: E402


def ready(stack, service):
    answer = request("GET", f"http://{stack.settings(service)['METRICS_LISTEN']}/readyz")
    return answer.status, answer.json()["reasons"]


def all_are(stack, status):
    return all(ready(stack, service)[0] == status for service in SERVICES)


@pytest.fixture
def blocked_broker(stack):
    breaking.rabbitmqctl(stack, "set_vm_memory_high_watermark", "0.0001")
    yield
    breaking.rabbitmqctl(stack, "set_vm_memory_high_watermark", "0.4")
    eventually("all are ready again", lambda: all_are(stack, 200))


def test_no_service_that_publishes_is_ready_while_the_broker_blocks(stack, handle, blocked_broker):
    # The broker tells a connection when that one publishes; stages say every two seconds that they are there.
    stack.text(handle, "600 cal")
    for service in ("ingress", "agent", "linq-sender", "apns-pusher"):
        status, reasons = eventually(
            f"{service} is not ready", lambda: (lambda told: told if told[0] == 503 else None)(ready(stack, service)))
        assert any("blocked by the broker" in reason for reason in reasons)
        assert stack.metrics(service)['isthmus_amqp_blocked{connection="publish"}'] == 1
        address = stack.settings(service)["METRICS_LISTEN"]
        assert request("GET", f"http://{address}/healthz").status == 200, "it lives all the same"


def test_no_service_is_ready_while_the_broker_is_away(stack):
    assert all_are(stack, 200)
    breaking.kill(stack, "rabbitmq")
    eventually("none is ready", lambda: all_are(stack, 503))
    for service in SERVICES:
        address = stack.settings(service)["METRICS_LISTEN"]
        assert request("GET", f"http://{address}/healthz").status == 200
    breaking.await_ready(stack, "rabbitmq")
    eventually("all are ready again", lambda: all_are(stack, 200))
