"""pika, a client that is not ours, reads what our services publish."""

import json
import re
import time
from datetime import datetime

import pika
import pytest

EXCHANGES = ["inbound.v1", "replies.v1", "islands.v1"]


@pytest.fixture
def copies(stack):
    """A channel and a queue of its own that gets a copy of all that passes the three stages."""
    partitions = int(stack.settings("agent")["PARTITIONS"])
    connection = pika.BlockingConnection(pika.URLParameters(stack.broker_url()))
    try:
        channel = connection.channel()
        queue = channel.queue_declare("", exclusive=True).method.queue
        for exchange in EXCHANGES:
            for partition in range(partitions):
                channel.queue_bind(queue, exchange, f"{partition:02}")
        yield channel, queue
    finally:
        connection.close()


def read(copies, handle, seconds=60):
    """What this person's text becomes in each stage: exchange to method, properties and event."""
    channel, queue = copies
    found = {}
    deadline = time.monotonic() + seconds
    for method, properties, body in channel.consume(queue, auto_ack=True, inactivity_timeout=0.2):
        if method:
            event = json.loads(body)
            # The app's registrations pass the first stage, too, and other people's Islands the last.
            is_of_a_text = method.exchange != "inbound.v1" or event["source"] == "linq"
            if is_of_a_text and handle in body.decode():
                found.setdefault(method.exchange, (method, properties, event))
        if len(found) == len(EXCHANGES):
            return found
        assert time.monotonic() < deadline, f"only {sorted(found)} within {seconds} s"


def test_each_stage_publishes_cloud_events(stack, copies, handle):
    stack.text(handle, "just had a chicken bowl, ~600 cal")
    found = read(copies, handle)
    for method, properties, event in found.values():
        assert event["specversion"] == "1.0"
        assert event["datacontenttype"] == "application/json"
        assert re.fullmatch(r"[a-z.]+\.v1", event["type"])
        assert event["source"] and isinstance(event["data"], dict)
        at = datetime.fromisoformat(event["time"].replace("Z", "+00:00"))
        assert abs(at.timestamp() - time.time()) < 60
        # What a broker's page shows without reading bodies.
        assert properties.message_id == event["id"]
        assert properties.type == event["type"]
        assert abs(properties.timestamp - at.timestamp()) <= 1
        assert properties.content_type == "application/cloudevents+json"
        assert properties.delivery_mode == 2
        assert re.fullmatch(r"00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}", properties.headers["traceparent"])
        # The person shows in no name and no header.
        outside = f"{method.routing_key} {method.exchange} {properties.headers} {properties.correlation_id}"
        assert handle.strip("+") not in outside
        assert re.fullmatch(r"\d\d", method.routing_key)
    traces = {properties.headers["traceparent"].split("-")[1] for _, properties, _ in found.values()}
    assert len(traces) == 1, "one text is one trace"


def test_what_the_stages_say(stack, copies, handle):
    sent = stack.text(handle, "just had a chicken bowl, ~600 cal")
    found = {exchange: event for exchange, (_, _, event) in read(copies, handle).items()}
    inbound, reply, island = (found[exchange] for exchange in EXCHANGES)
    assert inbound["id"] == sent["eventID"]
    assert inbound["data"]["handle"] == handle
    assert island["type"] == "isthmus.island.desired.v1"
    assert island["data"]["handle"] == handle
    assert json.loads(island["data"]["desired"]["show"]["contentState"])["calories"] == 600
    assert len({inbound["id"], reply["id"], island["id"]}) == 3
    # One person's events and Islands share a partition's number, by the key alone.
    keys = {}
    stack.text(handle, "and an apple, 90")
    for exchange, (method, _, _) in read(copies, handle).items():
        keys[exchange] = method.routing_key
    assert keys["inbound.v1"] == keys["islands.v1"]


def test_a_publish_without_a_place_comes_back(copies):
    """The broker's own answer, against which our publishers' `mandatory` stands."""
    channel, _ = copies
    channel.confirm_delivery()
    with pytest.raises(pika.exceptions.UnroutableError):
        channel.basic_publish("inbound.v1", "no-such-partition", b"{}", mandatory=True)
