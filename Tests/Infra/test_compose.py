"""docker-compose.yml, as Docker Compose reads it."""

import re

import pytest
import yaml

from conftest import ROOT, SERVICES

SERVERS = ("rabbitmq", "redis", "postgres", "prometheus", "grafana")
EVERYTHING = ("--profile", "simulator", "--profile", "tools")
TEXT = (ROOT / "docker-compose.yml").read_text()
EXAMPLE = (ROOT / ".env.example").read_text()


def test_it_is_well_formed(program):
    program("check-jsonschema", "--builtin-schema", "vendor.compose-spec", "docker-compose.yml")
    # Kubernetes' short forms are longer than a line; what Docker Compose reads is not.
    for width, path in ((120, "docker-compose.yml"), (200, "infra")):
        program("yamllint", "--strict", "-d", f"{{extends: relaxed, rules: {{line-length: {{max: {width}}}}}}}", path)


def test_a_network_that_is_not_there_would_be_seen(compose, tmp_path):
    broken = tmp_path / "docker-compose.yml"
    broken.write_text("services: {a: {image: b, networks: [nowhere]}}")
    assert "nowhere" in compose(file=broken, status=1)


def test_the_simulator_and_the_tools_are_under_a_profile(compose):
    assert set(compose()["services"]) == {*SERVICES, *SERVERS}
    assert set(compose("--profile", "simulator")["services"]) == {*SERVICES, *SERVERS, "simulator"}
    assert set(compose(*EVERYTHING)["services"]) == {*SERVICES, *SERVERS, "simulator", "isthmus-parked"}


def test_only_what_is_called_from_outside_is_published_and_on_loopback(compose):
    published = {}
    for name, service in compose(*EVERYTHING)["services"].items():
        for port in service.get("ports", []):
            assert port["host_ip"] == "127.0.0.1"
            published.setdefault(name, []).append(port["target"])
    assert published == {"ingress": [8080], "token-registry": [8080], "simulator": [8080]}


def test_networks_are_the_arrows_of_the_design(compose):
    told = compose(*EVERYTHING)
    assert {name for name, network in told["networks"].items() if not network.get("internal")} == {"edge", "outside"}
    on = {name: set(service["networks"]) for name, service in told["services"].items()}
    members = {network: {name for name in on if network in on[name]} for network in told["networks"]}
    assert members == {
        "edge": {"ingress", "token-registry", "simulator"},
        "outside": {"agent", "linq-sender", "apns-pusher", "simulator"},
        "broker": {*SERVICES, "rabbitmq", "isthmus-parked"},
        "cache": {"agent", "apns-pusher", "token-registry", "redis"},
        "database": {"agent", "token-registry", "postgres"},
        "metrics": {*SERVICES, "rabbitmq", "prometheus", "grafana", "simulator"},
    }


def test_every_container_is_confined(compose):
    for name, service in compose(*EVERYTHING)["services"].items():
        limits = service["deploy"]["resources"]["limits"]
        assert limits["memory"] and limits["cpus"] and limits["pids"], name
        assert service["read_only"] is True and service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert service["restart"] == ("no" if name == "isthmus-parked" else "unless-stopped"), name
        assert "container_name" not in service and not service.get("privileged"), name


def test_stopping_takes_longer_than_a_drain(compose):
    # The longest drain is the agent's, 25 s.
    for name, service in compose()["services"].items():
        seconds = sum(int(n) * {"m": 60, "s": 1}[u] for n, u in re.findall(r"(\d+)([ms])", service["stop_grace_period"]))
        assert seconds >= 35, name


def test_a_service_waits_for_the_health_of_what_it_needs(compose):
    services = compose()["services"]
    for name in SERVICES:
        needs = services[name]["depends_on"]
        assert all(need["condition"] == "service_healthy" for need in needs.values())
        assert set(needs) == {"rabbitmq", "redis", "postgres"} & {
            other for other in services if set(services[other]["networks"]) & (set(services[name]["networks"]) - {"metrics"})}
    for name in ("rabbitmq", "redis", "postgres"):
        assert services[name]["healthcheck"]["test"], name


