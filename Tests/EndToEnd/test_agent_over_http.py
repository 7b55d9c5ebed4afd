"""An agent behind HTTP: what it hears of, and what shows in the thread before it answers."""

import http.server
import json
import threading
import uuid
from contextlib import contextmanager

import pytest

from stack import eventually, request
from test_loop import replies, say
from webhooks import received, sign


class Agent(http.server.BaseHTTPRequestHandler):
    """Keeps what it is told, and answers when it is let."""

    gate = threading.Event()
    told = []
    replies = [{"text": "at last"}]

    def do_POST(self):
        self.told.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.gate.wait(20)
        body = json.dumps({"replies": self.replies}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@contextmanager
def agent_elsewhere(stack, **settings):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Agent)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    Agent.gate.clear()
    Agent.told.clear()
    secret = stack.secret_file("agent-http-secret").read_text()
    stack.restart("agent", AGENT=f"http:http://127.0.0.1:{server.server_port}/", AGENT_HTTP_SECRET=secret, **settings)
    try:
        yield Agent
    finally:
        Agent.gate.set()
        stack.restart("agent", AGENT="coach", LINQ_TYPING="on", LINQ_READ_RECEIPTS="on")
        server.shutdown()


def chat(stack, handle):
    return stack.state(handle)["chats"][0]


def test_a_slow_agent_shows_read_and_typing_until_it_answers(stack, handle):
    with agent_elsewhere(stack) as agent:
        stack.text(handle, "hello")
        eventually("the text is read", lambda: chat(stack, handle)["isRead"])
        eventually("typing shows", lambda: chat(stack, handle)["isTyping"])
        assert replies(stack, handle) == []
        agent.gate.set()
        eventually("the answer is there", lambda: replies(stack, handle) == ["at last"])
        assert not chat(stack, handle)["isTyping"]


@pytest.mark.parametrize("fault", ["timeout", "error", "reset"])
def test_what_goes_wrong_with_read_and_typing_delays_and_repeats_no_reply(stack, handle, fault):
    put = 0

    def tried():
        """The requests that met the fault; each look puts one more there."""
        nonlocal put
        put += 1
        waiting = stack.control("POST", "faults", {"hints": fault, "count": 1}).json()["hints"]
        return put - waiting

    repeated = stack.control("GET", "counts").json()["linq"]["repliesRepeated"]
    with agent_elsewhere(stack) as agent:
        try:
            tried()
            stack.text(handle, "hello")
            eventually("read and typing were tried", lambda: tried() >= 2)
            agent.gate.set()
            # Sooner than a request of theirs would be given up.
            eventually("the answer is there", lambda: replies(stack, handle) == ["at last"], seconds=4)
        finally:
            stack.control("DELETE", "faults")
    assert stack.control("GET", "counts").json()["linq"]["repliesRepeated"] == repeated


def test_read_and_typing_can_be_turned_off(stack, handle):
    with agent_elsewhere(stack, LINQ_TYPING="off", LINQ_READ_RECEIPTS="off") as agent:
        agent.gate.set()
        before = stack.metric("linq-sender", "isthmus_linq_hints_total")
        stack.text(handle, "hello")
        eventually("the answer is there", lambda: replies(stack, handle) == ["at last"])
        assert stack.metric("linq-sender", "isthmus_linq_hints_total") == before
        assert not chat(stack, handle)["isRead"]


def test_a_fast_answer_marks_the_text_as_read(stack, handle):
    say(stack, handle, "toast, 90 cal")
    eventually("the text is read", lambda: chat(stack, handle)["isRead"])
    assert not chat(stack, handle)["isTyping"]


