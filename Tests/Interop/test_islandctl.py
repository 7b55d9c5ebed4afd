"""islandctl against what it reaches out to: the stack's own servers, the simulator, nghttpd, and Linq's SDK."""

import http.server
import json
import os
import stat
import subprocess
import threading
import uuid

import pytest
from linq import LinqAPIV3
from standardwebhooks import Webhook

from receiver import Receiver
from stack import eventually
from test_nghttpd import Nghttpd


@pytest.fixture
def islandctl(stack):
    def run(*arguments, **settings):
        """The command with exactly these settings; the finished process."""
        environment = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", **settings}
        return subprocess.run(
            [stack.program("islandctl"), *arguments], env=environment, stdin=subprocess.DEVNULL, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)

    return run


@pytest.fixture
def linq(stack):
    settings = stack.settings("linq-sender")
    return {name: settings[name] for name in ("LINQ_API_URL", "LINQ_API_TOKEN_FILE")}


@pytest.fixture
def apple(stack):
    return {name: value for name, value in stack.settings("apns-pusher").items() if name.startswith("APNS_")}


def answer(result, status=0):
    assert result.returncode == status, (result.stdout, result.stderr)
    return json.loads(result.stdout)


# Doctor


def outcomes(result, status):
    return {finding["part"]: (finding["outcome"], finding["words"]) for finding in answer(result, status)}


def test_doctor_finds_all_of_a_running_stack_well(stack, islandctl, linq, apple):
    agent = stack.settings("agent")
    settings = {
        **linq, **apple, **{name: agent[name] for name in ("AMQP_URL", "PARTITIONS", "REDIS_URL", "DATABASE_URL")}}
    found = outcomes(islandctl("doctor", "--json", **settings), 0)
    assert {part: outcome for part, (outcome, _) in found.items()} == dict.fromkeys(
        ["broker", "redis", "database", "linq", "apple"], "well")
    assert "takes key, team and bundle id" in found["apple"][1]
    said = islandctl("doctor", **settings)
    assert said.returncode == 0 and len(said.stdout.splitlines()) == 5
    password = agent["AMQP_URL"].split(":")[2].split("@")[0]
    assert password not in said.stdout + said.stderr


