"""Faults at random, many at a time. SOAK_TEXTS says how long; SOAK_SEED repeats a choice of faults."""

import os
import random
import signal
import time

import pytest

import breaking
from load import MOST_AT_ONCE, Load

TEXTS = int(os.environ.get("SOAK_TEXTS", "5000"))
TEXTS_A_SECOND = 120
SERVICES = ["ingress", "agent", "linq-sender", "apns-pusher", "token-registry"]
LINQ = ["rate-limited", "error", "unavailable", "reset", "reset-after-accepting", "error-after-accepting", "html"]
APNS = ["too-many-requests", "unavailable", "error", "go-away", "refuse-stream", "reset", "reset-after-accepting"]

pytestmark = pytest.mark.usefixtures("nothing_is_parked")


def break_something(stack, random):
    """One fault; what ends comes back by itself. Returns its name."""
    kind = random.choices(
        ["kill", "stop", "linq", "apns", "flush", "kill redis", "freeze redis", "kill rabbitmq"],
        [8, 5, 4, 4, 2, 1, 1, 1])[0]
    match kind:
        case "kill" | "stop":
            service = random.choice(SERVICES)
            breaking.send_signal(stack, service, signal.SIGKILL if kind == "kill" else signal.SIGTERM)
            return f"{kind} {service}"
        case "linq" | "apns":
            fault = random.choice(LINQ if kind == "linq" else APNS)
            stack.control("POST", "faults", {kind: fault, "count": random.randint(1, 60)})
            return f"{kind} {fault}"
        case "flush":
            breaking.redis(stack, "FLUSHALL")
        case "kill redis":
            breaking.kill(stack, "redis")
        case "freeze redis":
            breaking.freeze(stack, "redis", 3)
        case "kill rabbitmq":
            breaking.kill(stack, "rabbitmq")
            breaking.await_ready(stack, "rabbitmq")
    return kind


def test_faults_at_random(stack, table):
    seed = int(os.environ.get("SOAK_SEED", time.time()))
    chance = random.Random(seed)
    print(f"seed {seed}")
    people = max(25, TEXTS // 16)
    if people > MOST_AT_ONCE:
        people += -people % MOST_AT_ONCE
    with Load(stack, f"at random, seed {seed}", texts=TEXTS, users=people, rate=TEXTS_A_SECOND) as load:
        # The last few wait for Linq's next try, minutes each after so many in vain: more of it would never end.
        while load.is_posting and load.progress()["posted"] < 0.97 * TEXTS:
            try:
                print(break_something(stack, chance))
            except (ConnectionError, TimeoutError) as error:
                print(f"it was broken already: {error}")
            time.sleep(chance.uniform(0.5, 3))
        stack.control("DELETE", "faults")
    load.one_more_each()
    load.judge(table, patience=300)
