"""The broker's disk is full; its queues are deleted by hand."""

import time

import pytest

import breaking
from load import Load
from stack import eventually

pytestmark = pytest.mark.usefixtures("nothing_is_parked")


def test_disk_alarm(stack, table):
    with Load(stack, "RabbitMQ: disk alarm for 5 s", rate=50) as load:
        breaking.rabbitmqctl(stack, "set_disk_free_limit", "1000000GB")
        eventually("ingress is not ready", lambda: not breaking.is_ready(stack, "ingress"))
        time.sleep(5)
        breaking.rabbitmqctl(stack, "set_disk_free_limit", "200MB")
    load.judge(table)


def test_queues_deleted(stack, table):
    """Nothing was in them: what is in a queue that somebody deletes is gone."""
    gone = ["inbound.v1.03", "replies.v1.05", "islands.v1.07"]
    for queue in gone:
        breaking.rabbitmqctl(stack, "delete_queue", queue)
    with Load(stack, "RabbitMQ: three queues deleted, made again", rate=50) as load:
        for service, queue in zip(["agent", "linq-sender", "apns-pusher"], gone):
            log = stack.folder / "logs" / f"{service}.log"
            eventually(f"{service} names {queue}", lambda: f"'{queue}'" in log.read_text())
        breaking.rabbitmqctl(
            stack, "import_definitions", str(stack.folder / "data" / "rabbitmq" / "definitions" / "20-topology.json"))
    load.judge(table)


