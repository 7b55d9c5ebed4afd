"""One slow part stops nothing but what needs it, and ingress says so at once when it can take no more."""

import http.client
import itertools
import os
import select
import signal
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
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


# What ingress has in hand at once, and how many connections an address may have.
MOST_AT_ONCE = 256
MOST_OF_ONE_ADDRESS = 64


class Webhook:
    """A genuine webhook of which the headers come first, and the body when it is told to."""

    def __init__(self, stack, handle, address):
        self.connection = http.client.HTTPConnection(
            stack.settings("ingress")["HTTP_LISTEN"], source_address=(address, 0), timeout=30)
        # In a group that does not speak to the line nobody is replied to.
        self.body = received(handle, "snack, 10 cal", is_group=True)
        self.headers = {**sign(stack.setting("ingress", "LINQ_WEBHOOK_SECRETS"), self.body, at=stack.now()),
                        "Content-Length": str(len(self.body))}

    def begin(self):
        self.connection.putrequest("POST", "/webhooks/linq?version=2026-02-03")
        for name, value in self.headers.items():
            self.connection.putheader(name, value)
        self.connection.endheaders()

    def finish(self):
        self.connection.send(self.body)

    def fileno(self):
        return self.connection.sock.fileno()

    def answer(self):
        answer = self.connection.getresponse()
        answer.read()
        return answer


def answered(webhooks):
    """Those that have got an answer."""
    poll = select.poll()
    for webhook in webhooks:
        poll.register(webhook, select.POLLIN)
    told = {number for number, _ in poll.poll(0)}
    return [webhook for webhook in webhooks if webhook.fileno() in told]


def test_of_three_times_what_ingress_takes_at_once_it_takes_that_and_says_503_to_the_rest(stack, handle):
    before = stack.metric("ingress", "isthmus_ingress_events_total")
    addresses = (f"127.0.0.{number}" for number in itertools.count(2) for _ in range(MOST_OF_ONE_ADDRESS))
    with ExitStack() as open_connections:
        left = [Webhook(stack, handle, next(addresses)) for _ in range(3 * MOST_AT_ONCE)]
        for webhook in left:
            open_connections.enter_context(closing(webhook.connection))
        # Those that were refused come again, as Linq does it.
        for refusals in (2 * MOST_AT_ONCE, MOST_AT_ONCE, 0):
            for webhook in left:
                webhook.begin()
            eventually("the rest is refused", lambda: len(answered(left)) == refusals)
            refused = answered(left)
            for webhook in refused:
                answer = webhook.answer()
                assert answer.status == 503 and answer.headers["Retry-After"]
            taken = [webhook for webhook in left if webhook not in refused]
            for webhook in taken:
                webhook.finish()
            assert {webhook.answer().status for webhook in taken} == {200}
            left = refused
    assert stack.metric("ingress", "isthmus_ingress_events_total") - before == 3 * MOST_AT_ONCE
