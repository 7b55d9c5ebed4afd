"""One slow part stops nothing but what needs it, and ingress says so at once when it can take no more."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from stack import eventually, request
from test_loop import replies
from webhooks import received, sign


@pytest.fixture
def no_faults(stack):
    yield
    stack.control("DELETE", "faults")


def break_all(stack, **fault):
    assert stack.control("POST", "faults", {**fault, "count": 1_000_000}).status == 200


@pytest.mark.parametrize("fault", ["timeout", "unavailable"])
def test_a_linq_that_is_stuck_does_not_stop_the_island(stack, someone, no_faults, fault):
    break_all(stack, linq=fault)
    for calories in (10, 20, 30):
        stack.text(someone, f"apple, {calories} cal")
    eventually("the Island has all three", lambda: stack.island(someone)["calories"] == 660)
    stack.control("DELETE", "faults")
    eventually("the replies, too", lambda: len(replies(stack, someone)) == 4)


@pytest.mark.parametrize("fault", ["hang", "unavailable"])
def test_an_apns_that_is_stuck_does_not_stop_the_replies(stack, someone, no_faults, fault):
    break_all(stack, apns=fault)
    for calories in (10, 20, 30):
        stack.text(someone, f"apple, {calories} cal")
    eventually("all three replies", lambda: len(replies(stack, someone)) == 4)
    stack.control("DELETE", "faults")
    eventually("the Island, too", lambda: stack.island(someone)["calories"] == 660)


def pid(stack, name):
    return int((stack.folder / "pids" / name).read_text().split()[0])


def resident(stack, name):
    status = Path(f"/proc/{pid(stack, name)}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) * 1024


def test_ingress_answers_503_while_the_broker_hangs_and_recovers(stack, handle):
    secret = stack.setting("ingress", "LINQ_WEBHOOK_SECRETS")

    def post(number):
        body = received(handle, f"snack {number}, 10 cal")
        return request("POST", stack.webhook_url, body, sign(secret, body, at=stack.now()), timeout=30)

    assert post(0).status == 200
    before = resident(stack, "ingress")
    os.killpg(pid(stack, "rabbitmq"), signal.SIGSTOP)
    try:
        with ThreadPoolExecutor(32) as pool:
            answers = list(pool.map(post, range(1, 301)))
    finally:
        os.killpg(pid(stack, "rabbitmq"), signal.SIGCONT)
    assert {answer.status for answer in answers} == {503}
    assert all(answer.headers["Retry-After"] for answer in answers)
    # Nothing of them is kept.
    assert resident(stack, "ingress") - before < 50 << 20
    eventually("it takes texts again", lambda: post(301).status == 200)
