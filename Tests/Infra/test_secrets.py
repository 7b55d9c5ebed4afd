"""What make-secrets makes and what the servers make of it, each judged by somebody else's program."""

import base64
import hashlib
import json
import re
import socket
import subprocess
import time

import pytest

from conftest import ROOT

MAKE = ROOT / "infra/docker/make-secrets"


def test_secrets_are_random_and_nobody_else_may_enter(secrets):
    assert secrets.stat().st_mode & 0o777 == 0o700
    assert (secrets / "ca-key.pem").stat().st_mode & 0o777 == 0o600
    passwords = [path.read_text() for path in secrets.iterdir() if "password-" in path.name or path.name == "backend-key"]
    assert len(passwords) > 10 and len(set(passwords)) == len(passwords)
    assert all(re.fullmatch("[0-9a-f]{64}", password) for password in passwords)


def test_what_the_agent_signs_with_is_made_and_a_model_s_key_is_not(secrets):
    assert re.fullmatch("whsec_[A-Za-z0-9+/]{43}=", (secrets / "agent-http-secret").read_text())
    assert (secrets / "agent-model-key").read_text() == ""


def test_the_broker_s_users_have_the_passwords_of_their_addresses(secrets):
    users = json.loads((secrets / "rabbitmq-users.json").read_text())["users"]
    permissions = json.loads((ROOT / "infra/rabbitmq/permissions.json").read_text())["permissions"]
    assert {user["name"] for user in users} == {permission["user"] for permission in permissions}
    for user in users:
        # RabbitMQ's own rule: Base64 of four bytes of salt and the SHA-256 of salt and password.
        told = base64.b64decode(user["password_hash"])
        name, password = re.fullmatch(
            r"amqps://(.*):(.*)@rabbitmq:5671/", (secrets / f"amqp-url-{user['name']}").read_text()).groups()
        assert name == user["name"] and len(told) == 36
        assert told[4:] == hashlib.sha256(told[:4] + password.encode()).digest()
        assert user["tags"] == (["monitoring"] if name in ("operator", "monitor") else [])


def test_run_again_it_keeps_what_is_there_and_changes_only_what_was_deleted(secrets, program):
    environment = {"ISTHMUS_SECRETS": str(secrets)}
    before = {path.name: path.read_text() for path in secrets.iterdir()}
    inode = (secrets / "amqp-url-agent").stat().st_ino
    (secrets / "rabbitmq-password-agent").unlink()
    program(MAKE, environment=environment)
    after = {path.name: path.read_text() for path in secrets.iterdir()}
    changed = {name for name in before if before[name] != after[name]}
    assert changed == {"rabbitmq-password-agent", "amqp-url-agent", "rabbitmq-users.json"}
    assert (secrets / "amqp-url-agent").stat().st_ino == inode, "a container that holds it sees the change"


def test_what_only_a_person_can_bring_is_named_and_not_made(tmp_path, program):
    told = program(MAKE, environment={"ISTHMUS_SECRETS": str(tmp_path / "real")})
    for name in ("linq-token", "webhook-secret", "apns-key.p8", "jwks.json"):
        assert name in told and not (tmp_path / "real" / name).exists()
    assert not (tmp_path / "real" / "sign-in-key.pem").exists()


def test_the_backend_s_events_have_a_secret_of_their_own(secrets, tmp_path, program):
    assert (secrets / "events-secret").read_text() != (secrets / "webhook-secret").read_text()
    program(MAKE, environment={"ISTHMUS_SECRETS": str(tmp_path / "real")})
    secret = (tmp_path / "real" / "events-secret").read_text()
    assert secret.startswith("whsec_") and len(base64.b64decode(secret.removeprefix("whsec_"), validate=True)) == 32


@pytest.mark.parametrize("name, host, other", [
    ("rabbitmq", "rabbitmq", "postgres"), ("postgres", "postgres", "redis"), ("postgres", "postgres-rw", "rabbitmq"),
    ("apns", "simulator", "localhost")])
