"""What Linq and APNs do beyond a wrong answer: opt-outs, two subscriptions, dead tokens, connections that end or lead
elsewhere; and clocks that jump."""

import shutil
import socket
import ssl
import subprocess
import threading
import time
from contextlib import contextmanager
from datetime import datetime, timezone
from urllib.parse import urlsplit

import pytest

from load import Copies, Load
from proxy import Proxy
from stack import eventually, request
from test_faults import fail

SUBSCRIPTIONS = "/v3/webhook-subscriptions"

pytestmark = pytest.mark.usefixtures("nothing_is_parked")


def test_everybody_has_opted_out(stack, table):
    """Such a reply is dropped and counted: nobody wants it. All others go on, and so does the Island."""
    with Load(stack, "Linq: opted-out, for 3 s") as load:
        before = stack.metric("linq-sender", "isthmus_replies_opted_out_total")
        fail(stack, 3, linq="opted-out")
        dropped = int(stack.metric("linq-sender", "isthmus_replies_opted_out_total") - before)
    assert dropped > 0
    load.judge(table, dropped=dropped)


def subscriptions(stack, method, path="", body=None):
    """What Linq answers about its subscriptions."""
    token = stack.setting("linq-sender", "LINQ_API_TOKEN")
    answer = request(
        method, stack.linq_url + SUBSCRIPTIONS + path, body, {"Authorization": f"Bearer {token}"})
    assert answer.status < 300, answer.body
    return answer


def subscribe(stack, mark):
    """Has Linq send the same events once more, signed with another secret."""
    return subscriptions(stack, "POST", body={
        "target_url": f"{stack.webhook_url}?version=2026-02-03&{mark}", "subscribed_events": ["message.received"],
    }).json()


@pytest.fixture
def second_subscription(stack):
    subscription = subscribe(stack, "again=1")
    first = stack.setting("ingress", "LINQ_WEBHOOK_SECRETS")
    stack.restart("ingress", LINQ_WEBHOOK_SECRETS=f"{first},{subscription['signing_secret']}")
    try:
        yield
    finally:
        subscriptions(stack, "DELETE", f"/{subscription['id']}")
        stack.restart("ingress", LINQ_WEBHOOK_SECRETS=first)


def test_two_subscriptions(stack, table, second_subscription):
    before = stack.metric("ingress", "isthmus_ingress_events_total")
    with Copies(stack, "webhooks: each from two subscriptions", copies=1) as load:
        pass
    load.judge(table)
    assert stack.metric("ingress", "isthmus_ingress_events_total") - before == 2 * load.texts


def refused_webhooks(stack):
    return stack.control("GET", "counts").json()["webhooks"]["byStatus"].get("401", 0)


def test_webhook_secret_is_rotated(stack, table):
    """As docs/operations.md has it, and no genuine webhook is taken for a forged one. The new secret stays."""
    before = refused_webhooks(stack)
    old = stack.setting("ingress", "LINQ_WEBHOOK_SECRETS")
    first = subscriptions(stack, "GET").json()["subscriptions"][0]
    with Load(stack, "webhooks: a second secret, then the first is gone", rate=50) as load:
        new = subscribe(stack, "rotated=1")["signing_secret"]
        stack.restart("ingress", LINQ_WEBHOOK_SECRETS=f"{new},{old}")
        subscriptions(stack, "DELETE", f"/{first['id']}")
    load.judge(table)
    # All that was signed with the old one was taken.
    with Load(stack, "webhooks: only the second secret is good", rate=50) as load:
        stack.restart("ingress", LINQ_WEBHOOK_SECRETS=new)
    load.judge(table)
    assert refused_webhooks(stack) == before


@pytest.mark.parametrize("fault", ["gone-long-ago", "shutdown", "expired-provider-token"])
def test_apns(stack, table, fault):
    with Load(stack, f"APNs: {fault}, for 3 s", texts=475) as load:
        load.await_cards()
        fail(stack, 3, apns=fault)
    load.judge(table)


def test_every_token_is_dead(stack, table):
    """410 for all: no more is sent to a token that is dead, until the phone registers its next one."""
    with Load(stack, "APNs: 410 for everybody, for 3 s", texts=475) as load:
        load.await_cards()
        fail(stack, 3, apns="gone")
        for person in load.people:
            for phone in stack.state(person.handle)["phones"]:
                assert stack.control("POST", f"phones/{phone['deviceID']}/rotate-tokens").status == 200
    load.judge(table)


@contextmanager
def apns_behind(stack):
    """A proxy between the pusher and APNs."""
    before = stack.setting("apns-pusher", "APNS_URL")
    with Proxy(("127.0.0.1", urlsplit(before).port)) as proxy:
        stack.restart("apns-pusher", APNS_URL=f"https://localhost:{proxy.port}")
        try:
            yield proxy
        finally:
            stack.restart("apns-pusher", APNS_URL=before)