def test_an_agent_hears_of_all_that_a_person_can_do(stack, handle):
    others = ["+12025550001", "+12025550002"]
    with agent_elsewhere(stack) as agent:
        agent.gate.set()
        first = stack.text(handle, "look", media="https://cdn.example/bowl.jpg", link="https://example.com/recipe")
        stack.control("POST", "texts", {"from": handle, "reaction": "love", "messageID": first["messageID"]})
        stack.text(handle, "what about us?", group=others, mention=True)
        stack.text(handle, "STOP")
        webhook = json.loads(received(handle, "never mind"))
        message = webhook["data"]
        webhook |= {"event_type": "message.edited", "event_id": str(uuid.uuid4())}
        webhook["data"] = {
            "id": first["messageID"], "chat": {**message["chat"], "id": first["chatID"]}, "direction": "inbound",
            "sender_handle": message["sender_handle"], "part": {"index": 0, "text": "look again"},
            "edited_at": message["sent_at"]}
        body = json.dumps(webhook).encode()
        edited = request("POST", stack.webhook_url, body, sign(stack.setting("ingress", "LINQ_WEBHOOK_SECRETS"), body, at=stack.now()))
        assert edited.status == 200
        events = eventually("all five are told", lambda: len(agent.told) >= 5 and [told["event"] for told in agent.told])
    by_kind = {}
    for event in events:
        by_kind.setdefault(event["kind"], []).append(event)
    # Webhooks may overtake each other.
    [picture] = [event for event in by_kind["message"] if len(event["parts"]) == 3]
    [group] = [event for event in by_kind["message"] if event["chat"]["isGroup"]]
    [stop] = [event for event in by_kind["message"] if event["text"] == "STOP"]
    parts = {part["type"]: part for part in picture["parts"]}
    assert parts["media"]["url"] == "https://cdn.example/bowl.jpg" and parts["media"]["mimeType"]
    assert (parts["link"]["value"], parts["text"]["value"]) == ("https://example.com/recipe", "look")
    assert group["mentionsLine"] and not stop["chat"]["isGroup"]
    assert [event["isOptOut"] for event in (picture, group, stop)] == [False, False, True]
    [reaction], [edit] = by_kind["reaction"], by_kind["edit"]
    assert (reaction["reaction"], reaction["isAdded"], reaction["messageID"]) == ("love", True, first["messageID"])
    assert (edit["text"], edit["messageID"]) == ("look again", first["messageID"])


def test_an_agent_knows_the_time_zone_and_the_locale_that_the_phone_has_told(stack, handle):
    phone = {"deviceID": f"phone-of-{handle[1:]}", "timeZone": "Asia/Tokyo", "locale": "ja_JP"}
    made = stack.control("POST", "users", {"userID": f"user-{handle[1:]}", "handles": [handle], "phones": [phone]})
    assert made.status == 200, made.body
    with agent_elsewhere(stack) as agent:
        agent.gate.set()
        stack.text(handle, "hello")
        eventually("it is told", lambda: agent.told)
        user = agent.told[0]["user"]
    assert (user["timeZone"], user["locale"]) == ("Asia/Tokyo", "ja_JP")


def test_a_reply_goes_out_with_pictures_an_effect_and_a_link_as_linq_takes_them(stack, handle, monkeypatch):
    first = stack.text(handle, "toast 90")
    eventually("the coach has answered", lambda: replies(stack, handle))
    picture, link = "https://cdn.example/bowl.jpg", "https://example.com/recipe"
    monkeypatch.setattr(Agent, "replies", [{
        "text": "look", "media": [picture, picture], "link": link, "replyTo": first["messageID"],
        "effect": {"type": "screen", "name": "confetti"}}])
    with agent_elsewhere(stack) as agent:
        agent.gate.set()
        stack.text(handle, "hello")
        eventually("both messages are there", lambda: len(replies(stack, handle)) == 3)
    sent = [message["parts"] for message in stack.thread(handle) if message["direction"] == "outbound"][1:]
    assert sent == [
        [{"type": "text", "value": "look"}, {"type": "media", "url": picture}, {"type": "media", "url": picture}],
        [{"type": "link", "value": link}]]
