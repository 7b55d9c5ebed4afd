"""One text is one trace, from the webhook to the reply and to the push."""

import json
import secrets
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

from stack import eventually, free_port, request
from webhooks import sign

SERVER, CLIENT, PRODUCER, CONSUMER = 2, 3, 4, 5
# Wall clocks are read one after the other; nothing else is between two services on one machine.
NANOSECONDS = 1_000_000

WAY = {
    ("ingress", "POST /webhooks/linq", SERVER), ("ingress", "publish inbound.v1", PRODUCER),
    ("agent", "receive inbound.v1", CLIENT), ("agent", "process inbound.v1", CONSUMER),
    ("agent", "publish replies.v1", PRODUCER), ("agent", "publish islands.v1", PRODUCER),
    ("linq-sender", "receive replies.v1", CLIENT), ("linq-sender", "process replies.v1", CONSUMER),
    ("linq-sender", "POST /v3/messages", CLIENT),
    ("apns-pusher", "receive islands.v1", CLIENT), ("apns-pusher", "process islands.v1", CONSUMER),
    ("apns-pusher", "POST /3/device/{token}", CLIENT),
}


def step(span):
    return span.service, span.name.split(":")[0], span.kind


def say(stack, handle, text):
    said = stack.control("POST", "say", {"from": handle, "text": text})
    assert said.status == 200, said.body


def whole_trace(collector, message_id, steps=WAY):
    spans = eventually(
        f"the trace has {len(steps)} steps",
        lambda: (lambda spans: spans if steps <= {step(span) for span in spans} else None)(
            collector.trace_of(message_id)))
    assert not collector.errors
    return spans


def check_tree(spans):
    """Every span but one has its parent in the trace, begins after it, and is within it where somebody waits for it."""
    by_id = {span.id: span for span in spans}
    assert len(by_id) == len(spans), "ids are unique"
    assert {span.trace for span in spans} == {spans[0].trace}
    assert [step(span) for span in spans if not span.parent] == [("ingress", "POST /webhooks/linq", SERVER)]
    for span in spans:
        assert span.start <= span.end
        if not span.parent:
            continue
        parent = by_id[span.parent]
        assert parent.start <= span.start + NANOSECONDS, (parent, span)
        if parent.service == span.service and parent.kind != PRODUCER:
            assert span.end <= parent.end + NANOSECONDS, (parent, span)


def parents(spans):
    by_id = {span.id: span for span in spans}
    return {step(span)[:2]: step(by_id[span.parent])[:2] for span in spans if span.parent}


def test_a_text_is_one_trace_with_both_branches(stack, collector, handle):
    say(stack, handle, "600 cal")
    sent = stack.text(handle, "50 cal")
    spans = whole_trace(collector, sent["eventID"])
    check_tree(spans)
    # The user's record is in the cache by then, and the card is there: nothing else is asked.
    assert sorted(map(step, spans)) == sorted(WAY)
    assert parents(spans) == {
        ("ingress", "publish inbound.v1"): ("ingress", "POST /webhooks/linq"),
        ("agent", "receive inbound.v1"): ("ingress", "publish inbound.v1"),
        ("agent", "process inbound.v1"): ("ingress", "publish inbound.v1"),
        ("agent", "publish replies.v1"): ("agent", "process inbound.v1"),
        ("agent", "publish islands.v1"): ("agent", "process inbound.v1"),
        ("linq-sender", "receive replies.v1"): ("agent", "publish replies.v1"),
        ("linq-sender", "process replies.v1"): ("agent", "publish replies.v1"),
        ("linq-sender", "POST /v3/messages"): ("linq-sender", "process replies.v1"),
        ("apns-pusher", "receive islands.v1"): ("agent", "publish islands.v1"),
        ("apns-pusher", "process islands.v1"): ("agent", "publish islands.v1"),
        ("apns-pusher", "POST /3/device/{token}"): ("apns-pusher", "process islands.v1"),
    }


