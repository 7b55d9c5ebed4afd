"""Queues that an earlier version made, whose arguments are not today's."""

import base64
import json
from urllib.parse import quote, urlsplit

from broker import port
from stack import request
from test_loop import say

WORKERS = ("agent", "linq-sender", "apns-pusher")


class Management:
    """RabbitMQ's own interface, for who may do everything."""

    def __init__(self, stack):
        admin = urlsplit(stack.broker_url())
        self.url = f"http://127.0.0.1:{port(stack, 'management')}/api"
        self.headers = {
            "Authorization": "Basic " + base64.b64encode(f"{admin.username}:{admin.password}".encode()).decode()}

    def call(self, method, path, body=None):
        answer = request(method, f"{self.url}/{path}", body, self.headers)
        assert answer.status < 300, answer.body
        return answer

    def partition_queues(self):
        """The partition queues by name, each with its arguments."""
        return {queue["name"]: queue["arguments"] for queue in self.call("GET", "queues/%2F").json()
                if "x-single-active-consumer" in queue["arguments"]}

    def remake(self, queues, definitions):
        """Deletes them, makes those anew that have arguments here, and loads the definitions."""
        for name, arguments in queues.items():
            path = f"queues/%2F/{quote(name)}"
            self.call("DELETE", path)
            if arguments:
                self.call("PUT", path, {"durable": True, "arguments": arguments})
        self.call("POST", "definitions", json.loads(definitions))


def delivery_limits(broker):
    return {arguments["x-delivery-limit"] for arguments in broker.partition_queues().values()}


def test_queues_of_an_earlier_version_are_worked_and_can_be_made_anew(stack, someone):
    """Who may make no queue cannot compare arguments, so the services go on; docs/operations.md says how to upgrade."""
    broker = Management(stack)
    definitions = (stack.folder / "data" / "rabbitmq" / "definitions" / "20-topology.json").read_text()
    todays = broker.partition_queues()
    try:
        broker.remake({name: {**arguments, "x-delivery-limit": 20} for name, arguments in todays.items()}, definitions)
        # The definitions that were loaded over them say 100, and have changed nothing.
        assert delivery_limits(broker) == {20}
        for service in WORKERS:
            stack.restart(service)
        assert say(stack, someone, "50 cal")["island"]["contentState"]["calories"] == 650
    finally:
        broker.remake(dict.fromkeys(todays), definitions)
        for service in WORKERS:
            stack.restart(service)
    assert broker.partition_queues() == todays and delivery_limits(broker) == {100}
    assert say(stack, someone, "50 cal")["island"]["contentState"]["calories"] == 700
