"""A text that the agent cannot work is parked, and comes back when somebody has mended the agent."""

import json

import pika
import pytest
from agents import endpoint
from broker import rabbitmqctl
from stack import eventually
from test_loop import replies, say


def test_a_poison_text_is_parked_and_replayed_once_the_agent_is_mended(stack, handle, restores_agent):
    def answer(event, _):
        return (422, None) if "poison" in event["text"] else (200, f"heard {event['text']}")

    def parked():
        return [one for one in stack.parked("list", "--stage", "inbound")[1]["messages"] if one["id"] == event_id]

    with endpoint(answer) as settings:
        stack.restart("agent", **settings)
        event_id = stack.text(handle, "poison, 600 cal")["eventID"]
        stack.text(handle, "a later one")
        # The text behind it is not held up for long.
        eventually("the later text is answered", lambda: replies(stack, handle) == ["heard a later one"])
        found = eventually("it is parked", parked)[0]
        assert "422" in found["reason"] and found["service"] == "agent"
        shown = stack.parked("show", "--id", event_id)[1]["messages"][0]
        assert shown["body"]["data"]["handle"] == "(phone number)" and handle not in json.dumps(shown)
        # Replayed too early, it is parked again.
        assert stack.parked("replay", "--id", event_id)[0] == 0
        eventually("it is parked again", parked)
    stack.restart("agent", AGENT="coach")
    assert stack.parked("replay", "--id", event_id)[0] == 0
    eventually("it is answered", lambda: len(replies(stack, handle)) == 2)
    assert parked() == []
    assert stack.parked("replay", "--id", event_id)[1]["messages"] == []
    # What comes afterwards finds that it was counted, and answered, once.
    assert say(stack, handle, "apple, 90 cal")["island"]["contentState"]["calories"] == 690
    assert len(replies(stack, handle)) == 3


def test_what_cannot_be_parked_stays_in_its_queue_until_it_can(stack, handle, restores_agent):
    """Somebody has deleted the queue of the parked ones."""
    topology = stack.folder / "data" / "rabbitmq" / "definitions" / "20-topology.json"
    log = stack.folder / "logs" / "agent.log"
    with endpoint(lambda *_: (422, None)) as settings:
        stack.restart("agent", **settings)
        rabbitmqctl(stack, "delete_queue", "parked.v1.inbound")
        try:
            event_id = stack.text(handle, "poison")["eventID"]
            publish_rubbish(stack, "inbound", {}, "rubbish", partitions=1)
            for one in (event_id, "rubbish"):
                eventually("it cannot be parked", lambda one=one: any(
                    one in line and "could not be parked" in line for line in log.read_text().splitlines()), 60)
        finally:
            rabbitmqctl(stack, "import_definitions", str(topology))
        for one, reason in ((event_id, "422"), ("rubbish", "cannot be decoded")):
            found = eventually("it is parked", lambda one=one: [
                parked for parked in stack.parked("list", "--stage", "inbound")[1]["messages"] if parked["id"] == one], 60)
            assert reason in found[0]["reason"]
    stack.restart("agent", AGENT="coach")
    for one in (event_id, "rubbish"):
        assert stack.parked("drop", "--id", one)[0] == 0
    assert say(stack, handle, "apple, 90 cal")["island"]["contentState"]["calories"] == 90


def publish_rubbish(stack, stage, headers, message_id=None, partitions=16):
    connection = pika.BlockingConnection(pika.URLParameters(stack.broker_url()))
    try:
        channel = connection.channel()
        properties = pika.BasicProperties(headers=headers, message_id=message_id, delivery_mode=2)
        for partition in range(partitions):
            channel.basic_publish("", f"{stage}.v1.{partition:02}", b"rubbish", properties)
    finally:
        connection.close()


@pytest.mark.parametrize("stage", ["inbound", "replies", "islands"])
@pytest.mark.parametrize("headers", [None, {f"header-{number}": "x" * 1000 for number in range(100)}])
def test_what_another_program_has_put_into_a_queue_is_parked_whatever_it_is(stack, handle, stage, headers):
    """Without an id, a type or a body that means anything, and it holds nobody up."""
    publish_rubbish(stack, stage, headers)

    def found():
        return [one["id"] for one in stack.parked("list", "--stage", stage)[1]["messages"]
                if "cannot be decoded" in one["reason"]]

    ids = eventually("all of it is parked", lambda: len(found()) == 16 and found(), 60)
    assert len(set(ids)) == 16 and all(ids)
    assert say(stack, handle, "apple, 90 cal")["island"]["contentState"]["calories"] == 90
    for one in ids:
        assert stack.parked("drop", "--id", one)[0] == 0
    assert found() == []
