"""docker-compose.yml as a team runs it, on a real engine. In the order of the file: each test goes on where the one before
has left off. `make compose-test` runs it; ./test does not, since it needs an engine."""

import json
import re
import time

import pytest

from composition import OURS, SERVICES, TOOLS, docker, evenly
from load import Load
from stack import eventually, request
from webhooks import sign

MOST_MEGABYTES = 150
PARTITIONS = 16


def test_images_are_small(composition):
    images = (*OURS, *TOOLS)
    sizes = {name: int(docker("image", "inspect", "--format", "{{.Size}}", f"isthmus/{name}")) / 1e6 for name in images}
    print(*(f"\n    {name:15} {size:6.1f} MB" for name, size in sizes.items()))
    assert all(size < MOST_MEGABYTES for size in sizes.values())


def test_all_of_it_is_healthy(composition):
    for name in (*OURS, "rabbitmq", "redis", "postgres"):
        for container in composition.containers(name):
            assert container["State"]["Health"]["Status"] == "healthy", name
            assert container["RestartCount"] == 0, name
    print(f"\n    not started, since its image is not to be had: {composition.without or 'nothing'}")


def test_a_text_gets_its_reply_and_its_card(composition):
    said = composition.say("+12025550100", "just had a chicken bowl, ~600 cal")
    assert "600" in said["replies"][0]
    assert said["island"]["contentState"]["calories"] == 600


def test_the_page_shows_the_way_of_a_text_and_the_depths_of_the_queues(composition):
    composition.say("+12025550101", "just had a chicken bowl, ~600 cal")

    def steps():
        trail = composition.page("+12025550101")["state"]["trails"][0]
        return {hop["step"] for hop in trail["hops"]}

    # That the agent took it is what only the services' spans tell of.
    eventually("each hop is shown", lambda: {"webhook", "replied", "pushed", "taken"} <= steps())
    told = composition.page("+12025550101")
    assert [queue["stage"] for queue in told["queues"]] == ["inbound", "replies", "islands", "parked"]
    # Nobody is there who would start a service again: the page says what to do instead.
    assert told["state"]["isSupervised"] is False


def test_parked_messages_are_looked_at_with_a_tool_of_their_own(composition):
    assert composition.parked("list")["messages"] == []
    park(composition)
    (parked,) = composition.parked("list")["messages"]
    assert parked["stage"] == "inbound" and parked["service"] == "ingress"
    dropped = composition.parked("drop", "--all")
    assert [message["id"] for message in dropped["messages"]] == [parked["id"]]
    assert composition.parked("list")["messages"] == []


def park(composition):
    """A genuine webhook that nobody can read."""
    secret = (composition.folder / "secrets/webhook-secret").read_text()
    body = json.dumps({"event_type": "message.received", "event_id": "evt-strange", "data": {}}).encode()
    url = f"http://127.0.0.1:{composition.ports['INGRESS_PORT']}/webhooks/linq"
    assert request("POST", url, body, sign(secret, body)).status == 200


def test_the_database_is_postgresql_and_the_cache_is_used(composition):
    rows = postgres(composition, "agent", "SELECT scope FROM schema_migrations GROUP BY scope")
    assert rows.split() == ["agent"]
    assert postgres(composition, "token-registry", "SELECT count(*) FROM registry_users").strip() != "0"
    composition.say("+12025550100", "coffee, 5 cal")
    keys = composition.run("redis", "redis-cli", "INFO", "keyspace")
    assert "NOAUTH" in keys, "nobody asks without a name"
    pushers = composition.containers("apns-pusher")
    unreadable = sum(composition.metric(one, "isthmus_registry_cache_unreadable_total") for one in pushers)
    assert unreadable == 0


def test_many_texts_lose_nothing(composition, table):
    with Load(composition, "compose: nothing", texts=300, users=20, rate=30) as load:
        pass
    load.judge(table)


