"""python3 -m unittest discover -s Examples/agent-python"""

import base64
import hashlib
import hmac
import http.client
import json
import threading
import time
import unittest

import agent

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwJ7x9mK0p1q8="


def event(text="chicken bowl, ~600 cal", kind="message", handle="+12025559876", **more):
    content = {"id": "e", "kind": kind, "receivedAt": "2026-02-05T19:31:13.736Z", **more}
    if kind == "message":
        content |= {"text": text, "chat": {"id": "c", "isGroup": False}, "parts": [], **more}
    return {
        "event": content,
        "user": {"handle": handle, "id": "user-42"},
        "session": {"id": "s", "isNew": True, "startedAt": "2026-02-05T19:31:13.736Z"},
        "island": {"attributesType": "CoachAttributes"},
    }


class SignatureTest(unittest.TestCase):
    """The example of the Standard Webhooks specification."""

    signature = agent.Signature("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    headers = {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }
    body = b'{"test": 2432232314}'
    now = 1614265330

    def check(self, body=None, now=None, **changes):
        headers = self.headers | {name.replace("_", "-"): value for name, value in changes.items()}
        return self.signature.is_valid(headers, body or self.body, now or self.now)

    def test_the_published_example_is_accepted_also_among_others(self):
        self.assertTrue(self.check())
        self.assertTrue(self.check(now=self.now + 300))
        self.assertTrue(self.check(webhook_signature="v1,AAAA v1a,x " + self.headers["webhook-signature"]))

    def test_what_was_changed_is_refused(self):
        self.assertFalse(self.check(body=b'{"test": 2432232315}'))
        self.assertFalse(self.check(webhook_id="msg_other"))
        self.assertFalse(self.check(webhook_timestamp="1614265331"))
        self.assertFalse(self.check(now=self.now + 301))
        self.assertFalse(self.check(now=self.now - 301))
        for bad in ["", "v1,", "v2,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=", "v1,é", "g0hM9SsE"]:
            self.assertFalse(self.check(webhook_signature=bad), bad)
        for bad in ["", "a.b", "a b", "x" * 129]:
            self.assertFalse(self.check(webhook_id=bad), bad)
        for bad in ["", "+1614265330", "1614265330.0", "hello"]:
            self.assertFalse(self.check(webhook_timestamp=bad), bad)


class ServerTest(unittest.TestCase):
    def setUp(self):
        self.server = agent.Server(("127.0.0.1", 0), SECRET, ":memory:")
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()

    def tearDown(self):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()
        self.server.store.database.close()

    def post(self, content, event_id="evt-1", body=None, signed=True):
        body = body if body is not None else json.dumps(content).encode()
        timestamp = str(int(time.time()))
        key = base64.b64decode(SECRET.removeprefix("whsec_"))
        code = hmac.new(key, f"{event_id}.{timestamp}.".encode() + body, hashlib.sha256).digest()
        headers = {"webhook-id": event_id, "webhook-timestamp": timestamp}
        headers["webhook-signature"] = "v1," + base64.b64encode(code if signed else bytes(32)).decode()
        connection = http.client.HTTPConnection("127.0.0.1", self.server.server_address[1], timeout=10)
        try:
            connection.request("POST", "/events", body, headers)
            response = connection.getresponse()
            return response.status, json.loads(response.read())
        finally:
            connection.close()

    def test_a_meal_is_logged_and_shown(self):
        status, answer = self.post(event())
        self.assertEqual(status, 200)
        self.assertEqual(answer["replies"], [{"text": "Logged Chicken bowl: 600 of 2000 cal today."}])
        self.assertEqual(
            answer["island"]["show"],
            {"calories": 600, "goal": 2000, "streak": 1, "lastMeal": "Chicken bowl · 600 cal"},
        )

    def test_an_event_that_comes_twice_counts_once(self):
        first = self.post(event())
        self.assertEqual(self.post(event()), first)
        _, answer = self.post(event("toast 90"), event_id="evt-2")
        self.assertEqual(answer["island"]["show"]["calories"], 690)

    def test_users_do_not_see_each_other(self):
        self.post(event())
        _, answer = self.post(event("toast 90", handle="+12025550000"), event_id="evt-2")
        self.assertEqual(answer["island"]["show"]["calories"], 90)

    def test_reaching_the_goal_lights_the_screen_up_once(self):
        _, answer = self.post(event("goal 700"), event_id="a")
        self.assertNotIn("alert", answer["island"])
        _, answer = self.post(event("soup 700"), event_id="b")
        self.assertEqual(answer["island"]["alert"]["title"], "Goal reached")
        _, answer = self.post(event("tea 1"), event_id="c")
        self.assertNotIn("alert", answer["island"])

    def test_a_new_day_begins_at_nothing(self):
        self.post(event())
        _, answer = self.post(event("hi", receivedAt="2026-02-06T07:00:00.000Z"), event_id="b")
        self.assertEqual(answer["island"]["show"]["calories"], 0)

    def test_the_end_of_a_session_ends_the_card(self):
        self.post(event())
        _, answer = self.post(event(kind="sessionEnding"), event_id="b")
        self.assertEqual(answer["island"]["end"]["calories"], 600)

    def test_what_needs_no_answer_gets_none(self):
        self.assertEqual(self.post(event(kind="reaction"), event_id="a"), (200, {}))
        self.assertEqual(self.post(event(isReconciled=True), event_id="b"), (200, {}))
        self.assertEqual(self.post(event(chat={"id": "g", "isGroup": True}), event_id="c"), (200, {}))
        self.assertEqual(self.post(event("STOP", isOptOut=True), event_id="d"), (200, {}))

    def test_a_wrong_signature_is_refused_before_anything_is_read(self):
        self.assertEqual(self.post(event(), signed=False)[0], 401)
        self.assertEqual(self.post(None, body=b"{", signed=False)[0], 401)

    def test_a_signed_body_that_is_no_event_is_refused(self):
        for body in [b"{", b"[]", b"{}", b'{"user":{"handle":"a"}}', b"\xff"]:
            self.assertEqual(self.post(None, body=body)[0], 400, body)


if __name__ == "__main__":
    unittest.main()
