"""The broker's disk, its queues, the way to it, and a cluster of three that loses one."""

import time

import pytest

import breaking
import cluster
from broker import port
from load import Load
from proxy import Proxy
from stack import eventually, running_stack

SERVICES = ["ingress", "agent", "linq-sender", "apns-pusher", "token-registry"]

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


@pytest.mark.parametrize("service", SERVICES)
def test_way_to_the_broker_goes_nowhere(stack, table, service):
    """Nothing gets through either way, and nobody closes anything, for longer than heartbeats may be missed."""
    before, direct = stack.setting(service, "AMQP_URL"), int(port(stack, "amqp"))
    with Proxy(("127.0.0.1", direct)) as proxy:
        stack.restart(service, AMQP_URL=before.replace(f":{direct}/", f":{proxy.port}/"))
        try:
            with Load(stack, f"{service}: no way to RabbitMQ for 30 s", rate=50) as load:
                proxy.hangs.set()
                time.sleep(30)
                proxy.hangs.clear()
            load.judge(table)
        finally:
            stack.restart(service, AMQP_URL=before)


@pytest.fixture(scope="module")
def three():
    """Three nodes, each queue on all of them, and services that know all three."""
    with running_stack("faults-cluster", PARTITIONS="4") as stack:
        nodes = [cluster.Node(stack, 2), cluster.Node(stack, 3)]
        try:
            for node in nodes:
                node.start()
                node.join()
            cluster.grow(stack, nodes)
            for service in SERVICES:
                stack.restart(service, AMQP_URL=cluster.addresses(stack, service, nodes))
            yield stack, nodes
        finally:
            for node in nodes:
                node.stop()


class TestCluster:
    @pytest.fixture
    def stack(self, three):
        return three[0]

    @pytest.mark.parametrize("number", [1, 2, 3])
    def test_loses_a_node(self, three, table, number):
        stack, nodes = three
        cluster.await_whole(stack, [cluster.FIRST, *(node.name for node in nodes)])
        with Load(stack, f"RabbitMQ: three nodes, number {number} killed", rate=50) as load:
            if number == 1:
                # ./run starts it again at once.
                breaking.kill(stack, "rabbitmq")
                breaking.await_ready(stack, "rabbitmq")
            else:
                node = nodes[number - 2]
                node.kill()
                # What is out of the load's way by then has gone through two nodes.
                time.sleep(5)
                node.start()
        load.judge(table)
