"""Each service has a user of the broker of its own; that these suffice, the whole suite shows. Here: that they do not
suffice for anything else, tried by a client that is not ours."""

import contextlib
import itertools
import json
import re

import pika
import pytest

from broker import rabbitmqctl
from stack import ROOT, eventually

USERS = {
    permission["user"]: permission
    for permission in json.loads((ROOT / "infra" / "rabbitmq" / "permissions.json").read_text())["permissions"]
}
# What each may publish to and consume from, said a second time: by names, as people would say it.
PUBLISHES = {
    "ingress": {"inbound.v1", "parked.v1", "registry.v1"},
    "agent": {"inbound.v1", "replies.v1", "islands.v1", "registry.v1", "parked.v1", "presence.v1.inbound"},
    "linq-sender": {"parked.v1", "presence.v1.replies"},
    "apns-pusher": {"registry.v1", "parked.v1", "presence.v1.islands"},
    "token-registry": {"", "inbound.v1", "parked.v1"},
    "operator": {"inbound.v1", "replies.v1", "islands.v1", "registry.v1"},
    "monitor": set(),
}
CONSUMES = {
    "ingress": r"never",
    "agent": r"inbound\.v1\.\d\d",
    "linq-sender": r"replies\.v1\.\d\d",
    "apns-pusher": r"islands\.v1\.\d\d",
    "token-registry": r"registry\.v1\.(lookup|commands)",
    "operator": r"parked\.v1\.(inbound|replies|islands|registry)",
    "monitor": r"never",
}
STAGE_OF = {"agent": "inbound", "linq-sender": "replies", "apns-pusher": "islands"}
REFUSED = 403


@pytest.fixture(scope="module")
def topology(stack):
    """The names of the broker's exchanges and queues, as the stack's own broker got them."""
    folder = stack.folder / "data" / "rabbitmq" / "definitions"
    told = json.loads((folder / "20-topology.json").read_text())
    exchanges = [exchange["name"] for exchange in told["exchanges"]]
    queues = [queue["name"] for queue in told["queues"]]
    assert len(exchanges) == 8 and len(queues) > 50
    return exchanges, queues


@contextlib.contextmanager
def connected(stack, user):
    connection = pika.BlockingConnection(pika.URLParameters(stack.broker_url(user)))
    try:
        yield connection
    finally:
        connection.close()


def outcome(connection, act):
    """0 if the broker does it, or the number of its refusal. The channel is closed: nothing that was got is kept."""
    channel = connection.channel()
    try:
        act(channel)
        return 0
    except pika.exceptions.UnroutableError:
        return 0
    except pika.exceptions.ChannelClosedByBroker as refusal:
        return refusal.reply_code
    finally:
        if channel.is_open:
            channel.close()


def publish(exchange):
    def act(channel):
        channel.confirm_delivery()
        # Nobody's routing key: what is allowed comes back and harms nobody.
        channel.basic_publish(exchange, "nobody", b"", mandatory=True)

    return act


@pytest.mark.parametrize("user", USERS)
def test_a_user_publishes_where_its_service_publishes_and_nowhere_else(stack, topology, user):
    exchanges, _ = topology
    with connected(stack, user) as connection:
        for exchange in [*exchanges, "", "amq.direct", "amq.fanout", "amq.topic"]:
            # A fanout exchange would deliver to replicas; who may publish there is seen in that they find each other.
            if exchange.startswith("presence") and exchange in PUBLISHES[user]:
                continue
            expected = 0 if exchange in PUBLISHES[user] else REFUSED
            assert outcome(connection, publish(exchange)) == expected, f"{user} to {exchange!r}"


