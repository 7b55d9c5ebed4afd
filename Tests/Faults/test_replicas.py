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


@pytest.mark.parametrize("service", STAGES)
def test_frozen_one_of_two_wakes_up(stack, table, service):
    """For longer than heartbeats may be missed: what it had in hand is the other's by then."""
    with Load(stack, f"{service}: two, the first frozen for 30 s", texts=1200, users=80, rate=40) as load:
        with Replica(stack, service):
            time.sleep(3)
            breaking.freeze(stack, service, 30)
            time.sleep(4)
    load.judge(table)


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


class Away:
    """An agent of two addresses, one for each replica that asks; it notes who has asked about which text."""

    def __init__(self):
        self.is_away = True
        self.lock = threading.Lock()
        self.asked = []
        self.answered = []

    def answers_to(self, replica):
        def answer(event, user):
            if "text" not in event:
                return 200, None  # Somebody's session from an earlier test ends.
            with self.lock:
                self.asked.append((replica, user))
                if self.is_away:
                    return 503, None
                self.answered.append((replica, user, event["text"]))
            return 200, f"heard {event['text']}"

        return answer


def test_lanes_move_with_their_partition(stack):
    """Who waits for an agent that is away is worked by whoever has the partition then: a replica that came, and once
    that is killed, the one that was there before."""
    agent = Away()
    people = [f"+1777{number:07}" for number in range(32)]

    def everybody_writes(text):
        for handle in people:
            stack.text(handle, text)

    def everybody_has(*texts):
        def have():
            return all(
                [message["text"] for message in stack.thread(handle) if message["direction"] == "outbound"]
                == [f"heard {text}" for text in texts] for handle in people)

        eventually(f"everybody has the answers to {texts}", have, 90)

    def all_wait():
        eventually("all lanes wait", lambda: stack.metric("agent", "isthmus_agent_deferred_lanes") == len(people), 90)

    def who_answered(text):
        return {handle: replica for replica, handle, answered in agent.answered if answered == text}

    with endpoint(agent.answers_to("first")) as first, endpoint(agent.answers_to("second")) as second:
        stack.restart("agent", AGENT_TIMEOUT="5s", **first)
        try:
            everybody_writes("one")
            all_wait()
            with Replica(stack, "agent", **second) as replica:
                eventually("half of the partitions are the other's", lambda: replica.partitions() == 8, SECONDS)
                # It asks in vain, too, and the lanes go on waiting.
                stack.advance(300)
                eventually("the other has asked", lambda: "second" in {asker for asker, _ in agent.asked}, 60)
                everybody_writes("two")
                agent.is_away = False
                stack.advance(300)
                everybody_has("one", "two")
                assert set(who_answered("one").values()) == {"first", "second"}
                agent.is_away = True
                everybody_writes("three")
                all_wait()
                replica.kill()
                taken_over = [handle for handle, by in who_answered("two").items() if by == "second"]
                agent.is_away = False
                eventually("its partitions are served again", lambda: stack.metric(
                    "agent", "isthmus_stage_partitions") == PARTITIONS, SECONDS)
                stack.advance(300)
                everybody_has("one", "two", "three")
                assert taken_over and {who_answered("three")[handle] for handle in taken_over} == {"first"}
            assert len(agent.answered) == 3 * len(people), "asked about one text again after its answer"
        finally:
            stack.restart("agent", AGENT="coach")
