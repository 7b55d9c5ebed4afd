"""infra/asyncapi against AsyncAPI's rules, the golden files of the wire, and the topology."""

import copy
import json
import os
import re
import subprocess
import warnings

import jsonschema_rs
import pytest
import yaml

from stack import ROOT

with warnings.catch_warnings():
    # Its models have fields named "schema", which pydantic remarks on.
    warnings.simplefilter("ignore")
    from asyncapi3.models import AsyncAPI3

DOCUMENT = yaml.safe_load((ROOT / "infra/asyncapi/isthmus.yml").read_text())
FIXTURES = sorted((ROOT / "Tests/SharedTests/Fixtures/Wire").glob("*.json"))
MESSAGES = DOCUMENT["components"]["messages"]
PARTITIONS = 3


def closed(schemas):
    """The schemas with no room for what they do not describe: a reader ignores it, this test does not."""
    schemas = copy.deepcopy(schemas)

    def close(schema):
        if isinstance(schema, list):
            return [close(one) for one in schema]
        if not isinstance(schema, dict):
            return schema
        if "properties" in schema and "allOf" not in schema:
            schema.setdefault("unevaluatedProperties", False)
        return {name: close(value) for name, value in schema.items()}

    # CloudEvent stands beside the message's own part in an allOf, where either knows only its own.
    return {name: schema if name == "CloudEvent" else close(schema) for name, schema in schemas.items()}


def validator(payload):
    data = payload["allOf"][1]["properties"]["data"] if "allOf" in payload else payload
    components = {"schemas": closed({**DOCUMENT["components"]["schemas"], "Data": data})}
    whole = {"allOf": [payload, {"properties": {"data": {"$ref": "#/components/schemas/Data"}}}]}
    return jsonschema_rs.Draft202012Validator({**whole, "components": components}, validate_formats=True)


def message_of(type_):
    found = [message for message in MESSAGES.values() if message["name"] == type_]
    assert len(found) == 1, f"{type_} is described {len(found)} times"
    return found[0]


def test_the_document_keeps_to_asyncapi_3():
    AsyncAPI3.model_validate(DOCUMENT)
    references = re.findall(r"'\$ref': '#/([^']+)'", str(DOCUMENT))
    assert references
    for reference in references:
        node = DOCUMENT
        for part in reference.split("/"):
            assert part in node, reference
            node = node[part]


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_a_golden_file_is_as_its_type_is_described(path):
    event = json.loads(path.read_text())
    validator(message_of(event["type"])["payload"]).validate(event)


def test_what_differs_from_the_description_is_noticed():
    event = json.loads((ROOT / "Tests/SharedTests/Fixtures/Wire/message.json").read_text())
    check = validator(message_of(event["type"])["payload"])
    for path, value in ((["data", "more"], 1), (["data", "content", "more"], 1), (["data", "handle"], None),
                        (["data", "content", "chat", "isGroup"], "no"), (["time"], "yesterday"), (["type"], "other")):
        changed = copy.deepcopy(event)
        node = changed
        for part in path[:-1]:
            node = node[part]
        node[path[-1]] = value
        assert not check.is_valid(changed), path


def test_every_type_that_the_source_names_is_described_and_has_a_golden_file():
    source = "".join(path.read_text() for path in (ROOT / "Shared/Wire").glob("*.swift"))
    named = set(re.findall(r'"(isthmus\.[a-z.-]+\.v\d+)"', source))
    assert len(named) > 15
    described = {message["name"] for message in MESSAGES.values() if message["name"] not in (
        "isthmus.presence", "linq.webhook.unreadable")}
    assert described == named
    assert {json.loads(path.read_text())["type"] for path in FIXTURES} == named


def test_examples_are_golden_files():
    for message in MESSAGES.values():
        for example in message.get("examples", []):
            golden = ROOT / f"Tests/SharedTests/Fixtures/Wire/{example['name']}.json"
            assert example["payload"] == json.loads(golden.read_text())
    assert sum("examples" in message for message in MESSAGES.values()) == len(MESSAGES) - 2


def test_channels_are_the_exchanges_and_queues_of_the_topology():
    program = ROOT / ".build" / os.environ.get("ISTHMUS_CONFIGURATION", "release") / "islandctl"
    told = subprocess.run(
        [program, "topology", "--partitions", str(PARTITIONS)], capture_output=True, check=True, timeout=60)
    topology = json.loads(told.stdout)
    exchanges, queues = {}, set()
    for channel in DOCUMENT["channels"].values():
        binding = channel.get("bindings", {}).get("amqp", {})
        if "exchange" in binding:
            exchanges[binding["exchange"]["name"]] = binding["exchange"]["type"]
            assert channel["title"] == binding["exchange"]["name"]
        if "queue" in binding:
            assert channel["address"] == binding["queue"]["name"]
            queues |= {binding["queue"]["name"].replace("{partition}", f"{n:02}") for n in range(PARTITIONS)}
    assert exchanges == {exchange["name"]: exchange["type"] for exchange in topology["exchanges"]}
    assert queues == {queue["name"] for queue in topology["queues"]}
