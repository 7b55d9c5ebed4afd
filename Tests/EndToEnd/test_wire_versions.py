"""A rolling upgrade: messages of newer services pass through these, and what these cannot know is parked.

The messages are the golden files, with fields and values that do not exist yet, from a client that is not ours.
"""

import copy
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
PARTITIONS = 16


def grown(value):
    """The same with a field more in every object."""
    if isinstance(value, dict):
        return {**{key: grown(inner) for key, inner in value.items()}, "fromTheFuture": {"x": [1, None]}}
    return [grown(inner) for inner in value] if isinstance(value, list) else value


def golden(name):
    message = json.loads((GOLDEN / f"{name}.json").read_text())
    return {**message, "id": f"newer.{uuid.uuid4()}"}


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
    properties = pika.BasicProperties(
        message_id=message["id"], type=message["type"], content_type="application/cloudevents+json", delivery_mode=2,
        timestamp=int(time.time()), headers={"a-header-from-the-future": "x"})
    with channel(stack) as opened:
        opened.basic_publish(exchange, routing_key, json.dumps(message).encode(), properties, mandatory=True)


def to_partition(stack, stage, key, message):
    publish(stack, f"{stage}.v1", f"{partition(key):02}", message)


def text(handle):
    message = golden("message")
    data = message["data"]
    data["handle"] = handle
    data["content"].update(messageID=str(uuid.uuid4()), sender=handle)
    data["content"]["chat"]["id"] = str(uuid.uuid4())
    return message


def test_a_newer_text_is_answered(stack, handle):
    message = text(handle)
    message["data"]["content"].update(service="Satellite")
    message["data"]["content"]["parts"].append({"type": "hologram", "value": "600 cal of light", "depth": 3})
    to_partition(stack, "inbound", handle, grown(message))
    eventually("the reply", lambda: len(replies(stack, handle)) == 1)


def test_a_newer_reply_is_sent(stack, handle):
    message = golden("reply")
    message["data"].update(
        to=handle, idempotencyKey=str(uuid.uuid4()), replyTo=None,
        expiresAt=datetime.fromtimestamp(stack.now() + 300, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.000Z"))
    message["data"]["chat"]["id"] = str(uuid.uuid4())
    to_partition(stack, "replies", message["data"]["chat"]["id"], grown(message))
    eventually("the reply", lambda: replies(stack, handle) == ["Got it!"])


def test_a_newer_island_is_shown(stack, handle):
    user = f"user-{handle[1:]}"
    assert stack.control("POST", "users", {
        "userID": user, "handles": [handle], "phones": [{"deviceID": f"phone-{handle[1:]}"}]}).status in (200, 201)
    message = golden("island-show")
    now = int(stack.now())
    message["data"].update(
        handle=handle, userID=user, sessionID=str(uuid.uuid4()), timestamp=now, generation=0,
        sessionStartedAt=datetime.fromtimestamp(now, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.000Z"))
    state = {"calories": 600, "goal": 2000, "streak": 1, "lastMeal": "Bowl"}
    message = grown(message)
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


def test_a_newer_command_to_the_registry_is_done(stack):
    def done():
        return sum(value for name, value in stack.metrics("token-registry").items()
                   if "command" in name and 'result="done"' in name)

    before = done()
    publish(stack, "registry.v1", "commands", grown(golden("registry-token-dead")))
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


def test_messages_of_today_pass_as_those_of_yesterday(stack, handle):
    """The same text without anything that is optional: so little did the first version say."""
    message = copy.deepcopy(text(handle))
    content = message["data"]["content"]
    for optional in ("replyTo", "sentAt"):
        content.pop(optional, None)
    message.pop("traceparent", None)
    to_partition(stack, "inbound", handle, message)
    eventually("the reply", lambda: len(replies(stack, handle)) == 1)
