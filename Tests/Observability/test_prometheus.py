"""Rules, alerts and the dashboard against a Prometheus that scrapes the real stack."""

import json
import re
import subprocess

import pytest
import yaml

from prometheus import FOLDER, SERVICES, rules, selectors
from stack import ROOT, eventually

DASHBOARD = json.loads((ROOT / "infra/grafana/dashboards/isthmus.json").read_text())
PANELS = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
ALERTS = [rule["alert"] for rule in rules() if "alert" in rule]


def promtool(*arguments):
    told = subprocess.run(["/usr/bin/promtool", *arguments], capture_output=True, text=True, timeout=60)
    assert told.returncode == 0, told.stdout + told.stderr


def test_promtool_finds_nothing_wrong():
    promtool("check", "config", str(FOLDER / "prometheus.yml"))
    promtool("check", "rules", *map(str, sorted((FOLDER / "rules").glob("*.yml"))))


def test_each_alert_fires_on_its_case_and_on_nothing_else():
    promtool("test", "rules", str(FOLDER / "tests" / "alerts.yml"))
    cases = [
        check for test in yaml.safe_load((FOLDER / "tests/alerts.yml").read_text())["tests"]
        for check in test["alert_rule_test"]]
    assert {check["alertname"] for check in cases if check["exp_alerts"]} == set(ALERTS)
    assert {check["alertname"] for check in cases if not check["exp_alerts"]} == set(ALERTS)


def test_each_alert_has_a_paragraph_in_the_runbook_and_each_paragraph_an_alert():
    text = (ROOT / "docs/runbooks.md").read_text()
    paragraphs = dict(re.findall(r"^## (\w+)\n\n(.+?)\n(?:\n|\Z)", text, re.MULTILINE | re.DOTALL))
    assert sorted(paragraphs) == sorted(ALERTS) and len(set(ALERTS)) == len(ALERTS)
    assert all(len(paragraph) > 80 for paragraph in paragraphs.values())
    for rule in rules():
        if "alert" in rule:
            assert rule["annotations"]["runbook"] == f"docs/runbooks.md#{rule['alert'].lower()}"
            assert rule["labels"]["severity"] in ("critical", "warning")


def test_all_is_scraped(prometheus):
    jobs = {result["metric"]["job"] for result in prometheus.query("up == 1")}
    assert jobs == {*SERVICES, "rabbitmq", "rabbitmq-queues"}


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.get("alert") or rule["record"])
def test_what_a_rule_asks_for_is_in_the_scrape(prometheus, rule):
    asked = selectors(rule["expr"]) or {"up"}
    for selector in asked:
        assert prometheus.query(selector), f"{selector} is nowhere"


def test_no_alert_fires_while_all_is_well(prometheus):
    answer = prometheus.get("rules", type="alert").json()["data"]["groups"]
    told = [rule for group in answer for rule in group["rules"]]
    assert sorted(rule["name"] for rule in told) == sorted(ALERTS)
    assert all(rule["health"] == "ok" for rule in told), told
    assert [rule["name"] for rule in told if rule["state"] != "inactive"] == []


@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: panel["title"])
def test_a_panel_shows_something(prometheus, panel):
    assert panel["targets"]
    for target in panel["targets"]:
        expression = target["expr"].replace("$__rate_interval", "1m")
        eventually(f"{expression} has a figure", lambda: [
            result for result in prometheus.query(expression) if result["value"][1] != "NaN"])


def test_the_dashboard_reads_from_left_to_right():
    """In a row, no panel stands left of one of an earlier part of the way."""
    way = ["ingress", "inbound", "agent", "replies", "linq-sender", "apns-pusher"]
    row = [panel for panel in PANELS if panel["gridPos"]["y"] == 6]
    parts = [panel["title"].split(":")[0] for panel in sorted(row, key=lambda panel: panel["gridPos"]["x"])]
    assert parts == way
    for panel in PANELS:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
        others = [other["gridPos"] for other in DASHBOARD["panels"] if other is not panel]
        assert not any(
            place["x"] < other["x"] + other["w"] and other["x"] < place["x"] + place["w"]
            and place["y"] < other["y"] + other["h"] and other["y"] < place["y"] + place["h"] for other in others), panel["title"]


def test_provisioning_names_what_is_there():
    source = yaml.safe_load((ROOT / "infra/grafana/provisioning/datasources/prometheus.yml").read_text())
    assert [one["type"] for one in source["datasources"]] == ["prometheus"]
    provider = yaml.safe_load((ROOT / "infra/grafana/provisioning/dashboards/isthmus.yml").read_text())
    assert provider["providers"][0]["options"]["path"]
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])
    for panel in PANELS:
        assert all(target["datasource"]["uid"] == "${datasource}" for target in panel["targets"])
