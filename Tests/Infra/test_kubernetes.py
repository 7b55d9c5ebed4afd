"""infra/kubernetes, rendered by kubectl itself and judged without a cluster."""

import json
import re

import jsonschema
import kubernetes_validate
import pytest
import yaml

from conftest import ROOT, SERVICES

PARTITIONED = {"agent": "inbound", "linq-sender": "replies", "apns-pusher": "islands"}
SCHEMAS = {path.stem: json.loads(path.read_text()) for path in (ROOT / "Tests/Infra/schemas").glob("*.json")}
# The operators' resources; the rest are Kubernetes' own, whose schemas are in the validator.
OPERATORS = ("rabbitmq.com/", "postgresql.cnpg.io/", "keda.sh/")


def named(manifests, kind):
    return {manifest["metadata"]["name"]: manifest for manifest in manifests if manifest["kind"] == kind}


def services(manifests):
    return {name: deployment for name, deployment in named(manifests, "Deployment").items() if name in SERVICES}


def test_every_manifest_is_valid(manifests):
    seen = set()
    for manifest in manifests:
        if manifest["apiVersion"].startswith(OPERATORS):
            jsonschema.validate(manifest, SCHEMAS[manifest["kind"]])
            seen.add(manifest["kind"])
        else:
            kubernetes_validate.validate(manifest, "1.32", strict=True)
        assert manifest["metadata"].get("namespace", "isthmus") == "isthmus"
    assert seen == set(SCHEMAS)


@pytest.fixture(scope="module")
def parked_job(program):
    return yaml.safe_load(program(ROOT / "infra/kubernetes/print-parked-job", "drop", "--reason", 'say "no" \\ or: {go}'))


def test_the_job_for_parked_messages_is_valid_and_does_what_was_said(parked_job, kubernetes_secrets):
    kubernetes_validate.validate(parked_job, "1.32", strict=True)
    pod = parked_job["spec"]["template"]
    assert pod["metadata"]["labels"]["app.kubernetes.io/name"] == "isthmus-parked"
    assert pod["spec"]["containers"][0]["args"] == ["drop", "--reason", 'say "no" \\ or: {go}']
    wanted = {entry["value"].removeprefix("/run/secrets/") for entry in pod["spec"]["containers"][0]["env"]}
    assert wanted == set(kubernetes_secrets[pod["spec"]["volumes"][0]["secret"]["secretName"]])


def test_a_field_that_does_not_exist_would_be_seen(manifests):
    deployment = json.loads(json.dumps(named(manifests, "Deployment")["agent"]))
    deployment["spec"]["template"]["spec"]["restartPollicy"] = "Always"
    with pytest.raises(kubernetes_validate.utils.ValidationError):
        kubernetes_validate.validate(deployment, "1.32", strict=True)
    scaled = json.loads(json.dumps(named(manifests, "ScaledObject")["agent"]))
    scaled["spec"]["maxReplicas"] = 3
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(scaled, SCHEMAS["ScaledObject"])


def test_every_pod_is_a_restricted_one(manifests, parked_job):
    deployments = named(manifests, "Deployment")
    assert set(deployments) == {*SERVICES, "redis"}
    for name, owner in {**deployments, "isthmus-parked": parked_job}.items():
        pod = owner["spec"]["template"]["spec"]
        assert pod["securityContext"]["runAsNonRoot"] is True and pod["securityContext"]["runAsUser"] > 0
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert pod["automountServiceAccountToken"] is False
        for container in pod["containers"]:
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}
            assert container["resources"]["requests"] and container["resources"]["limits"]["memory"], name
        assert not any("hostPath" in volume for volume in pod["volumes"])


def test_probes_ask_the_service_itself(manifests):
    for deployment in services(manifests).values():
        container = deployment["spec"]["template"]["spec"]["containers"][0]
        assert {"name": "metrics", "containerPort": 9100} in container["ports"]
        paths = {probe: container[probe]["httpGet"] for probe in ("startupProbe", "livenessProbe", "readinessProbe")}
        assert {probe: asked["path"] for probe, asked in paths.items()} == {
            "startupProbe": "/healthz", "livenessProbe": "/healthz", "readinessProbe": "/readyz"}
        assert all(asked["port"] == "metrics" for asked in paths.values())