@pytest.mark.parametrize("service", [*SERVICES, "simulator"])
def test_every_setting_is_one_that_the_service_has(compose, settings, service):
    environment = compose("--profile", "simulator")["services"][service]["environment"]
    assert set(environment) <= settings(service)


def test_secrets_are_files_and_there_is_no_default_password(compose, secrets):
    told = compose(*EVERYTHING)
    for name, service in told["services"].items():
        for variable, value in (service.get("environment") or {}).items():
            if re.search("PASS|SECRET|TOKEN|KEY|URL", variable) and value:
                harmless = ("/run/secrets/", "http://ingress:", "http://token-registry:", "http://rabbitmq:15692")
                assert value.startswith(harmless), f"{name}: {variable}={value}"
    # None comes by way of a variable, which everybody sees who may look at a container.
    handed = [name for name in re.findall(r"^  +([A-Z_]+): \$\{", TEXT, re.MULTILINE)
              if re.search("PASSWORD|SECRET|TOKEN|_KEY$|KEYS", name)]
    assert handed == []
    files = {secret["file"].rsplit("/", 1)[1] for secret in told["secrets"].values()}
    assert files <= {path.name for path in secrets.iterdir()}
    used = {secret["source"] for service in told["services"].values() for secret in service.get("secrets", [])}
    assert used == set(told["secrets"])


def test_each_secret_goes_only_where_it_is_used(compose):
    services = compose(*EVERYTHING)["services"]
    for name, service in services.items():
        for secret in service.get("secrets", []) if name in SERVICES else []:
            for kind in ("amqp-url", "redis-url", "database-url"):
                if secret["source"].startswith(kind):
                    assert secret["source"] == f"{kind}-{name}"
    holders = {kind: {name for name, service in services.items() if kind in str(service.get("secrets"))} for kind in (
        "data-key", "linq-token", "apns-key.p8", "webhook-secret", "events-secret", "postgres-password-admin",
        "agent-model-key", "agent-http-secret", "amqp-url-operator")}
    assert holders == {
        "data-key": {"agent", "apns-pusher", "token-registry"},
        "linq-token": {"linq-sender", "simulator"},
        "apns-key.p8": {"apns-pusher", "simulator"},
        "webhook-secret": {"ingress", "simulator"},
        "events-secret": {"ingress"},
        "postgres-password-admin": {"postgres"},
        "agent-model-key": {"agent"},
        "agent-http-secret": {"agent"},
        "amqp-url-operator": {"isthmus-parked"},
    }


def test_every_variable_is_explained_and_every_one_explained_is_used():
    used = set(re.findall(r"\$\{([A-Z_]+)", TEXT))
    explained = set()
    above = ""
    for line in EXAMPLE.splitlines():
        if match := re.match(r"(#simulator )?([A-Z_]+)=", line):
            # One comment may stand above two variables that belong together.
            assert above.startswith("#"), f"{match[2]} is not explained"
            explained.add(match[2])
        else:
            above = line
    assert explained == used


def test_the_example_s_values_are_the_defaults(compose):
    plain, example = compose(), compose("--env-file", ".env.example")
    for told in (plain, example):
        for service in told["services"].values():
            service.pop("build", None)
    assert example["services"] == plain["services"]


def test_with_the_simulator_s_values_nothing_points_outside(compose, secrets):
    told = compose("--env-file", secrets.parent / "env", "--profile", "simulator")
    assert told["services"]["linq-sender"]["environment"]["LINQ_API_URL"] == "http://simulator:8080/api/partner"
    assert told["services"]["apns-pusher"]["environment"]["APNS_URL"] == "https://simulator:8443"
    for name in ("apns-pusher", "simulator"):
        assert told["services"][name]["environment"]["APNS_TEAM_ID"] == "ISTHMUSDEV"


def test_what_is_mounted_is_there():
    for path in re.findall(r"- \"?(?:\$\{[A-Z_]+:-)?(\./infra/[a-z_/.]+[a-z])", TEXT):
        assert (ROOT / path).exists(), path
    for document in yaml.safe_load_all(TEXT):
        assert document["name"] == "isthmus"