def test_what_is_asked_of_the_registry_is_part_of_the_trace(stack, collector, handle):
    sent = stack.text(handle, "600 cal")
    # The first card of a session: the pusher asks for leave to start it, and says that APNs took the start.
    asked = {
        ("apns-pusher", "request registry.v1", PRODUCER), ("apns-pusher", "publish registry.v1", PRODUCER),
        ("token-registry", "process registry.v1", CONSUMER), ("token-registry", "publish amq.rabbitmq.reply-to", PRODUCER)}
    spans = whole_trace(collector, sent["eventID"], WAY | asked)
    check_tree(spans)
    by_id = {span.id: span for span in spans}
    causes = {step(by_id[span.parent])[:2] for span in spans if step(span)[:2] == ("token-registry", "process registry.v1")}
    assert ("apns-pusher", "request registry.v1") in causes
    assert causes <= {("apns-pusher", "request registry.v1"), ("apns-pusher", "publish registry.v1")}


def trace_of_a_caller():
    """A trace that somebody outside has begun, and the header that says so."""
    trace, span = secrets.token_hex(16), secrets.token_hex(8)
    return trace, span, {"traceparent": f"00-{trace}-{span}-01"}


def check_way(collector, trace, caller, way):
    """Waits for the steps of the way, each caused by the one before it, and the first one by the caller."""
    causes = {caller}
    for one in way:
        causes = eventually(f"{one} is caused by the step before", lambda causes=causes: {
            span.id for span in collector.trace(trace) if step(span)[:2] == one and span.parent in causes})
    assert not collector.errors


def test_what_a_registration_causes_is_in_its_caller_s_trace(stack, collector, handle):
    say(stack, handle, "600 cal")
    user = stack.state(handle)["userID"]
    trace, caller, headers = trace_of_a_caller()
    key = stack.setting("token-registry", "REGISTRY_BACKEND_KEYS")
    answer = request(
        "PUT", f"http://{stack.settings('token-registry')['HTTP_LISTEN']}/v1/users/{user}/devices/other/start-token",
        {"attributesType": "CoachAttributes", "token": secrets.token_hex(32), "environment": "production"},
        {"Authorization": f"Bearer {key}", **headers})
    assert answer.status == 204, answer.body
    # The device could not be reached before: the agent publishes what is desired once more.
    check_way(collector, trace, caller, (
        ("token-registry", "PUT /v1/users/{userID}/devices/{deviceID}/start-token"),
        ("token-registry", "publish inbound.v1"), ("agent", "process inbound.v1"), ("agent", "publish islands.v1"),
        ("apns-pusher", "process islands.v1")))
    assert user not in "".join(collector.bodies)


def test_what_a_posted_event_causes_is_in_its_sender_s_trace(stack, collector, handle):
    say(stack, handle, "600 cal")
    trace, caller, headers = trace_of_a_caller()
    body = json.dumps({"name": "meal", "handle": handle, "payload": {"calories": 320, "label": "Soup"}}).encode()
    signed = sign(stack.setting("ingress", "EVENTS_WEBHOOK_SECRETS"), body)
    answer = request("POST", stack.webhook_url.replace("/webhooks/linq", "/v1/events"), body, {**signed, **headers})
    assert answer.status == 202, answer.body
    check_way(collector, trace, caller, (
        ("ingress", "POST /v1/events"), ("ingress", "publish inbound.v1"), ("agent", "process inbound.v1"),
        ("agent", "publish islands.v1"), ("apns-pusher", "process islands.v1"),
        ("apns-pusher", "POST /3/device/{token}")))


def test_attributes_are_those_of_the_conventions(stack, collector, handle):
    say(stack, handle, "600 cal")
    sent = stack.text(handle, "50 cal")
    spans = {step(span)[:2]: span for span in whole_trace(collector, sent["eventID"])}
    published = spans["ingress", "publish inbound.v1"].attributes
    partition = published["messaging.rabbitmq.destination.routing_key"]
    assert published == {
        "messaging.system": "rabbitmq", "messaging.operation.name": "publish", "messaging.operation.type": "send",
        "messaging.destination.name": f"inbound.v1:{partition}",
        "messaging.rabbitmq.destination.routing_key": partition, "messaging.message.id": sent["eventID"],
        "messaging.message.body.size": published["messaging.message.body.size"],
        "server.address": "127.0.0.1", "server.port": published["server.port"],
    }
    processed = spans["agent", "process inbound.v1"].attributes
    assert processed["messaging.destination.name"] == f"inbound.v1:{partition}:inbound.v1.{partition}"
    assert processed["messaging.message.id"] == sent["eventID"]
    assert processed["messaging.operation.type"] == "process"
    assert processed["messaging.rabbitmq.message.delivery_tag"] > 0
    assert processed["isthmus.verdict"] == "done"
    received = spans["agent", "receive inbound.v1"]
    assert received.attributes["messaging.operation.type"] == "receive"
    assert received.end <= spans["agent", "process inbound.v1"].start + NANOSECONDS
    webhook = spans["ingress", "POST /webhooks/linq"].attributes
    assert (webhook["http.request.method"], webhook["http.response.status_code"]) == ("POST", 200)
    assert webhook["http.route"] == "/webhooks/linq"
    for name, template in (("linq-sender", "/v3/messages"), ("apns-pusher", "/3/device/{token}")):
        call = spans[name, f"POST {template}"].attributes
        assert (call["http.request.method"], call["url.template"]) == ("POST", template)
        assert 200 <= call["http.response.status_code"] < 300
        assert call["server.address"] in ("localhost", "127.0.0.1") and call["server.port"] > 0
    assert spans["agent", "process inbound.v1"].resource["service.namespace"] == "isthmus"
    assert spans["agent", "process inbound.v1"].resource["service.instance.id"]


