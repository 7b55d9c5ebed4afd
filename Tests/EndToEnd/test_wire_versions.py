"""A rolling upgrade: messages of newer and of older services pass through these, and what these cannot know is parked.

From a client that is not ours: today's golden files with fields and values that do not exist yet, and the bytes of each
earlier version as they were frozen then.
"""

import hashlib
import json
import time
import uuid
from contextlib import contextmanager
from datetime import datetime, timezone

import pika
import pytest

from stack import ROOT, eventually
from test_loop import replies

GOLDEN = ROOT / "Tests" / "SharedTests" / "Fixtures" / "Wire"
FROZEN = ROOT / "Tests" / "SharedTests" / "Fixtures" / "WireFrozen"
VERSIONS = ["newer", *sorted(folder.name for folder in FROZEN.iterdir())]
PARTITIONS = 16

of_each_version = pytest.mark.parametrize("version", VERSIONS)


def grown(value):
    """The same with a field more in every object."""
    if isinstance(value, dict):
        return {**{key: grown(inner) for key, inner in value.items()}, "fromTheFuture": {"x": [1, None]}}
    return [grown(inner) for inner in value] if isinstance(value, list) else value


def golden(name, folder=GOLDEN):
    message = json.loads((folder / f"{name}.json").read_text())
    return {**message, "id": f"{folder.name}.{uuid.uuid4()}"}


def written(version, name):
    """The message as a service of that version writes it."""
    return grown(golden(name)) if version == "newer" else golden(name, FROZEN / version)


def partition(key):
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:4], "big") % PARTITIONS


@contextmanager
def channel(stack):
    connection = pika.BlockingConnection(pika.URLParameters(stack.broker_url()))
    opened = connection.channel()
    opened.confirm_delivery()
    try:
        yield opened
    finally:
        connection.close()


def publish(stack, exchange, routing_key, message):
    with channel(stack) as opened:
        publish_on(opened, exchange, routing_key, message)


def publish_on(opened, exchange, routing_key, message, reply_to=None):
    properties = pika.BasicProperties(
        message_id=message["id"], type=message["type"], content_type="application/cloudevents+json", delivery_mode=2,
        timestamp=int(time.time()), reply_to=reply_to, headers={"a-header-from-the-future": "x"})
    opened.basic_publish(exchange, routing_key, json.dumps(message).encode(), properties, mandatory=True)


def to_partition(stack, stage, key, message):
    publish(stack, f"{stage}.v1", f"{partition(key):02}", message)


@of_each_version
def test_its_text_is_answered(stack, handle, version):
    message = written(version, "message")
    message["data"]["handle"] = handle
    content = message["data"]["content"]
    content.update(messageID=str(uuid.uuid4()), sender=handle)
    content["chat"]["id"] = str(uuid.uuid4())
    if version == "newer":
        content.update(service="Satellite")
        content["parts"].append({"type": "hologram", "value": "600 cal of light", "depth": 3})
    to_partition(stack, "inbound", handle, message)
    eventually("the reply", lambda: len(replies(stack, handle)) == 1)


@of_each_version
def test_its_reply_is_sent(stack, handle, version):
    message = written(version, "reply")
    message["data"].update(
        to=handle, idempotencyKey=str(uuid.uuid4()), replyTo=None,
        expiresAt=datetime.fromtimestamp(stack.now() + 300, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.000Z"))
    message["data"]["chat"]["id"] = str(uuid.uuid4())
    to_partition(stack, "replies", message["data"]["chat"]["id"], message)
    eventually("the reply", lambda: replies(stack, handle) == ["Got it!"])


@of_each_version
def test_its_island_is_shown(stack, handle, version):
    user = f"user-{handle[1:]}"
    assert stack.control("POST", "users", {
        "userID": user, "handles": [handle], "phones": [{"deviceID": f"phone-{handle[1:]}"}]}).status in (200, 201)
    message = written(version, "island-show")
    now = int(stack.now())
    message["data"].update(
        handle=handle, userID=user, sessionID=str(uuid.uuid4()), timestamp=now, generation=0,
        sessionStartedAt=datetime.fromtimestamp(now, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.000Z"))
    state = {"calories": 600, "goal": 2000, "streak": 1, "lastMeal": "Bowl"}
    show = next(inner for inner in find(message, "contentState"))
    show.update(contentState=json.dumps(state), staleDate=now + 3600)
    to_partition(stack, "islands", handle, message)
    eventually("the Island", lambda: stack.island(handle) == state)


def find(value, key):
    """Each object in there that has this key."""
    if isinstance(value, dict):
        if key in value:
            yield value
        for inner in value.values():
            yield from find(inner, key)


@of_each_version
def test_its_question_to_the_registry_is_answered(stack, version):
    question = written(version, "registry-lookup")
    answers = []
    with channel(stack) as opened:
        opened.basic_consume("amq.rabbitmq.reply-to", lambda *answer: answers.append(answer), auto_ack=True)
        publish_on(opened, "registry.v1", "lookup", question, reply_to="amq.rabbitmq.reply-to")
        eventually("the answer", lambda: opened.connection.process_data_events(0.1) or answers)
    _, _, properties, body = answers[0]
    assert properties.type == "isthmus.registry.record.v1"
    assert json.loads(body)["data"]["canonicalHandle"] == question["data"]["handle"]


@of_each_version
def test_its_command_to_the_registry_is_done(stack, version):
    def done():
        return sum(value for name, value in stack.metrics("token-registry").items()
                   if "command" in name and 'result="done"' in name)

    before = done()
    publish(stack, "registry.v1", "commands", written(version, "registry-token-dead"))
    eventually("the command is done", lambda: done() > before)


@pytest.mark.parametrize("stage, name", [
    ("inbound", "message"), ("replies", "reply"), ("islands", "island-show"), ("registry", "registry-token-dead")])
def test_another_major_version_is_parked_with_its_reason(stack, handle, stage, name):
    message = golden(name)
    message["type"] = message["type"].replace(".v1", ".v2")
    if stage == "registry":
        publish(stack, "registry.v1", "commands", message)
    else:
        to_partition(stack, stage, handle, message)

    def parked():
        return [one for one in stack.parked("list", "--stage", stage)[1]["messages"] if one["id"] == message["id"]]

    reason = eventually("it is parked", parked)[0]["reason"]
    # The registry rejects: the broker parks, and knows no more than that.
    assert message["type"] in reason or stage == "registry"
    assert stack.parked("drop", "--id", message["id"])[0] == 0
    assert parked() == []
