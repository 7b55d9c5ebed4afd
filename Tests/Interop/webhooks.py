"""Webhooks as Linq makes them, signed by the package that Linq's own SDK uses."""

import base64
import hashlib
import hmac
import json
import time
import uuid
from datetime import datetime, timezone

from standardwebhooks import Webhook

from stack import request


def received(handle, text, is_group=False):
    """A `message.received` of version 2026-02-03, as bytes."""
    now = datetime.now(timezone.utc).isoformat().replace("+00:00", "Z")
    person = {
        "handle": handle, "id": str(uuid.uuid4()), "is_me": False, "joined_at": now, "left_at": None,
        "service": "iMessage", "status": "active"}
    line = {**person, "handle": "+12025551234", "id": str(uuid.uuid4()), "is_me": True}
    return json.dumps({
        "api_version": "v3", "webhook_version": "2026-02-03", "event_type": "message.received",
        "event_id": str(uuid.uuid4()), "created_at": now, "trace_id": uuid.uuid4().hex, "partner_id": "partner",
        "data": {
            "chat": {"id": str(uuid.uuid4()), "is_group": is_group, "owner_handle": line}, "id": str(uuid.uuid4()),
            "direction": "inbound", "sender_handle": person, "parts": [{"type": "text", "value": text}],
            "effect": None, "reply_to": None, "sent_at": now, "delivered_at": None, "read_at": None,
            "service": "iMessage"}}).encode()


def sign(secret, body, identifier=None, at=None):
    """The three headers of Standard Webhooks."""
    identifier = identifier or f"msg_{uuid.uuid4().hex}"
    at = datetime.fromtimestamp(int(time.time() if at is None else at), timezone.utc)
    signature = Webhook(secret).sign(identifier, at, body.decode())
    return {
        "Content-Type": "application/json", "webhook-id": identifier,
        "webhook-timestamp": str(int(at.timestamp())), "webhook-signature": signature}


def sign_raw(secret, body):
    """The same for any bytes: the package signs text only."""
    headers = sign(secret, b"")
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    signature = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    return {**headers, "webhook-signature": f"v1,{signature}"}


def sign_legacy(secret, body, at=None):
    """Linq's older headers: the key is the secret's whole text."""
    at = str(at if at is not None else int(time.time()))
    digest = hmac.new(secret.encode(), at.encode() + b"." + body, hashlib.sha256).hexdigest()
    return {"Content-Type": "application/json", "X-Webhook-Timestamp": at, "X-Webhook-Signature": digest}


def deliver(stack, body, headers):
    """The status that ingress answers with."""
    return request("POST", stack.webhook_url, body, headers).status
