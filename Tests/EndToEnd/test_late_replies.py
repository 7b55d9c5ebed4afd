"""Replies whose time is over: one that was never tried is sent late, one that Linq did not take is parked."""

import os
import signal

import pytest

from stack import eventually
from test_loop import replies

LATE = 20 * 60


@pytest.fixture
def no_faults(stack):
    yield
    stack.control("DELETE", "faults")


def test_a_reply_that_nobody_has_tried_yet_is_sent_however_late(stack, handle):
    process = int((stack.folder / "pids" / "linq-sender").read_text().split()[0])
    os.kill(process, signal.SIGSTOP)
    try:
        stack.text(handle, "apple, 90 cal")
        eventually("the Island has it", lambda: (stack.island(handle) or {}).get("calories") == 90)
        stack.advance(LATE)
    finally:
        os.kill(process, signal.SIGCONT)
    eventually("the reply", lambda: len(replies(stack, handle)) == 1)


def test_a_reply_that_linq_does_not_take_in_time_is_parked(stack, handle, no_faults):
    def parked():
        found = stack.parked("list", "--stage", "replies", "--reason", "expired before it was accepted")
        return [one["id"] for one in found[1]["messages"] if one["id"] not in others]

    others = []
    others = parked()
    tried = stack.metric("linq-sender", "isthmus_linq_requests_total")
    assert stack.control("POST", "faults", {"linq": "error", "count": 1_000_000}).status == 200
    stack.text(handle, "apple, 90 cal")
    eventually("it was tried", lambda: stack.metric("linq-sender", "isthmus_linq_requests_total") > tried)
    stack.advance(LATE)
    late = eventually("it is parked", parked, 60)[0]
    stack.control("DELETE", "faults")
    # Put back by a person, it has its time once more.
    assert stack.parked("replay", "--id", late)[0] == 0
    eventually("the reply", lambda: len(replies(stack, handle)) == 1, 60)
    assert parked() == []
