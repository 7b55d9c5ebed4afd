"""What breaks is seen, and nothing is lost."""

import subprocess
import os
import signal

from playwright.sync_api import expect

from conftest import Tab
from stack import eventually, free_port, request

NOTHING_LOST = "nothing was lost"


def calories(one):
    return eventually("the Island shows a state", lambda: one.page.locator(".compact-face .figure").inner_text())


def was_killed(stack, service):
    log = stack.folder / "logs" / "run.log"
    eventually("it was killed", lambda: f"killing {service}, as the page asks" in log.read_text())


def test_a_way_is_shown_hop_by_hop_and_a_click_shows_the_message(logged):
    hops = logged.hops("chicken bowl, 600 cal")
    for name in ("Webhook", "Confirmed", "Agent took it", "Reply", "Push", "Phone"):
        expect(hops.filter(has=logged.page.locator(".hop-name", has_text=name))).to_have_count(1)
    hops.filter(has_text="Linq sends the webhook").get_by_role("button").click()
    expect(hops.locator("pre")).to_contain_text('"event_type": "message.received"')
    hops.filter(has_text="shows it").get_by_role("button").click()
    expect(hops.locator("pre").last).to_contain_text('"calories": 600')
    expect(logged.page.locator("#tally")).to_contain_text(NOTHING_LOST)
    expect(logged.page.locator("#queues .queue")).to_have_count(4)


def test_linq_answers_429(logged):
    logged.do("linq-429")
    expect(logged.page.locator("#fault-state")).to_contain_text("Linq refuses the next 2 replies with 429")
    logged.text("apple 80 cal")
    refused = logged.hops("apple 80 cal").filter(has_text="429")
    expect(refused).to_have_count(2)
    expect(refused.first).to_have_attribute("data-tone", "bad")
    expect(logged.answers).to_have_count(2)
    taken = logged.hops("apple 80 cal").filter(has_text="Linq accepts the reply")
    expect(taken).to_have_attribute("data-tone", "good")
    expect(logged.page.locator("#tally")).to_contain_text("2 texts, all answered: " + NOTHING_LOST)
    # Its push must not be the one that meets the next test's fault.
    eventually("the newest state is shown", lambda: calories(logged) == "680")


def test_apns_answers_410(logged):
    logged.do("apns-410")
    expect(logged.page.locator("#fault-state")).to_contain_text("410")
    logged.text("apple 80 cal")
    expect(logged.hops("apple 80 cal").filter(has_text="410")).to_have_attribute("data-tone", "bad")
    expect(logged.answers).to_have_count(2)
    assert calories(logged) == "600"
    # What is desired is kept: the app that comes up registers its token again, and is sent it.
    logged.do("open")
    expect(logged.page.locator("#own-app")).to_contain_text("680")


def test_the_token_is_lost(logged):
    logged.do("lose-token")
    expect(logged.page.locator("#fault-state")).to_contain_text("the app registers the new ones")
    logged.text("apple 80 cal")
    expect(logged.answers).to_have_count(2)
    eventually("the newest state is shown", lambda: calories(logged) == "680")
    expect(logged.page.locator("#tally")).to_contain_text(NOTHING_LOST)


def test_the_agent_is_killed_and_comes_back(stack, logged):
    logged.do("kill-agent")
    expect(logged.page.locator("#fault-state")).to_contain_text("The agent was killed")
    logged.text("apple 80 cal")
    logged.text("pear 20 cal")
    expect(logged.answers).to_have_count(3)
    eventually("the newest state is shown", lambda: calories(logged) == "700")
    expect(logged.page.locator("#tally")).to_contain_text("3 texts, all answered: " + NOTHING_LOST)
    expect(logged.page.locator("#unsupervised")).to_be_hidden()
    was_killed(stack, "agent")


def test_the_pusher_is_killed_and_comes_back(stack, logged):
    logged.do("kill-pusher")
    expect(logged.page.locator("#fault-state")).to_contain_text("The pusher was killed")
    logged.text("apple 80 cal")
    expect(logged.answers).to_have_count(2)
    eventually("the newest state is shown", lambda: calories(logged) == "680")
    expect(logged.page.locator("#tally")).to_contain_text("2 texts, all answered: " + NOTHING_LOST)
    was_killed(stack, "apns-pusher")


def test_where_nobody_starts_services_again_the_page_says_what_to_do(stack, browser, handle):
    """A second simulator beside the first one, as in containers: without a pipe to ./run."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    simulator = subprocess.Popen(
        [stack.program("simulator")], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={
            **stack.settings("simulator"), "SIMULATOR_LISTEN": f"127.0.0.1:{port}",
            "SIMULATOR_APNS_LISTEN": "127.0.0.1:0", "SIMULATOR_INGRESS_URL": "", "SIMULATOR_REGISTRY_URL": "",
            "SIMULATOR_SUPERVISOR": ""})
    try:
        eventually("it answers", lambda: answers(url))
        phone = {"deviceID": "phone-1", "system": 18}
        made = request("POST", f"{url}/control/users", {"userID": "sam", "handles": [handle], "phones": [phone]})
        assert made.status == 200, made.body
        tab = Tab(browser, url, handle).open()
        expect(tab.page.locator("[data-do=quit]")).to_be_enabled()
        expect(tab.page.locator("#unsupervised")).to_contain_text("docker compose kill agent")
        for name in ("kill-agent", "kill-pusher", "hour"):
            expect(tab.page.locator(f"[data-do={name}]")).to_be_disabled()
        expect(tab.page.locator("#agent button")).to_be_disabled()
        for name in ("linq-429", "apns-410"):
            expect(tab.page.locator(f"[data-do={name}]")).to_be_enabled()
        tab.context.close()
        assert tab.errors == []
    finally:
        simulator.terminate()
        simulator.wait(20)


def answers(url):
    try:
        return request("GET", f"{url}/readyz").status == 200
    except OSError:
        return False


def test_the_depths_of_the_queues_are_live_and_what_was_superseded_is_grey(stack, logged):
    page = logged.page
    depth = page.locator("#queues [data-stage=islands] b")
    expect(depth).to_have_text("0")
    pusher = int((stack.folder / "pids" / "apns-pusher").read_text().split()[0])
    os.killpg(pusher, signal.SIGSTOP)
    try:
        for number in range(3):
            logged.text("apple 20 cal")
            expect(logged.answers).to_have_count(number + 2)
        expect(depth).to_have_text("3")
    finally:
        os.killpg(pusher, signal.SIGCONT)
    expect(depth).to_have_text("0")
    eventually("the newest state is shown", lambda: calories(logged) == "660")
    expect(page.locator(".hop", has_text="Superseded").first).to_have_attribute("data-tone", "idle")