def test_the_grace_is_longer_than_the_drain(manifests):
    mains = {"ingress": "Ingress", "agent": "Agent", "linq-sender": "LinqSender", "apns-pusher": "APNSPusher",
             "token-registry": "TokenRegistry"}
    for name, deployment in services(manifests).items():
        source = (ROOT / f"Services/{mains[name]}/{mains[name]}Main.swift").read_text()
        found = re.search(r"(?:grace: |drain\(within: |drainTime: Duration = )\.seconds\((\d+)\)", source)
        drain = int(found[1])
        assert drain + 10 <= deployment["spec"]["template"]["spec"]["terminationGracePeriodSeconds"], name


def test_no_disruption_takes_more_than_one(manifests):
    budgets = named(manifests, "PodDisruptionBudget")
    assert set(budgets) == {*SERVICES, "rabbitmq"}
    for name, budget in budgets.items():
        assert budget["spec"]["maxUnavailable"] == 1
        assert budget["spec"]["selector"]["matchLabels"] == {"app.kubernetes.io/name": name}


def test_every_setting_is_one_that_the_service_has(manifests, settings):
    shared = set(named(manifests, "ConfigMap")["isthmus-settings"]["data"])
    for name, deployment in services(manifests).items():
        container = deployment["spec"]["template"]["spec"]["containers"][0]
        own = {entry["name"] for entry in container["env"]}
        assert own <= settings(name), name
        assert container["envFrom"] == [{"configMapRef": {"name": "isthmus-settings"}}]
    every = set().union(*(settings(name) for name in SERVICES))
    assert shared <= every


def test_stages_scale_by_their_queues_and_never_past_their_partitions(manifests):
    settings_of_all = named(manifests, "ConfigMap")["isthmus-settings"]["data"]
    topology = json.loads((ROOT / "infra/rabbitmq/definitions.json").read_text())
    queues = [queue["name"] for queue in topology["queues"]]
    scaled = named(manifests, "ScaledObject")
    assert set(scaled) == set(PARTITIONED)
    for name, stage in PARTITIONED.items():
        spec = scaled[name]["spec"]
        mine = [queue for queue in queues if re.fullmatch(rf"{stage}\.v1\.\d+", queue)]
        assert spec["scaleTargetRef"]["name"] == name
        assert spec["minReplicaCount"] <= spec["maxReplicaCount"] == len(mine) == int(settings_of_all["PARTITIONS"])
        assert {trigger["metadata"]["mode"] for trigger in spec["triggers"]} == {"QueueLength", "MessageRate"}
        for trigger in spec["triggers"]:
            asked = trigger["metadata"]
            assert asked["protocol"] == "http" and asked["excludeUnacknowledged"] == "false"
            assert asked["operation"] == "sum" and int(asked["pageSize"]) >= len(queues)
            assert [queue for queue in queues if re.search(asked["queueName"], queue)] == mine
        grace = services(manifests)[name]["spec"]["template"]["spec"]["terminationGracePeriodSeconds"]
        assert spec["cooldownPeriod"] > grace
    for name, scaler in named(manifests, "HorizontalPodAutoscaler").items():
        assert scaler["spec"]["metrics"][0]["resource"]["name"] == "cpu"
        assert name not in PARTITIONED and scaler["spec"]["scaleTargetRef"]["name"] == name


def test_network_policies_are_the_arrows_of_the_design(manifests):
    policies = named(manifests, "NetworkPolicy")
    nothing = policies.pop("nothing")["spec"]
    assert nothing == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}, "all is refused that is not allowed"
    world, web = "the world", "ingress-nginx"
    assert arrows(policies, "egress", "to") == {
        ("*", "kube-system", 53), ("service", "monitoring", 4318),
        *((name, "rabbitmq", 5671) for name in (*SERVICES, "isthmus-parked")),
        *((name, "redis", 6379) for name in ("agent", "apns-pusher", "token-registry")),
        *((name, "postgres", 5432) for name in ("agent", "token-registry", "postgres")), ("postgres", "postgres", 8000),
        *((name, world, 443) for name in ("agent", "linq-sender", "apns-pusher")),
        ("rabbitmq", "rabbitmq", 4369), ("rabbitmq", "rabbitmq", 25672),
        *((name, "anybody", port) for name in ("rabbitmq", "postgres") for port in (443, 6443)),
    }
    assert arrows(policies, "ingress", "from") == {
        ("service", "monitoring", 9100), ("ingress", web, 8080), ("token-registry", web, 8080),
        *(("rabbitmq", name, 5671) for name in (*SERVICES, "isthmus-parked")),
        ("rabbitmq", "rabbitmq", 4369), ("rabbitmq", "rabbitmq", 25672), ("rabbitmq", "rabbitmq-system", 15671),
        ("rabbitmq", "keda", 15671), ("rabbitmq", "monitoring", 15691),
        *(("redis", name, 6379) for name in ("agent", "apns-pusher", "token-registry")),
        *(("postgres", name, 5432) for name in ("agent", "token-registry", "postgres", "cnpg-system")),
        ("postgres", "postgres", 8000), ("postgres", "cnpg-system", 8000), ("postgres", "monitoring", 9187),
    }