def test_doctor_names_what_is_wrong_and_leaves_out_what_is_not_set(stack, islandctl, linq, apple, tmp_path):
    nothing = islandctl("doctor")
    assert nothing.returncode == 2 and "none of the services' settings" in nothing.stderr
    (tmp_path / "key.p8").write_text(subprocess.run(
        ["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"], check=True, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout)
    agent = stack.settings("agent")
    found = outcomes(islandctl(
        "doctor", "--json", **{**apple, "APNS_KEY_FILE": str(tmp_path / "key.p8")}, LINQ_API_TOKEN="wrong",
        LINQ_API_URL=linq["LINQ_API_URL"], AMQP_URL=agent["AMQP_URL"], PARTITIONS="3",
        REDIS_URL="redis://127.0.0.1:1/0"), 1)
    assert found["database"] == ("skipped", "DATABASE_URL is not set")
    for part, words in [("apple", "InvalidProviderToken"), ("linq", "LINQ_API_TOKEN is not accepted"), ("redis", "")]:
        assert found[part][0] == "ill" and words in found[part][1], found
    assert found["broker"][0] == "well"
    found = outcomes(islandctl(
        "doctor", "--json", AMQP_URL=agent["AMQP_URL"], PARTITIONS="200", APNS_KEY_FILE=apple["APNS_KEY_FILE"],
        DATABASE_URL="postgres://u:p@127.0.0.1:1/x?sslmode=disable"), 1)
    assert "inbound.v1." in found["broker"][1]
    assert found["apple"] == ("ill", "APNS_KEY_ID, APNS_TEAM_ID, APNS_BUNDLE_ID is not set")
    assert found["database"][0] == "ill"


# Push


def tokens(stack, device):
    return stack.control("GET", f"phones/{device}/tokens").json()


def test_a_card_is_started_moved_and_ended_by_hand(stack, islandctl, apple, handle, tmp_path):
    device = "by-hand-" + handle[1:]
    added = stack.control("POST", "users", {
        "userID": "user-" + device, "handles": [handle], "phones": [{"deviceID": device}]})
    assert added.status in (200, 201), added.body
    start = tokens(stack, device)["startTokens"]["CoachAttributes"]
    started = answer(islandctl("push", "coach", "--event", "start", "--token", start, "--user", "sam", "--json", **apple))
    assert started["accepted"] and started["body"]["aps"]["attributes-type"] == "CoachAttributes"
    eventually("the card is up", lambda: (stack.island(handle) or {}).get("calories") == 1240)
    [update] = eventually("it has a token", lambda: list(tokens(stack, device)["updateTokens"].values()))
    state = tmp_path / "state.json"
    state.write_text('{"calories":1300,"goal":2100,"streak":6,"lastMeal":"Plum · 60 cal"}')
    # aps.timestamp counts in seconds, and the phone drops what is not newer than what it shows.
    eventually("the card moves", lambda: islandctl(
        "push", "coach", "--event", "update", "--token", update, "--state", str(state), **apple).returncode == 0
        and stack.island(handle).get("calories") == 1300)
    ended = islandctl("push", "coach", "--event", "end", "--token", update, "--dismiss-after", "0s", **apple)
    assert ended.returncode == 0 and ended.stdout.startswith("accepted (200, production, ")
    eventually("the card is gone", lambda: not stack.island(handle))


def test_what_would_not_show_is_not_sent_and_what_apns_says_is_explained(islandctl, apple, tmp_path):
    state = tmp_path / "state.json"
    state.write_text('{"calories":600.5,"goal":2100,"streak":6,"lastMeal":"Oats"}')
    made_up = "ab" * 32
    update = ("push", "coach", "--event", "update", "--token", made_up)
    dropped = islandctl(*update, "--state", str(state), **{**apple, "APNS_URL": "https://127.0.0.1:1"})
    assert dropped.returncode == 1 and "fraction-into-int" in dropped.stdout
    unknown = islandctl(*update, **apple)
    assert unknown.returncode == 1 and "BadDeviceToken" in unknown.stdout and "--environment" in unknown.stdout
    assert answer(islandctl(*update, "--json", **apple), 1)["reason"] == "BadDeviceToken"
    topic = islandctl(*update, "--bundle", "com.example.other", **apple)
    assert topic.returncode == 1 and "bundle id" in topic.stdout
    away = islandctl(*update, **{**apple, "APNS_URL": "https://localhost:1"})
    assert away.returncode == 3 and "did not answer" in away.stderr
    for wrong, words in [
            (("push", "coach", "--event", "stop", "--token", made_up), "--event"),
            (("push", "coach", "--event", "end"), "--token"), (update[:-1] + ("xyz",), "hexadecimal"),
            (update + ("--priority", "7"), "5 or 10"), (update + ("--key", str(tmp_path / "none.p8")), "none.p8")]:
        result = islandctl(*wrong, **apple)
        assert result.returncode == 2 and words in result.stderr, result.stderr
    result = islandctl(*update)
    assert result.returncode == 2 and "APNS_KEY_FILE" in result.stderr


def test_a_push_by_hand_is_what_a_server_that_is_not_ours_understands(stack, islandctl, apple, tool, tmp_path):
    server = Nghttpd(tool("nghttpd"), tmp_path)
    server.start(stack.secret_file("server-key.pem"), stack.secret_file("server.pem"))
    token = uuid.uuid4().hex * 2
    try:
        (tmp_path / "3" / "device").mkdir(parents=True)
        result = islandctl(
            "push", "coach", "--event", "start", "--token", token.upper(),
            **{**apple, "APNS_URL": f"https://localhost:{server.port}"})
    finally:
        server.stop()
    assert result.returncode in (0, 1), result.stderr
    assert server.headers(":path") == [f"/3/device/{token}"]
    assert server.headers("apns-push-type") == ["liveactivity"]
    assert server.headers("apns-topic") == [apple["APNS_BUNDLE_ID"] + ".push-type.liveactivity"]
    assert server.headers("apns-priority") == ["10"]


# Linq


def test_a_subscription_is_made_listed_used_and_ended(stack, islandctl, linq, handle, tmp_path):
    secret_file = tmp_path / "secret"
    with Receiver() as receiver:
        made = answer(islandctl(
            "linq", "subscribe", receiver.url, "--secret-file", str(secret_file), "--json", **linq))
        try:
            assert made["target_url"] == receiver.url + "?version=2026-02-03"
            assert stat.S_IMODE(secret_file.stat().st_mode) == 0o600
            secret = secret_file.read_text().rstrip("\n")
            assert secret.startswith("whsec_") and secret not in json.dumps(made)
            [one] = [each for each in answer(islandctl("linq", "list", "--json", **linq)) if each["id"] == made["id"]]
            assert one["subscribed_events"] == [
                "message.received", "message.edited", "reaction.added", "reaction.removed"]
            assert made["id"] in islandctl("linq", "list", **linq).stdout
            stack.text(handle, "hello")
            _, _, headers, body = eventually("a webhook", lambda: receiver.requests and receiver.requests[0])
            Webhook(secret).verify(body, headers)
            # The secret is shown once: a file that is there is not written over, and nothing is subscribed in vain.
            again = islandctl("linq", "subscribe", receiver.url + "/2", "--secret-file", str(secret_file), **linq)
            assert again.returncode == 2 and "is there already" in again.stderr
            assert secret_file.read_text().rstrip("\n") == secret
            # Linq wants each address once; what it refuses leaves no file behind.
            twice = islandctl("linq", "subscribe", receiver.url, "--secret-file", str(tmp_path / "other"), **linq)
            assert twice.returncode == 1 and "must be unique" in twice.stderr
            assert not (tmp_path / "other").exists()
            assert len(answer(islandctl("linq", "list", "--json", **linq))) == 2
        finally:
            gone = islandctl("linq", "delete", made["id"], **linq)
    assert gone.returncode == 0 and made["id"] in gone.stdout
    assert islandctl("linq", "delete", made["id"], **linq).returncode == 1
    denied = islandctl("linq", "list", LINQ_API_URL=linq["LINQ_API_URL"], LINQ_API_TOKEN="wrong")
    assert denied.returncode == 1 and "LINQ_API_TOKEN" in denied.stderr
    assert islandctl("linq", "list", LINQ_API_URL="http://127.0.0.1:1", LINQ_API_TOKEN="t").returncode == 3
    assert islandctl("linq", "list").returncode == 2


class Recorder(http.server.BaseHTTPRequestHandler):
    asked = []

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append((self.path, self.headers["Authorization"], body))
        now = "2026-02-05T19:31:13Z"
        answer = json.dumps({
            "id": str(uuid.uuid4()), "created_at": now, "updated_at": now, "is_active": True,
            "signing_secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", **body}).encode()
        self.send_response(201)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


def test_a_subscription_is_asked_for_as_linqs_sdk_asks(islandctl, tmp_path):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Recorder)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/api/partner"
    target = "https://isthmus.example/webhooks/linq"
    try:
        answer(islandctl(
            "linq", "subscribe", target, "--secret-file", str(tmp_path / "secret"), "--events",
            "message.received,message.edited", "--phone-numbers", "+12025551234", "--json",
            LINQ_API_URL=url, LINQ_API_TOKEN="t0k"))
        with LinqAPIV3(api_key="t0k", base_url=url, max_retries=0, _strict_response_validation=True) as client:
            client.webhook_subscriptions.create(
                target_url=target + "?version=2026-02-03", subscribed_events=["message.received", "message.edited"],
                phone_numbers=["+12025551234"])
    finally:
        server.shutdown()
    assert len(Recorder.asked) == 2 and Recorder.asked[0] == Recorder.asked[1]
