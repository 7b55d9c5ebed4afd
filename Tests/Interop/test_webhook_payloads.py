"""Every payload that Linq's documents and users show is answered with a 2xx: any other 4xx would lose it for ever."""

from pathlib import Path

import pytest

from webhooks import deliver, sign, sign_raw

FIXTURES = sorted((Path(__file__).parent / "fixtures").glob("*.json"))
# What somebody wrote or did to us: these go to the agent. The rest is counted by its type.
PUBLISHED = {
    "message.edited", "message.received-2025", "message.received-2026", "message.received-bare", "message.received-group-mention-email",
    "message.received-link-nulls", "message.received-media", "message.received-new-part-types",
    "message.received-reconciled", "message.received-sms-stop", "reaction.added", "reaction.removed",
}


def test_there_are_payloads():
    assert len(FIXTURES) >= 27
    assert PUBLISHED <= {path.stem for path in FIXTURES}


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_payload(stack, path):
    body = path.read_bytes()
    secret = stack.setting("ingress", "LINQ_WEBHOOK_SECRETS")
    before = stack.metrics("ingress")
    assert deliver(stack, body, sign(secret, body)) in range(200, 300)
    after = stack.metrics("ingress")
    changed = {name: after[name] - before.get(name, 0) for name in after}

    def change(prefix):
        return sum(value for name, value in changed.items() if name.startswith(prefix))

    assert change("isthmus_ingress_unreadable_total") == 0
    assert change("isthmus_ingress_events_total") == (1 if path.stem in PUBLISHED else 0)
    assert change("isthmus_ingress_ignored_total") == (0 if path.stem in PUBLISHED else 1)
    # And not because everything is.
    assert deliver(stack, body, {"Content-Type": "application/json"}) == 401


@pytest.mark.parametrize("body", [b"not JSON", b"[]", b"{}", b'{"event_type":"message.received","data":7}', b"\xff\xfe"])
def test_what_cannot_be_read_is_kept_and_counted(stack, body):
    """Genuine but not understood: parked whole, so that nothing is lost behind the 2xx."""
    secret = stack.setting("ingress", "LINQ_WEBHOOK_SECRETS")
    before = stack.metric("ingress", "isthmus_ingress_unreadable_total")
    assert deliver(stack, body, sign_raw(secret, body)) in range(200, 300)
    assert stack.metric("ingress", "isthmus_ingress_unreadable_total") == before + 1