def test_replicas_share_the_partitions(composition):
    composition.up("--scale", "agent=3", "--scale", "apns-pusher=2")
    for service, replicas in (("agent", 3), ("apns-pusher", 2), ("linq-sender", 1)):
        expected = evenly(PARTITIONS, replicas)
        eventually(f"{service}: {expected}", lambda: composition.partitions(service) == expected)
        print(f"\n    {service}: {expected}")


def test_a_replica_that_is_killed_is_replaced_and_nothing_is_lost(composition, table):
    with Load(composition, "compose: an agent and a pusher killed", texts=300, users=20, rate=20) as load:
        # A start whose answer nobody heard is not sent again before the next text: here updates are to be met.
        load.await_cards()
        killed = composition.containers("agent")[0]["Id"]
        docker("kill", "--signal", "KILL", killed)
        docker("kill", "--signal", "KILL", composition.containers("apns-pusher")[0]["Id"])
    load.judge(table, patience=180)
    # A container that is killed by hand is not restarted by Docker: the others have taken its partitions over.
    eventually("the others work it all", lambda: sum(composition.partitions("agent")) == PARTITIONS)
    composition.up("--no-recreate", "--scale", "agent=3", "--scale", "apns-pusher=2")
    eventually("evenly again", lambda: composition.partitions("agent") == evenly(PARTITIONS, 3))


def test_workers_restarted_under_load_lose_nothing(composition, table):
    with Load(composition, "compose: workers restarted", texts=360, users=20, rate=10) as load:
        for service in ("agent", "linq-sender", "apns-pusher"):
            for container in composition.containers(service):
                docker("restart", "--time", "40", container["Id"])
    load.judge(table, patience=180)


@pytest.mark.parametrize("service", [*OURS])
def test_a_service_s_container_is_confined(composition, service):
    limits = composition.config["services"][service]["deploy"]["resources"]["limits"]
    for container in composition.containers(service):
        host = container["HostConfig"]
        assert host["ReadonlyRootfs"] is True and host["CapDrop"] == ["ALL"] and host["Privileged"] is False
        assert host["Memory"] == int(limits["memory"]) and host["NanoCpus"] == float(limits["cpus"]) * 1e9
        assert host["PidsLimit"] == limits["pids"] and host["SecurityOpt"] == ["no-new-privileges:true"]
        assert container["Config"]["User"] == "10001:10001"
        assert container["Path"] == f"/usr/local/bin/{service}", "no shell is between"
    refused = composition.run(service, "touch", "/usr/local/bin/new", status=1)
    assert "Read-only file system" in refused
    status = composition.run(service, "cat", "/proc/1/status")
    assert re.search(r"^Uid:\t10001\t10001", status, re.MULTILINE) and "NoNewPrivs:\t1" in status
    assert re.search(r"^CapEff:\t0+$", status, re.MULTILINE)


def test_only_what_has_to_be_is_published(composition):
    published = {
        name: sorted({binding["HostIp"] for bindings in container["NetworkSettings"]["Ports"].values()
                      for binding in bindings or []})
        for name in composition.config["services"] if name not in composition.without
        for container in composition.containers(name)
    }
    assert {name for name, addresses in published.items() if addresses} == {"ingress", "token-registry", "simulator"}
    assert all(addresses in ([], ["127.0.0.1"]) for addresses in published.values())
    assert request("POST", f"http://127.0.0.1:{composition.ports['INGRESS_PORT']}/webhooks/linq", b"{}").status == 401
    assert request("GET", f"http://127.0.0.1:{composition.ports['REGISTRY_PORT']}/v1/users/1").status == 401


def test_nobody_sees_whom_it_does_not_need(composition):
    sees = {
        "ingress": {"rabbitmq", "token-registry"}, "linq-sender": {"rabbitmq"},
        "agent": {"rabbitmq", "redis", "postgres"}, "apns-pusher": {"rabbitmq", "redis"},
        "token-registry": {"rabbitmq", "redis", "postgres"},
    }
    for service in SERVICES:
        for server in ("redis", "postgres", "rabbitmq"):
            status = 0 if server in sees[service] else 2
            composition.run(service, "getent", "hosts", server, status=status)
    # No way out for those who have no business outside.
    for network in ("broker", "cache", "database", "metrics"):
        told = json.loads(docker("network", "inspect", f"{composition.project}_{network}"))
        assert told[0]["Internal"] is True, network