def test_certificates_are_for_their_host_alone(secrets, program, name, host, other):
    verify = ("openssl", "verify", "-CAfile", secrets / "ca.pem", "-purpose", "sslserver", "-verify_hostname")
    program(*verify, host, secrets / f"{name}.pem")
    assert "ostname mismatch" in program(*verify, other, secrets / f"{name}.pem", status=2)


def test_the_key_set_is_the_sign_in_key_s(secrets, program):
    key = json.loads((secrets / "jwks.json").read_text())["keys"][0]
    told = program("openssl", "pkey", "-in", secrets / "sign-in-key.pem", "-noout", "-text_pub")
    point = bytes.fromhex("".join(re.findall(r"^ +([0-9a-f:]+)$", told, re.MULTILINE)).replace(":", ""))
    coordinates = [base64.urlsafe_b64decode(key[axis] + "=") for axis in "xy"]
    assert point == b"\x04" + coordinates[0] + coordinates[1]


@pytest.fixture
def redis(secrets, tmp_path):
    """A Redis with the project's own configuration, its address and files apart."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    process = subprocess.Popen(
        ["redis-server", ROOT / "infra/redis/redis.conf", "--bind", "127.0.0.1", "--port", str(port), "--aclfile",
         secrets / "redis-users.acl", "--dir", tmp_path], stdout=subprocess.DEVNULL)

    def ask(user, *words):
        command = ["redis-cli", "-p", str(port), "--no-auth-warning"]
        if user:
            command += ["--user", user, "--pass", (secrets / f"redis-password-{user}").read_text()]
        return subprocess.run([*command, *words], capture_output=True, text=True, timeout=60).stdout.strip()

    try:
        deadline = time.monotonic() + 60
        while "NOAUTH" not in ask(None, "PING"):
            assert time.monotonic() < deadline and process.poll() is None
            time.sleep(0.05)
        yield ask
    finally:
        process.terminate()
        process.wait(60)


def test_a_service_does_in_the_cache_what_look_ups_need_and_nothing_else(redis):
    script = "redis.call('HSET',KEYS[1],'v','1') redis.call('PEXPIRE',KEYS[1],1000) return 1"
    for user in ("agent", "apns-pusher", "token-registry"):
        assert redis(user, "PING") == "PONG"
        assert redis(user, "EVAL", script, "1", "registry:v1:x") == "1"
        assert redis(user, "HGET", "registry:v1:x", "v") == "1"
        for words in (
            ("HGET", "other", "v"), ("EVAL", script, "1", "other"), ("EVAL", "return redis.call('FLUSHALL')", "0"),
            ("FLUSHALL",), ("KEYS", "*"), ("CONFIG", "GET", "*"), ("ACL", "LIST"), ("SHUTDOWN",), ("PUBLISH", "a", "b"),
        ):
            # A refusal within a script says so in other words.
            assert re.search("NOPERM|no permission|can't run this command|can't access", redis(user, *words)), words
    assert "NOAUTH" in redis(None, "HGET", "registry:v1:x", "v")
    # No disk, and no more memory than it was given.
    assert redis("agent", "SAVE").startswith("NOPERM")


def test_print_secrets_gives_each_service_what_it_mounts(kubernetes_secrets, manifests):
    wanted = {
        volume["secret"]["secretName"]
        for manifest in manifests if manifest["kind"] == "Deployment"
        for volume in manifest["spec"]["template"]["spec"]["volumes"] if "secret" in volume
    }
    assert wanted <= set(kubernetes_secrets)
    for manifest in manifests:
        if manifest["metadata"].get("labels", {}).get("app.kubernetes.io/component") != "service":
            continue
        name = manifest["metadata"]["name"]
        values = [entry["value"] for entry in manifest["spec"]["template"]["spec"]["containers"][0]["env"]]
        files = {value.removeprefix("/run/secrets/") for value in values if value.startswith("/run/secrets/")}
        assert files <= set(kubernetes_secrets[name]), name
    address = kubernetes_secrets["agent"]["database-url-agent"]
    assert b"@postgres-rw:5432/agent?sslmode=verify-full" in base64.b64decode(address)
