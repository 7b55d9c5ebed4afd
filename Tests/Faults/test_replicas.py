"""Replicas that come, go and die: the load stays even, and no two ever work on one user at the same time."""

import threading
import time
from collections import Counter

import pytest

import breaking
from agents import endpoint
from breaking import Replica
from load import Load
from stack import eventually

STAGES = ["agent", "linq-sender", "apns-pusher"]
PARTITIONS = 16
# The promise is ten on a machine with nothing else to do: three signs of life that are missed, and what is in hand.
SECONDS = 30

pytestmark = pytest.mark.usefixtures("nothing_is_parked")


@pytest.mark.parametrize("service", STAGES)
def test_one_to_three_and_back(stack, table, service):
    """Each change is even to one partition, as the replicas' own figures say."""
    moves = []

    def shares(*replicas):
        began = time.monotonic()
        even = {PARTITIONS // len(replicas), -(-PARTITIONS // len(replicas))}
        eventually(
            f"{PARTITIONS} partitions are shared by {len(replicas)}",
            lambda: (owned := [replica() for replica in replicas]) and sum(owned) == PARTITIONS and set(owned) <= even,
            SECONDS)
        moves.append(time.monotonic() - began)

    def first():
        return stack.metric(service, "isthmus_stage_partitions")

    with Load(stack, f"{service}: one to three, one killed, one leaves", texts=760, users=40, rate=50) as load:
        with Replica(stack, service) as second, Replica(stack, service) as third:
            shares(first, second.partitions, third.partitions)
            third.kill()
            shares(first, second.partitions)
        shares(first)
    load.judge(table)
    print(f"{service}: partitions had moved after {', '.join(f'{seconds:.1f}' for seconds in moves)} s")


class Watched:
    """An agent that notices when it is asked about one user twice at once."""

    def __init__(self):
        self.lock = threading.Lock()
        self.asked = Counter()
        self.in_hand = Counter()
        self.overlaps = []

    def answer(self, event, user):
        with self.lock:
            self.in_hand[user] += 1
            if self.in_hand[user] > 1:
                self.overlaps.append(event["text"])
        # Long enough that somebody is in hand whenever a partition moves.
        time.sleep(0.05)
        with self.lock:
            self.in_hand[user] -= 1
            self.asked[event["text"]] += 1
        return 200, f"heard {event['text']}"


def test_no_two_agents_work_on_one_user(stack):
    agent = Watched()
    people = [f"+1888{number:07}" for number in range(24)]
    rounds = 20

    def write():
        for number in range(rounds):
            for handle in people:
                stack.text(handle, f"{number}")
            time.sleep(0.5)

    def answered(handle):
        return [message["text"] for message in stack.thread(handle) if message["direction"] == "outbound"]

    with endpoint(agent.answer) as settings:
        stack.restart("agent", **settings)
        try:
            writer = threading.Thread(target=write)
            writer.start()
            with Replica(stack, "agent"), Replica(stack, "agent") as third:
                time.sleep(4)
                third.kill()
                breaking.send_signal(stack, "agent", 15)
                time.sleep(4)
            writer.join()
            for handle in people:
                eventually("all are answered", lambda: len(answered(handle)) == rounds, 60)
        finally:
            stack.restart("agent", AGENT="coach")
    assert agent.overlaps == []
    for handle in people:
        assert sorted(answered(handle)) == sorted(f"heard {number}" for number in range(rounds))
