"""Under each fault: every text answered with 2xx counts once, is answered once and in order, and the phone ends on the
newest state. The run prints a table of what came out."""

import signal
import time

import pytest

import breaking
from breaking import Replica
from load import Copies, Load

SERVICES = ["ingress", "agent", "linq-sender", "apns-pusher", "token-registry"]
STAGES = ["agent", "linq-sender", "apns-pusher"]

pytestmark = pytest.mark.usefixtures("nothing_is_parked")


def test_nothing(stack, table):
    with Load(stack, "none") as load:
        pass
    load.judge(table)


@pytest.mark.parametrize("service", SERVICES)
def test_killed_again_and_again(stack, table, service):
    with Load(stack, f"{service}: SIGKILL, again and again", rate=50) as load:
        for _ in range(4):
            breaking.kill(stack, service)
            time.sleep(2)
    load.one_more_each()
    load.judge(table)


def test_pusher_killed_while_cards_start(stack, table):
    """Every text is somebody's first, so that each moment of a start is hit."""
    with Load(stack, "apns-pusher: SIGKILL while cards start", users=400, rate=50) as load:
        while load.is_posting:
            breaking.kill(stack, "apns-pusher")
            time.sleep(1)
    load.one_more_each()
    load.judge(table)


@pytest.mark.parametrize("service", SERVICES)
def test_stopped_politely(stack, table, service):
    with Load(stack, f"{service}: SIGTERM, twice") as load:
        for _ in range(2):
            breaking.send_signal(stack, service, signal.SIGTERM)
            time.sleep(2)
    load.judge(table)


def test_rabbitmq_restarted(stack, table):
    with Load(stack, "RabbitMQ: restarted", rate=50) as load:
        stack.restart("rabbitmq")
    load.judge(table)


def test_rabbitmq_killed(stack, table):
    with Load(stack, "RabbitMQ: SIGKILL", rate=50) as load:
        breaking.kill(stack, "rabbitmq")
        breaking.await_ready(stack, "rabbitmq")
    load.judge(table)


def test_rabbitmq_out_of_memory(stack, table):
    with Load(stack, "RabbitMQ: memory alarm for 5 s", rate=50) as load:
        breaking.rabbitmqctl(stack, "set_vm_memory_high_watermark", "0.0001")
        time.sleep(5)
        breaking.rabbitmqctl(stack, "set_vm_memory_high_watermark", "0.4")
    load.judge(table)


def test_redis_flushed(stack, table):
    with Load(stack, "Redis: flushed, again and again") as load:
        while load.is_posting:
            assert breaking.redis(stack, "FLUSHALL") == "+OK"
            time.sleep(0.2)
    load.judge(table)


def test_redis_killed(stack, table):
    with Load(stack, "Redis: SIGKILL, restarted empty") as load:
        breaking.kill(stack, "redis")
    load.judge(table)


def test_redis_hangs(stack, table):
    with Load(stack, "Redis: hangs for 5 s") as load:
        breaking.freeze(stack, "redis", 5)
    load.judge(table)


def fail(stack, seconds, **fault):
    """All requests to Linq or APNs end like this for a while."""
    answer = stack.control("POST", "faults", {**fault, "count": 1_000_000, "retryAfter": 2})
    assert answer.status == 200, answer.body
    time.sleep(seconds)
    stack.control("DELETE", "faults")


@pytest.mark.parametrize("fault", [
    "rate-limited", "error", "unavailable", "reset", "reset-after-accepting", "error-after-accepting", "html",
    "chat-being-created", "without-id"])
def test_linq(stack, table, fault):
    with Load(stack, f"Linq: {fault}, for 3 s") as load:
        fail(stack, 3, linq=fault)
    load.judge(table)


def test_sender_killed_while_linq_is_down(stack, table):
    """Each kill counts as one more delivery of every reply in hand, and none of these replies is to blame."""
    stack.control("POST", "faults", {"linq": "unavailable", "count": 1_000_000})
    with Load(stack, "Linq: unavailable, linq-sender killed 25 times", texts=200, users=40) as load:
        for _ in range(25):
            breaking.await_in_hand(stack, "linq-sender", load.texts)
            breaking.kill(stack, "linq-sender")
        stack.control("DELETE", "faults")
    load.one_more_each()
    load.judge(table)


def test_linq_says_nothing(stack, table):
    with Load(stack, "Linq: takes five and says nothing") as load:
        stack.control("POST", "faults", {"linq": "timeout", "count": 5})
    load.judge(table)


@pytest.mark.parametrize("fault", [
    "too-many-requests", "unavailable", "error", "refuse-stream", "go-away", "reset", "reset-after-accepting"])
def test_apns(stack, table, fault):
    with Load(stack, f"APNs: {fault}, for 3 s", texts=450) as load:
        fail(stack, 3, apns=fault)
    load.one_more_each()
    load.judge(table)


def test_apns_says_nothing(stack, table):
    with Load(stack, "APNs: five pushes get no answer") as load:
        stack.control("POST", "faults", {"apns": "hang", "count": 5})
    load.one_more_each()
    load.judge(table)


def test_webhooks_come_in_copies(stack, table):
    with Copies(stack, "webhooks: five copies at once", copies=5) as load:
        pass
    load.judge(table)


def test_webhooks_overtake_each_other(stack, table):
    with Copies(stack, "webhooks: three copies, late ones overtaken", copies=3, delay=1500) as load:
        pass
    load.judge(table, ordered=False)


@pytest.mark.parametrize("service", STAGES)
def test_replicas_come_and_go(stack, table, service):
    with Load(stack, f"{service}: one more, killed, another", texts=600, users=40, rate=60) as load:
        with Replica(stack, service) as second:
            time.sleep(3)
            second.kill()
            with Replica(stack, service):
                time.sleep(4)
    load.judge(table)


@pytest.mark.parametrize("service", STAGES)
def test_first_of_two_replicas_killed(stack, table, service):
    with Load(stack, f"{service}: two, the first killed", texts=600, users=40, rate=60) as load:
        with Replica(stack, service):
            time.sleep(3)
            breaking.kill(stack, service)
            time.sleep(4)
    load.judge(table)