def test_the_broker_takes_tls_and_its_own_users_alone(composition):
    told = composition.run("rabbitmq", "rabbitmq-diagnostics", "--silent", "listeners")
    assert re.search(r"port: 5671, protocol: amqp/ssl", told) and not re.search(r"port: 5672\b", told)
    users = composition.run("rabbitmq", "rabbitmqctl", "--silent", "list_users", "--no-table-headers")
    assert {line.split("\t")[0] for line in users.splitlines()} == {*SERVICES, "operator", "monitor"}
    refused = composition.run("rabbitmq", "rabbitmqctl", "authenticate_user", "guest", "guest", status=None)
    assert "failed to authenticate" in refused


def postgres(composition, database, sql, status=0):
    return composition.run("postgres", "psql", "--no-psqlrc", "--tuples-only", "--no-align", "--dbname", database,
                           "--command", sql, status=status)


def test_a_service_knows_until_when_certificates_hold(composition):
    (registry,) = composition.containers("token-registry")
    for client in ("rabbitmq", "postgres"):
        ends = composition.metric(registry, f'isthmus_tls_certificate_not_after_seconds{{client="{client}"}}')
        # make-secrets makes them for two years.
        assert 729 < (ends - time.time()) / 86400 < 731, client


def test_a_role_is_no_superuser_and_reaches_only_its_own_database(composition):
    rights = postgres(composition, "agent", "SELECT rolname FROM pg_roles WHERE rolcanlogin AND (rolsuper OR "
                      "rolcreatedb OR rolcreaterole OR rolreplication) AND rolname <> 'postgres'")
    assert rights.strip() == ""
    for role, database in (("agent", "token-registry"), ("token-registry", "agent"), ("agent", "postgres")):
        password = (composition.folder / f"secrets/postgres-password-{role}").read_text()
        for mode, at in (("require", database), ("disable", role)):
            target = f"host=127.0.0.1 user={role} password={password} dbname={at} sslmode={mode}"
            told = composition.run("postgres", "psql", target, "--command", "SELECT 1", status=2)
            assert "no pg_hba.conf entry" in told
    target = "host=127.0.0.1 user=agent password=agent dbname=agent sslmode=require"
    assert "password authentication failed" in composition.run("postgres", "psql", target, "-c", "SELECT 1", status=2)


def test_prometheus_reads_everybody(composition):
    prometheus = composition.containers("prometheus")[0]

    def down():
        told = request("GET", f"http://{composition.address(prometheus)}:9090/api/v1/targets?state=active").json()
        targets = told["data"]["activeTargets"]
        up = [target["labels"].get("job") for target in targets if target["health"] == "up"]
        return len(targets) >= 8 and len(up) == len(targets)

    eventually("all targets are up", down, seconds=90)


def test_what_was_kept_outlives_down(composition):
    handle = "+12025550123"
    composition.say(handle, "chicken bowl, 600 cal")
    park(composition)
    users = postgres(composition, "token-registry", "SELECT count(*) FROM registry_users")
    composition.compose("down", "--timeout", "60")
    composition.up()
    assert [message["service"] for message in composition.parked("list")["messages"]] == ["ingress"]
    assert postgres(composition, "token-registry", "SELECT count(*) FROM registry_users") == users
    # The simulator has forgotten everybody, and what was on whose phone; the agent has not.
    assert composition.control("POST", "texts", {"from": handle, "text": "apple, 50 cal"}).status == 202
    (reply,) = eventually("it is answered", lambda: [
        message["text"] for chat in composition.state(handle)["chats"] for message in chat["messages"]
        if message["direction"] == "outbound"])
    assert "650" in reply


def test_logs_are_one_json_object_a_line(composition):
    for service in SERVICES:
        lines = composition.compose("logs", "--no-log-prefix", "--no-color", service).splitlines()
        assert lines and all(isinstance(json.loads(line), dict) for line in lines), service
