"""aioapns, which Python teams use, against the simulator's APNs: what holds for it is what our pusher is tested with."""

import asyncio
import json
import ssl
import subprocess
import time
import uuid

import pytest
from aioapns import APNs, NotificationRequest, PushType
from aioapns.connection import APNsProductionClientProtocol
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from receiver import Receiver
from stack import eventually, request

STATE = {"calories": 640, "goal": 2100, "streak": 6, "lastMeal": "Oats · 640 cal"}


class Phone:
    """A simulator of its own, with one phone whose app talks to the test in place of the registry."""

    def __init__(self, stack, registry):
        self.user = f"user-{uuid.uuid4().hex[:8]}"
        self.registry = registry
        settings = {**stack.settings("simulator"), "SIMULATOR_REGISTRY_URL": registry.url}
        self.topic = settings["APNS_BUNDLE_ID"] + ".push-type.liveactivity"
        self.key_id, self.team_id = settings["APNS_KEY_ID"], settings["APNS_TEAM_ID"]
        self.key = stack.secret_file("apns-key.p8").read_text()
        self.trust = ssl.create_default_context(cafile=str(stack.secret_file("ca.pem")))
        self.trust.set_alpn_protocols(["h2"])
        settings["SIMULATOR_LISTEN"] = settings["SIMULATOR_APNS_LISTEN"] = "127.0.0.1:0"
        self.log = stack.folder / "logs" / "aioapns-simulator.log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [stack.program("simulator")], env=settings, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def __enter__(self):
        try:
            ready = eventually("the simulator is ready", self.ready_line)
            self.apns_port, self.url = int(ready["apnsPort"]), f"http://127.0.0.1:{ready['port']}"
            answer = request("POST", f"{self.url}/control/users", {
                "userID": self.user, "handles": ["+12025550177"], "phones": [{"deviceID": "phone"}]})
            assert answer.status == 200, answer.body
            self.start_token = eventually("the app registers", self.registered)
            return self
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def ready_line(self):
        assert self.process.poll() is None, self.log.read_text()
        for line in self.log.read_text().splitlines():
            entry = json.loads(line)
            if "apnsPort" in entry:
                return entry
        return None

    def registered(self):
        for _, path, _, body in self.registry.requests:
            if path.endswith("/start-token"):
                return json.loads(body)["token"]
        return None

    def island(self):
        phones = request("GET", f"{self.url}/control/state?user={self.user}").json()["phones"]
        return phones[0].get("island")

    def push(self, token, body, key=None, push_type=PushType.LIVEACTIVITY, topic=None):
        """One push by aioapns; its result."""

        async def send():
            APNsProductionClientProtocol.APNS_SERVER = "localhost"
            APNsProductionClientProtocol.APNS_PORT = self.apns_port
            client = APNs(
                key=key or self.key, key_id=self.key_id, team_id=self.team_id, topic=topic or self.topic,
                ssl_context=self.trust, max_connection_attempts=1)
            try:
                return await asyncio.wait_for(
                    client.send_notification(NotificationRequest(
                        device_token=token, message=body, priority=10, push_type=push_type)), 15)
            finally:
                for connection in client.pool.connections:
                    connection.close()

        return asyncio.run(send())


def start():
    return {"aps": {
        "timestamp": int(time.time()), "event": "start", "attributes-type": "CoachAttributes",
        "attributes": {"userID": "user", "sessionID": "session"}, "content-state": STATE,
        "alert": {"title": "Coach", "body": "Here we go"}}}


@pytest.fixture
def phone(stack):
    with Receiver() as registry, Phone(stack, registry) as phone:
        yield phone


def test_a_start_gets_through_and_the_card_is_there(phone):
    result = phone.push(phone.start_token, start())
    assert (result.is_successful, result.status) == (True, "200"), result.description
    card = eventually("the card", phone.island)
    assert card["contentState"] == STATE
    assert card["sessionID"] == "session"


@pytest.mark.parametrize("change, status, reason", [
    ({"token": "ab" * 80}, "400", "BadDeviceToken"),
    ({"key": "another"}, "403", "InvalidProviderToken"),
    ({"push_type": PushType.ALERT}, "400", None),
    ({"topic": "com.example.other.push-type.liveactivity"}, "400", None),
    ({"body": {"aps": {**start()["aps"], "attributes": {"userID": "u" * 5000}}}}, "413", "PayloadTooLarge"),
], ids=["token", "key", "push type", "topic", "size"])
def test_what_apple_refuses_is_refused(phone, change, status, reason):
    push = {"token": phone.start_token, "body": start(), **change}
    if push.get("key"):
        push["key"] = ec.generate_private_key(ec.SECP256R1()).private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()).decode()
    result = phone.push(**push)
    assert not result.is_successful
    assert result.status == status
    assert reason in (None, result.description)
    assert phone.island() is None


def test_what_ios_would_drop_is_dropped_though_apple_takes_it(phone):
    body = start()
    body["aps"]["content-state"] = {**STATE, "calories": "640"}
    assert phone.push(phone.start_token, body).is_successful
    dropped = eventually(
        "the drop", lambda: request("GET", f"{phone.url}/control/state?user={phone.user}").json()["phones"][0]["dropped"])
    assert "calories" in dropped[0]["reason"]
    assert phone.island() is None
