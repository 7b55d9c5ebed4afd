"""What the services count, against what docs/operations.md says of it."""

import re
import socket
from urllib.parse import urlsplit

import pika

from people import push_to_unknown_tokens
from prometheus import SERVICES
from stack import ROOT, eventually, request
from webhooks import deliver, received, sign

STAGES = {"agent": "inbound", "linq-sender": "replies", "apns-pusher": "islands"}


def families(stack, service):
    """The names of a service's metrics, by its own TYPE lines."""
    text = request("GET", f"http://{stack.settings(service)['METRICS_LISTEN']}/metrics").body.decode()
    return set(re.findall(r"^# TYPE (\S+) ", text, re.MULTILINE))


def make_rare_things_happen(stack, handle):
    """What is counted from its first time on: its labels come from outside, or nobody is to be told of the first one."""
    where = urlsplit(stack.webhook_url)
    slow = socket.create_connection((where.hostname, where.port), timeout=30)
    slow.sendall(b"POST /webhooks/linq HTTP/1.1\r\nHost: ingress\r\n")
    secret = stack.setting("ingress", "LINQ_WEBHOOK_SECRETS")
    # Nothing to do, and somebody whom the registry does not know.
    for body in (b'{"event_type":"message.delivered","event_id":"e","data":{}}', received(handle, "600 cal")):
        assert deliver(stack, body, sign(secret, body)) == 200
    connection = pika.BlockingConnection(pika.URLParameters(stack.setting("agent", "AMQP_URL")))
    connection.channel().basic_publish("registry.v1", "lookup", b"{}", pika.BasicProperties(type="what.is.this.v1"))
    connection.close()
    push_to_unknown_tokens(stack, "+13035550142")
    # The phone that has both tokens refused has none that a start could go to.
    stack.text("+13035550142", "10 cal")
    with slow:
        # The server's answer to who takes too long, or the end of the connection.
        slow.recv(4096)


def test_every_metric_is_explained_and_every_explained_one_is_there(stack, handle):
    make_rare_things_happen(stack, handle)
    rare = {
        "ingress": "isthmus_http_cut_connections_total", "agent": "isthmus_agent_without_island_total",
        "token-registry": "isthmus_registry_questions_failed_total", "apns-pusher": "isthmus_pushes_left_total"}
    for service, name in rare.items():
        eventually(f"{name} is there", lambda: name in families(stack, service))
    scraped = set().union(*(families(stack, service) for service in SERVICES))
    section = (ROOT / "docs/operations.md").read_text().split("## What each metric means")[1].split("\n## ")[0]
    explained = re.findall(r"^\| `(isthmus_\w+)` \| .{10,} \|$", section, re.MULTILINE)
    assert len(explained) == len(set(explained))
    assert scraped - set(explained) == set(), "not explained"
    assert set(explained) - scraped == set(), "explained, and not there"


def test_each_stage_counts_what_becomes_of_its_messages(stack, handle):
    names = ("taken_total", "done_total", "retried_total", "parked_total", "superseded_total", "duplicate_total",
             "handed_back_total", "in_flight", "oldest_age_seconds", "partitions")
    before = {service: stack.metrics(service) for service in STAGES}
    for service, stage in STAGES.items():
        assert all(f'isthmus_stage_{name}{{stage="{stage}"}}' in before[service] for name in names)
    stack.control("POST", "say", {"from": handle, "text": "600 cal"})
    stack.text(handle, "50 cal", copies=3)

    def grown(service, name):
        key = f'isthmus_stage_{name}{{stage="{STAGES[service]}"}}'
        return stack.metrics(service)[key] - before[service][key]

    eventually("the copies are noticed", lambda: grown("agent", "duplicate_total") == 2)
    for service in STAGES:
        eventually(f"{service} is through", lambda: grown(service, "taken_total") >= 2
                   and stack.metrics(service)[f'isthmus_stage_in_flight{{stage="{STAGES[service]}"}}'] == 0)
        assert grown(service, "done_total") >= 2
        assert grown(service, "parked_total") == 0
