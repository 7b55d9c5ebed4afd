"""What somebody who runs it relies on."""

import re
import socket
import subprocess

import pytest

from stack import eventually, request
from test_loop import say

SERVICES = ("ingress", "agent", "linq-sender", "apns-pusher", "token-registry")


@pytest.mark.parametrize("service", SERVICES)
def test_help_lists_every_setting_with_its_default(stack, service):
    told = subprocess.run([stack.program(service), "--help"], env={}, capture_output=True, text=True, timeout=60)
    assert told.returncode == 0
    names = re.findall(r"^  ([A-Z][A-Z0-9_]+) ", told.stdout, re.MULTILINE)
    assert {"AMQP_URL", "AMQP_CA_FILE", "PARTITIONS", "METRICS_LISTEN", "LOG_LEVEL"} <= set(names)
    assert "required" in told.stdout and "default: info" in told.stdout


@pytest.mark.parametrize("service", SERVICES)
def test_missing_settings_stop_the_start_and_are_all_named(stack, service):
    started = subprocess.run(
        [stack.program(service)], env={"PARTITIONS": "many"}, capture_output=True, text=True, timeout=60)
    assert started.returncode == 1
    for name in ("AMQP_URL", "PARTITIONS"):
        assert name in started.stderr
    assert "many" not in started.stderr


@pytest.mark.parametrize("service", SERVICES)
def test_check_finds_nothing_wrong_and_says_what_is(stack, service):
    settings = {**stack.settings(service), "METRICS_LISTEN": "127.0.0.1:0", "HTTP_LISTEN": "127.0.0.1:0"}
    good = subprocess.run(
        [stack.program(service), "--check"], env=settings, capture_output=True, text=True, timeout=60)
    assert good.returncode == 0, good.stdout
    wrong = {**settings, "AMQP_URL": "amqp://nobody:wrong@127.0.0.1:1/"}
    bad = subprocess.run(
        [stack.program(service), "--check"], env=wrong, capture_output=True, text=True, timeout=60)
    assert bad.returncode == 1
    assert "RabbitMQ" in bad.stdout and "wrong" not in bad.stdout


@pytest.mark.parametrize("service", SERVICES)
def test_every_service_is_alive_ready_and_counted(stack, service):
    address = stack.settings(service)["METRICS_LISTEN"]
    assert request("GET", f"http://{address}/healthz").status == 200
    assert request("GET", f"http://{address}/readyz").status == 200
    assert any(name.startswith("isthmus_") for name in stack.metrics(service))


def health(stack, service, **changed):
    """The status and the words of SERVICE --health, which is what its container is checked by."""
    told = subprocess.run(
        [stack.program(service), "--health"], env={**stack.settings(service), **changed}, capture_output=True, text=True,
        timeout=60)
    return told.returncode, told.stdout


@pytest.mark.parametrize("service", [*SERVICES, "simulator"])
def test_health_is_what_the_running_one_says(stack, service):
    address = "SIMULATOR_LISTEN" if service == "simulator" else "METRICS_LISTEN"
    assert health(stack, service) == (0, f"{service}: alive\n")
    # Also where it listens on all addresses, as in a container.
    port = stack.settings(service)[address].split(":")[1]
    assert health(stack, service, **{address: f"0.0.0.0:{port}"})[0] == 0
    with socket.create_server(("127.0.0.1", 0)) as taken:
        free = taken.getsockname()[1]
    status, words = health(stack, service, **{address: f"127.0.0.1:{free}"})
    assert status == 1 and f"nobody answers at 127.0.0.1:{free}" in words
    assert health(stack, service, **{address: "127.0.0.1:0"})[0] == 1


def test_health_does_not_take_any_answer_for_a_good_one(stack):
    # The other listener answers, too: 404.
    other = stack.settings("ingress")["HTTP_LISTEN"]
    status, words = health(stack, "ingress", METRICS_LISTEN=other)
    assert status == 1 and "answers HTTP/1.1 404" in words
    with socket.create_server(("127.0.0.1", 0)) as silent:
        status, words = health(stack, "ingress", METRICS_LISTEN=f"127.0.0.1:{silent.getsockname()[1]}")
    assert status == 1 and "does not answer" in words


def test_a_text_is_timed_from_webhook_to_reply_and_to_push(stack, handle):
    before = (stack.metric("linq-sender", "isthmus_webhook_to_reply_seconds_count"),
              stack.metric("apns-pusher", "isthmus_webhook_to_push_seconds_count"))
    say(stack, handle, "600 cal")
    eventually("both are counted", lambda: (
        stack.metric("linq-sender", "isthmus_webhook_to_reply_seconds_count") > before[0]
        and stack.metric("apns-pusher", "isthmus_webhook_to_push_seconds_count") > before[1]))


def test_neither_a_handle_nor_a_token_nor_a_secret_is_in_a_log_or_a_metric(stack, handle):
    say(stack, handle, "a canary of 600 cal")
    secrets = [stack.secret_file(name).read_text().strip() for name in (
        "webhook-secret", "linq-token", "backend-key", "hash-key")]
    canaries = [handle, handle[1:], "a canary of", *secrets]
    for service in SERVICES:
        log = (stack.folder / "logs" / f"{service}.log").read_text()
        metrics = str(stack.metrics(service))
        for canary in canaries:
            assert canary not in log, f"{service}: log"
            assert canary not in metrics, f"{service}: metrics"


@pytest.mark.parametrize("service", ["agent", "linq-sender", "apns-pusher", "ingress", "token-registry"])
def test_a_service_that_is_restarted_goes_on_where_it_was(stack, someone, service):
    stack.restart(service)
    assert say(stack, someone, "50 cal")["island"]["contentState"]["calories"] == 650