def arrows(policies, direction, key):
    """Who, whom or from whom, and on which port."""
    return {
        (mine, other, port["port"])
        for policy in policies.values()
        for rule in policy["spec"].get(direction, [])
        for mine in pods(policy["spec"]["podSelector"])
        for peer in rule.get(key, [None])
        for other in (["anybody"] if peer is None else peers(peer))
        for port in rule["ports"]
    }


def pods(selector):
    if not selector:
        return ["*"]
    if "matchExpressions" in selector:
        return selector["matchExpressions"][0]["values"]
    return [next(iter(selector["matchLabels"].values()))]


def peers(peer):
    if "ipBlock" in peer:
        assert "10.0.0.0/8" in peer["ipBlock"]["except"] and "169.254.0.0/16" in peer["ipBlock"]["except"]
        return ["the world"]
    if "namespaceSelector" in peer:
        return [peer["namespaceSelector"]["matchLabels"]["kubernetes.io/metadata.name"]]
    return pods(peer["podSelector"])


def test_the_servers_are_the_operators_and_threefold(manifests):
    broker = named(manifests, "RabbitmqCluster")["rabbitmq"]["spec"]
    assert broker["replicas"] == 3 and broker["tls"]["disableNonTLSListeners"] is True
    config = dict(re.findall(r"^([a-z_.]+) = (.*)$", broker["rabbitmq"]["additionalConfig"], re.MULTILINE))
    # What docker-compose.yml's broker has, this one has, too, but for its own listeners and files.
    ours = dict(re.findall(r"^([a-z_.0-9]+) = (.*)$", (ROOT / "infra/rabbitmq/rabbitmq.conf").read_text(), re.MULTILINE))
    elsewhere = ("listeners", "ssl_options", "management", "prometheus", "load_definitions")
    for name, value in ours.items():
        if not name.startswith(elsewhere):
            assert config[name] == value, name
    assert config["quorum_queue.continuous_membership_reconciliation.target_group_size"] == "3"
    database = named(manifests, "Cluster")["postgres"]["spec"]
    assert database["instances"] == 3 and database["minSyncReplicas"] == 1
    assert not any(manifest["kind"] == "StatefulSet" for manifest in manifests)


def test_what_the_world_may_call_is_webhooks_events_and_the_registry(manifests):
    published = {
        (path["backend"]["service"]["name"], path["path"], path["pathType"])
        for rule in named(manifests, "Ingress")["isthmus"]["spec"]["rules"] for path in rule["http"]["paths"]}
    assert published == {
        ("ingress", "/webhooks/linq", "Exact"), ("ingress", "/v1/events", "Exact"), ("token-registry", "/v1/", "Prefix")}


def test_nothing_refers_to_what_is_not_there(manifests):
    maps = set(named(manifests, "ConfigMap"))
    assert {"isthmus-settings", "redis-config", "rabbitmq-topology"} <= maps
    text = json.dumps(manifests)
    assert set(re.findall(r'"configMap(?:Ref)?": {"name": "([a-z-]+)"', text)) <= maps
    ports = {name: service["spec"]["ports"] for name, service in named(manifests, "Service").items()}
    for rule in named(manifests, "Ingress")["isthmus"]["spec"]["rules"]:
        for path in rule["http"]["paths"]:
            backend = path["backend"]["service"]
            assert backend["port"]["name"] in {port["name"] for port in ports[backend["name"]]}