def early(stack):
    return stack.control("GET", "counts").json()["apns"]["early"]


def test_apns_closes_connections(stack, table):
    with apns_behind(stack) as proxy, Load(stack, "APNs: closes all connections, ten times", texts=475) as load:
        load.await_cards()
        before, early_before = proxy.opened, early(stack)
        for _ in range(10):
            proxy.cut()
            time.sleep(0.3)
        assert proxy.opened > before
        # Each new connection may have one push on it until that is answered.
        assert early(stack) == early_before
    load.judge(table)


def test_apns_closes_an_idle_connection(stack, table):
    with apns_behind(stack) as proxy:
        for name in ("APNs: a connection that is then left idle", "APNs: has closed the idle connection"):
            with Load(stack, name, texts=100) as load:
                pass
            load.judge(table)
            before = proxy.opened
            assert before > 0
            proxy.cut()
        eventually("another connection took its place", lambda: proxy.opened > 1)


def test_apns_hangs(stack, table):
    """Connections stay open, and nothing goes through."""
    with apns_behind(stack) as proxy, Load(stack, "APNs: hangs for 5 s, without closing", texts=475) as load:
        load.await_cards()
        proxy.hangs.set()
        time.sleep(5)
        proxy.hangs.clear()
    load.judge(table)


class Impostor:
    """Somebody else's server with a certificate of its own; what it is sent in spite of that is kept."""

    def __init__(self, folder):
        folder.mkdir(exist_ok=True)
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
             "-addext", "subjectAltName=DNS:localhost", "-keyout", str(folder / "key"), "-out", str(folder / "cert")],
            check=True, capture_output=True)
        self.folder = folder
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(folder / "cert", folder / "key")
        self.context.set_alpn_protocols(["h2"])
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=100)
        self.listener.settimeout(0.1)
        self.tried = 0
        self.heard = b""
        self.ended = threading.Event()

    def __enter__(self):
        self.thread = threading.Thread(target=self.run)
        self.thread.start()
        return self.listener.getsockname()

    def run(self):
        while not self.ended.is_set():
            try:
                client, _ = self.listener.accept()
                self.tried += 1
                client.settimeout(2)
                with self.context.wrap_socket(client, server_side=True) as secured:
                    self.heard += secured.recv(65536)
            except OSError:
                pass  # They have refused the certificate, as they should, or nobody came.

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()
        self.listener.close()
        shutil.rmtree(self.folder)


def test_apns_has_a_wrong_certificate(stack, table):
    impostor = Impostor(stack.folder / "impostor")
    with apns_behind(stack) as proxy, impostor as address:
        with Load(stack, "APNs: somebody else's certificate for 4 s", texts=475) as load:
            load.await_cards()
            apns, proxy.target = proxy.target, address
            proxy.cut()
            time.sleep(4)
            proxy.target = apns
            proxy.cut()
        load.judge(table)
    assert impostor.tried > 0 and impostor.heard == b""


def set_clock(file, seconds):
    fresh = file.with_suffix(".new")
    fresh.write_text(f"{seconds}\n")
    fresh.rename(file)


@contextmanager
def clock_of(stack, service):
    """The service with a clock of its own; yields what sets how far, in seconds, it is ahead of all others."""
    # Another day would be another day's calories. The common clock is only ever put forward.
    if not 2 <= datetime.fromtimestamp(stack.now(), timezone.utc).hour < 21:
        stack.advance(6 * 3600)
    ahead = stack.now() - time.time()
    own = stack.folder / f"clock-{service}"
    set_clock(own, ahead)
    common = stack.setting(service, "CLOCK_FILE")
    stack.restart(service, CLOCK_FILE=str(own))
    try:
        yield lambda seconds: set_clock(own, ahead + seconds)
    finally:
        stack.restart(service, CLOCK_FILE=common)
        own.unlink()


@pytest.mark.parametrize("service", ["ingress", "agent", "linq-sender", "apns-pusher", "token-registry"])
@pytest.mark.parametrize("hours", [1, -1])
def test_clock_jumps(stack, table, service, hours):
    """One service's clock is an hour wrong for a while, and right again."""
    with clock_of(stack, service) as move:
        with Load(stack, f"{service}: its clock jumps {hours:+d} h and back") as load:
            load.await_cards()
            move(hours * 3600)
            time.sleep(3)
            move(0)
        # An hour's silence has ended sessions, which is as it should be; so everybody is to have a card again.
        load.one_more_each()
        load.judge(table)
