"""An agent behind HTTP that is away: who writes meanwhile waits in the agent's database, in order, and nobody else does."""

import threading

from agents import endpoint
from stack import eventually
from test_loop import replies


class Endpoint:
    """Answers 503 to some, and counts what it has answered to whom."""

    def __init__(self):
        self.away = set()
        self.lock = threading.Lock()
        self.answered = []

    def answer(self, event, user):
        with self.lock:
            if user in self.away:
                return 503, None
            # The end of a session of whoever wrote before says nothing.
            if "text" not in event:
                return 200, None
            self.answered.append((user, event["text"]))
        return 200, f"heard {event['text']}"


def deferred(stack):
    return stack.metric("agent", "isthmus_agent_deferred_total")


def test_who_cannot_be_answered_waits_in_order_and_others_go_on(stack, restores_agent, handle):
    other = handle[:-1] + str((int(handle[-1]) + 1) % 10)
    agent = Endpoint()
    agent.away = {handle}
    with endpoint(agent.answer) as settings:
        stack.restart("agent", AGENT_TIMEOUT="5s", **settings)
        # One after the other, because webhooks may overtake each other.
        for count, text in enumerate(("one", "two", "three"), 1):
            stack.text(handle, text)
            # The first one after its tries, the later ones behind it, without asking the agent.
            eventually(f"{text} waits in the database", lambda: deferred(stack) >= count, 90)
        stack.text(other, "hello")
        eventually("the other is answered", lambda: replies(stack, other) == ["heard hello"], 60)
        assert replies(stack, handle) == []
        # They outlive the process, and whoever has the partition works them.
        stack.restart("agent")
        eventually("they still wait", lambda: stack.metric("agent", "isthmus_agent_deferred_lanes") == 1, 60)
        stack.text(handle, "four")
        eventually("four waits behind them", lambda: deferred(stack) >= 1, 60)
        agent.away = set()
        eventually("all are answered", lambda: len(replies(stack, handle)) == 4, 90)
        assert replies(stack, handle) == ["heard one", "heard two", "heard three", "heard four"]
        assert [text for user, text in agent.answered if user == handle] == ["one", "two", "three", "four"]
        eventually("no lane is left", lambda: stack.metric("agent", "isthmus_agent_deferred_lanes") == 0, 60)
        waited = deferred(stack)
        stack.text(handle, "five")
        eventually("the next goes straight on", lambda: replies(stack, handle)[4:] == ["heard five"], 60)
        assert deferred(stack) == waited


def test_what_has_waited_for_four_hours_is_parked_and_what_came_later_goes_on(stack, restores_agent, handle):
    agent = Endpoint()
    agent.away = {handle}

    def parked():
        return [one for one in stack.parked("list", "--stage", "inbound")[1]["messages"] if one["id"] == first]

    with endpoint(agent.answer) as settings:
        stack.restart("agent", AGENT_TIMEOUT="5s", **settings)
        first = stack.text(handle, "one")["eventID"]
        eventually("it waits", lambda: deferred(stack) >= 1, 60)
        stack.advance(2 * 3600)
        stack.text(handle, "two")
        eventually("so does the next", lambda: deferred(stack) >= 2)
        assert parked() == []
        stack.advance(2 * 3600 + 60)
        reason = eventually("the first is parked", parked, 60)[0]["reason"]
        assert reason.startswith("not worked in 4 hours: ") and "503" in reason
        assert stack.metric("agent", "isthmus_agent_deferred_lanes") == 1
        agent.away = set()
        stack.advance(300)
        eventually("the next is answered", lambda: replies(stack, handle) == ["heard two"], 60)
        eventually("no lane is left", lambda: stack.metric("agent", "isthmus_agent_deferred_lanes") == 0)
        # A person puts it back, now that the agent answers.
        assert stack.parked("replay", "--id", first)[0] == 0
        eventually("it is answered, too", lambda: replies(stack, handle) == ["heard two", "heard one"])
        assert parked() == []
