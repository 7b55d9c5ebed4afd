"""Linq's own SDK against the simulator: what holds for the simulator is what linq-sender is tested with."""

import json
import uuid

import linq
import pytest
from linq import LinqAPIV3
from linq.types import MessageReceivedWebhookEvent
from pydantic import TypeAdapter, ValidationError
from standardwebhooks import WebhookVerificationError

from receiver import Receiver
from stack import eventually


@pytest.fixture
def client(stack):
    token = stack.setting("linq-sender", "LINQ_API_TOKEN")
    with LinqAPIV3(
            api_key=token, base_url=stack.linq_url, max_retries=0, timeout=60,
            _strict_response_validation=True) as client:
        yield client


def parts(text):
    return [{"type": "text", "value": text}]


def outbound(stack, handle):
    return [message["text"] for message in stack.thread(handle) if message["direction"] == "outbound"]


def test_messages_create_sends(stack, client, handle):
    answer = client.messages.create(to=[handle], message={"parts": parts("to a handle")})
    assert uuid.UUID(answer.chat_id) and uuid.UUID(answer.message.id)
    assert answer.message.delivery_status in ("pending", "queued", "sent")
    assert answer.message.parts[0].value == "to a handle"
    assert outbound(stack, handle) == ["to a handle"]


def test_chats_messages_send_sends_into_the_chat(stack, client, handle):
    first = client.messages.create(to=[handle], message={"parts": parts("one")})
    second = client.chats.messages.send(first.chat_id, message={"parts": parts("two")})
    assert second.chat_id == first.chat_id
    assert second.message.id != first.message.id
    assert outbound(stack, handle) == ["one", "two"]


def test_the_same_idempotency_key_sends_once(stack, client, handle):
    message = {"parts": parts("once"), "idempotency_key": str(uuid.uuid4())}
    first = client.messages.create(to=[handle], message=message)
    again = client.messages.create(to=[handle], message=message)
    assert again.message.id == first.message.id
    other = client.messages.create(to=[handle], message={**message, "idempotency_key": str(uuid.uuid4())})
    assert other.message.id != first.message.id
    assert outbound(stack, handle) == ["once", "once"]


def test_a_wrong_token_is_refused(stack, handle):
    with LinqAPIV3(api_key="wrong", base_url=stack.linq_url, max_retries=0) as client:
        with pytest.raises(linq.AuthenticationError) as refused:
            client.messages.create(to=[handle], message={"parts": parts("hello")})
    assert refused.value.code == 2004
    assert outbound(stack, handle) == []


@pytest.mark.parametrize("to, message", [
    (["not a handle"], {"parts": parts("hello")}),
    (None, {"parts": parts("one") + parts("two")}),
    (None, {"parts": []}),
    (None, {"parts": parts("x" * 10_001)}),
])
def test_a_bad_message_is_refused_as_linq_refuses_it(stack, client, handle, to, message):
    with pytest.raises(linq.BadRequestError) as refused:
        client.messages.create(to=to or [handle], message=message)
    assert 1001 <= refused.value.code <= 1005
    assert outbound(stack, handle) == []


def test_a_chat_that_is_not_there_is_not_found(client):
    with pytest.raises(linq.NotFoundError):
        client.chats.messages.send(str(uuid.uuid4()), message={"parts": parts("hello")})


@pytest.fixture
def subscription(client):
    """A subscription of our own beside ingress's, as the SDK makes it."""
    with Receiver() as receiver:
        made = client.webhook_subscriptions.create(
            target_url=f"{receiver.url}/hooks?version=2026-02-03", subscribed_events=["message.received"])
        try:
            yield receiver, made.signing_secret
        finally:
            client.webhook_subscriptions.delete(made.id)


def delivered(receiver):
    """The webhook of the one text that was sent, as headers and text."""
    _, _, headers, body = eventually("the webhook", lambda: receiver.requests[:1])[0]
    return {name.lower(): value for name, value in headers.items()}, body.decode()


def test_webhooks_are_what_the_sdk_unwraps(stack, client, handle, subscription):
    receiver, secret = subscription
    sent = stack.text(handle, "hello, SDK")
    headers, body = delivered(receiver)
    event = client.webhooks.unwrap(body, headers=headers, key=secret)
    assert event.event_type == "message.received"
    assert event.event_id == sent["eventID"] == headers["webhook-id"]
    assert event.webhook_version == "2026-02-03"
    assert event.data.id == sent["messageID"]
    assert event.data.chat.id == sent["chatID"]
    assert event.data.sender_handle.handle == handle
    assert event.data.parts[0].value == "hello, SDK"
    with pytest.raises(WebhookVerificationError):
        client.webhooks.unwrap(body.replace("SDK", "KDS"), headers=headers, key=secret)


@pytest.mark.parametrize("more", [
    {}, {"service": "SMS"}, {"media": "https://example.com/bowl.jpg"}, {"link": "https://example.com"},
    {"group": ["+12025550111"], "mention": True}, {"reconciled": True}], ids=str)
def test_webhooks_pass_the_sdks_types_checked_strictly(stack, client, handle, subscription, more):
    """unwrap() takes anything; the types, held against the body, do not."""
    receiver, _ = subscription
    stack.text(handle, "hello, types", **more)
    _, body = delivered(receiver)
    types = TypeAdapter(MessageReceivedWebhookEvent)
    types.validate_python(json.loads(body))
    broken = json.loads(body)
    del broken["data"]["sender_handle"]
    with pytest.raises(ValidationError):
        types.validate_python(broken)