@pytest.mark.parametrize("user", USERS)
def test_a_user_reads_no_other_service_s_queue(stack, topology, user):
    _, queues = topology
    tried = 0
    with connected(stack, user) as connection:
        for queue in queues:
            if re.fullmatch(CONSUMES[user], queue):
                assert re.match(USERS[user]["read"], queue), "what it may read is what it should"
                continue
            for act in (
                lambda channel: channel.basic_consume(queue, lambda *_: None),
                lambda channel: channel.basic_get(queue),
                lambda channel: channel.queue_purge(queue),
            ):
                assert outcome(connection, act) == REFUSED, f"{user} from {queue}"
                tried += 1
    assert tried >= 3 * (len(queues) - 16)


@pytest.mark.parametrize("user", USERS)
def test_a_user_makes_and_removes_nothing(stack, topology, user):
    exchanges, queues = topology
    with connected(stack, user) as connection:
        for queue, exchange in itertools.zip_longest(queues, exchanges):
            assert outcome(connection, lambda channel: channel.queue_delete(queue)) == REFUSED, f"{user}: {queue}"
            if exchange:
                assert outcome(connection, lambda channel: channel.exchange_delete(exchange)) == REFUSED
                assert outcome(connection, lambda channel: channel.queue_bind(queue, exchange, "x")) == REFUSED
        for name in ("mine", "amq.gen-mine", "presence.v1.inbound", "inbound.v1.99"):
            assert outcome(connection, lambda channel: channel.queue_declare(name, exclusive=True)) == REFUSED
        assert outcome(connection, lambda channel: channel.queue_declare("", exclusive=True)) == REFUSED
        assert outcome(connection, lambda channel: channel.exchange_declare("mine", "fanout")) == REFUSED


@pytest.mark.parametrize("user", STAGE_OF)
def test_a_stage_s_user_listens_to_no_other_stage(stack, user):
    def listen(exchange):
        def act(channel):
            channel.queue_declare(f"presence.v1.{STAGE_OF[user]}0a", exclusive=True)
            channel.queue_bind(f"presence.v1.{STAGE_OF[user]}0a", exchange, "")

        return act

    for stage in STAGE_OF.values():
        # A queue that is exclusive goes with its connection.
        with connected(stack, user) as connection:
            expected = 0 if stage == STAGE_OF[user] else REFUSED
            assert outcome(connection, listen(f"presence.v1.{stage}")) == expected
    with connected(stack, user) as connection:
        assert outcome(connection, listen("inbound.v1")) == REFUSED
        other = next(stage for stage in STAGE_OF.values() if stage != STAGE_OF[user])
        assert outcome(connection, lambda channel: channel.queue_declare(
            f"presence.v1.{other}0a", exclusive=True)) == REFUSED


def test_nobody_publishes_and_consumes_over_one_connection(stack):
    """A broker that blocks who publishes must not hold up acknowledgements."""
    columns = ("user", "connection", "consumer_count", "confirm")

    def roles():
        told = rabbitmqctl(stack, "-q", "list_channels", "--no-table-headers", *columns)
        found = {}
        for user, connection, consumers, confirms in (line.split("\t") for line in told.splitlines() if line):
            role = found.setdefault((user, connection), set())
            role |= {"consumes"} if int(consumers) else set()
            role |= {"publishes"} if confirms == "true" else set()
        return found

    def users_that(role):
        return {user for (user, _), does in roles().items() if role in does}

    # A replica of a stage may have just begun.
    eventually("all publish", lambda: users_that("publishes") >= {"ingress", *STAGE_OF})
    eventually("all consume", lambda: users_that("consumes") >= STAGE_OF.keys())
    assert not [who for who, does in roles().items() if does == {"publishes", "consumes"}]


def test_nobody_logs_in_by_a_default_password(stack):
    for user, password in [("guest", "guest"), ("admin", "admin"), ("agent", "agent"), ("ingress", "")]:
        url = re.sub(r"//.*@", f"//{user}:{password}@", stack.broker_url())
        with pytest.raises(pika.exceptions.AMQPConnectionError):
            pika.BlockingConnection(pika.URLParameters(url)).close()
