"""What the services log, and what they must not."""

import json

from people import push_to_unknown_tokens
from prometheus import SERVICES, broker_port
from stack import eventually, request


def lines(stack, service):
    return (stack.folder / "logs" / f"{service}.log").read_text().splitlines()


def test_every_line_is_one_json_object(stack, handle):
    stack.control("POST", "say", {"from": handle, "text": "600 cal"})
    for service in SERVICES:
        read = [json.loads(line) for line in lines(stack, service)]
        assert read
        for line in read:
            assert {"time", "level", "service", "message"} <= set(line)
            assert line["service"] == service
            assert all(isinstance(value, str) for value in line.values())


def test_a_line_about_a_text_has_the_id_of_its_trace(stack, collector, handle):
    stack.control("POST", "say", {"from": handle, "text": "600 cal"})
    # The first try fails, which is logged at this level.
    assert stack.control("POST", "faults", {"linq": "error", "count": 1}).status == 200
    sent = stack.text(handle, "50 cal")
    eventually("the trace is there", lambda: [
        span for span in collector.trace_of(sent["eventID"]) if span.name == "POST /v3/messages" and span.failed])
    trace = collector.trace_of(sent["eventID"])[0].trace
    told = [json.loads(line) for line in lines(stack, "linq-sender") if trace in line]
    assert [line["message"] for line in told] == ["reply not accepted yet"]
    assert told[0]["trace_id"] == trace


def test_no_handle_token_or_secret_is_in_a_log_or_a_metric(stack, handle):
    """Also where things go wrong, at the level that logs most: pushes to a token that no phone has."""
    tokens = push_to_unknown_tokens(stack, handle)
    assert any('status="400"' in name or 'status="410"' in name for name in stack.metrics("apns-pusher"))
    kept = [
        path.read_text().strip() for path in stack.secret_file("").iterdir()
        if path.name.startswith("broker-") or path.name in ("webhook-secret", "linq-token", "backend-key", "hash-key")]
    assert len(kept) > 8
    canaries = [handle, handle[1:], "a canary of", *tokens, *kept]
    for service in SERVICES:
        log = "\n".join(lines(stack, service))
        metrics = request("GET", f"http://{stack.settings(service)['METRICS_LISTEN']}/metrics").body.decode()
        for canary in canaries:
            assert canary and canary not in log, f"{service}: log"
            assert canary not in metrics, f"{service}: metrics"
    broker = request("GET", f"http://127.0.0.1:{broker_port(stack)}/metrics/per-object").body.decode()
    assert "inbound.v1.00" in broker
    assert not any(canary in broker for canary in canaries)
