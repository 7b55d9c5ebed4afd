"""Events of the customer's own backend."""

import json
import uuid

from stack import eventually, request
from webhooks import sign


def post(stack, event, identifier=None, headers=None):
    body = json.dumps(event).encode()
    headers = headers or sign(stack.setting("ingress", "EVENTS_WEBHOOK_SECRETS"), body, identifier, at=stack.now())
    return request("POST", stack.webhook_url.replace("/webhooks/linq", "/v1/events"), body, headers)


def calories(stack, handle):
    return (stack.island(handle) or {}).get("calories")


def test_a_posted_event_moves_the_island_without_a_text(stack, someone):
    said = len(stack.thread(someone))
    meal = {"name": "meal", "handle": someone, "payload": {"calories": 320, "label": "Soup"}}
    identifier = f"evt_{uuid.uuid4().hex}"
    assert post(stack, meal, identifier).status == 202
    eventually("the Island has moved", lambda: calories(stack, someone) == 920)
    # A copy, as a backend sends that did not hear the answer, counts once; the next event shows that it was taken.
    assert post(stack, meal, identifier).status == 202
    user = stack.state(someone)["userID"]
    assert post(stack, {"name": "meal", "userID": user, "payload": {"calories": 80}}).status == 202
    eventually("the Island has moved again", lambda: calories(stack, someone) == 1000)
    assert len(stack.thread(someone)) == said


def test_an_event_is_refused_with_a_problem_that_names_the_place(stack, handle):
    secret = stack.setting("ingress", "EVENTS_WEBHOOK_SECRETS")
    event = {"name": "meal", "handle": handle}
    linqs = sign(stack.setting("ingress", "LINQ_WEBHOOK_SECRETS"), json.dumps(event).encode(), at=stack.now())
    for answer, status, words in [
            (post(stack, event, headers=linqs), 401, "signature"),
            (post(stack, event, headers={"Content-Type": "application/json"}), 401, "signature"),
            (post(stack, event, headers=sign(secret, json.dumps(event).encode(), at=stack.now() - 1000)), 401,
             "five minutes"),
            (post(stack, {**event, "userID": "x"}), 400, "either handle or userID"),
            (post(stack, {**event, "handle": "12"}), 400, "/handle"),
            (post(stack, {"name": "meal", "userID": "nobody"}), 404, "userID")]:
        assert answer.status == status, answer.body
        assert answer.headers["Content-Type"] == "application/problem+json"
        assert words in answer.json()["detail"]