def test_no_handle_and_no_text_is_in_a_span(stack, collector, handle):
    say(stack, handle, "a canary of 600 cal")
    sent = stack.text(handle, "a canary of 50 cal")
    whole_trace(collector, sent["eventID"])
    tokens = [stack.secret_file(name).read_text().strip() for name in ("linq-token", "hash-key", "webhook-secret")]
    for body in collector.bodies:
        for canary in (handle, handle[1:], "canary", sent["chatID"], *tokens):
            assert canary not in body


def test_a_try_that_fails_is_a_span_of_its_own(stack, collector, handle):
    say(stack, handle, "600 cal")
    assert stack.control("POST", "faults", {"linq": "error", "apns": "unavailable", "count": 1}).status == 200
    sent = stack.text(handle, "50 cal")
    spans = whole_trace(collector, sent["eventID"])
    check_tree(spans)
    tries = sorted((span for span in spans if span.name == "POST /v3/messages"), key=lambda span: span.start)
    assert [span.failed for span in tries] == [True, False]
    assert tries[0].attributes["error.type"] == str(tries[0].attributes["http.response.status_code"])
    assert [span.attributes.get("http.request.resend_count", 0) for span in tries] == [0, 1]
    pushes = sorted((span for span in spans if span.name.startswith("POST /3/device")), key=lambda span: span.start)
    assert [span.failed for span in pushes] == [True, False]


def test_nothing_breaks_without_the_collector_and_spans_wait_for_it(stack, collector, handle):
    say(stack, handle, "600 cal")
    collector.stop()
    try:
        sent = stack.text(handle, "50 cal")
        eventually("the text counts", lambda: stack.island(handle)["calories"] == 650)
        eventually("the exporter has noticed", lambda: "collector cannot be reached" in (
            stack.folder / "logs" / "agent.log").read_text())
    finally:
        collector.start()
    whole_trace(collector, sent["eventID"])
    for service in ("ingress", "agent", "linq-sender", "apns-pusher", "token-registry"):
        assert stack.metric(service, "isthmus_trace_spans_exported_total") > 0
        assert stack.metrics(service)["isthmus_trace_spans_dropped_total"] == 0


@contextmanager
def agent_behind_http(port):
    """An endpoint that says the same to everybody."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b'{"replies":[{"text":"Here I am."}]}')

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", port), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield
    server.shutdown()
    server.server_close()


def test_a_text_that_waited_for_its_agent_is_answered_in_its_own_trace(stack, collector, handle):
    port = free_port()
    secret = stack.secret_file("agent-http-secret").read_text()
    stack.restart("agent", AGENT=f"http:http://127.0.0.1:{port}/", AGENT_HTTP_SECRET=secret)
    try:
        sent = stack.text(handle, "600 cal")
        # The agent is asked three times three times before.
        eventually("it waits in the database", lambda: stack.metric("agent", "isthmus_agent_deferred_total"), seconds=90)
        with agent_behind_http(port):
            answered = {("agent", "publish replies.v1"), ("linq-sender", "POST /v3/messages")}
            eventually("it is answered", lambda: answered <= {
                step(span)[:2] for span in collector.trace_of(sent["eventID"])}, seconds=60)
    finally:
        stack.restart("agent", AGENT="coach")
