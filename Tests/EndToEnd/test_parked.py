"""A text that the agent cannot work is parked, and comes back when somebody has mended the agent."""

import json

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
            eventually("it cannot be parked", lambda: any(
                event_id in line and "could not be parked" in line for line in log.read_text().splitlines()), 60)
        finally:
            rabbitmqctl(stack, "import_definitions", str(topology))
        found = eventually("it is parked", lambda: [
            one for one in stack.parked("list", "--stage", "inbound")[1]["messages"] if one["id"] == event_id], 60)
        assert "422" in found[0]["reason"]
    stack.restart("agent", AGENT="coach")
    assert stack.parked("drop", "--id", event_id)[0] == 0
    assert say(stack, handle, "apple, 90 cal")["island"]["contentState"]["calories"] == 90
