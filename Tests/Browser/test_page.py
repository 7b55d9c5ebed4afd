"""The page as a page: tabs, reload, long conversations, small screens, keyboards, screen readers, lost connections."""

import concurrent.futures
import re
import urllib.request
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from stack import eventually, request

PHONE = {"width": 390, "height": 844}


def test_two_tabs_agree(logged, tab):
    other = tab()
    expect(other.answers).to_have_count(1)
    other.text("apple 80 cal")
    for one in (logged, other):
        expect(one.answers).to_have_count(2)
        eventually("the ring has moved", lambda: one.share() == 0.34)
    logged.do("open")
    expect(other.page.locator("#own-app")).to_be_visible()


def test_a_reload_changes_nothing(logged):
    page = logged.page
    page.locator("#text").fill("half a thou")
    page.get_by_role("button", name="Lock Screen").click()
    page.reload()
    expect(page.locator("#lock")).to_be_visible()
    expect(page.locator("#lock-list .card")).to_have_count(1)
    page.get_by_role("button", name="Messages").click()
    expect(page.locator("#text")).to_have_value("half a thou")
    expect(page.locator(".message")).to_have_count(2)
    assert logged.share() == 0.3


def test_one_can_be_somebody_else_and_come_back(logged):
    page = logged.page
    switch(page, logged.handle.replace("+1202", "+1303"))
    expect(page.locator("#thread-note")).to_contain_text("No messages yet")
    page.get_by_role("button", name="how am I doing?").click()
    expect(logged.answers).to_have_count(1)
    switch(page, logged.handle)
    expect(page.locator(".message.inbound .words")).to_have_text("chicken bowl, 600 cal")


def switch(page, handle):
    page.get_by_label("You are").fill(handle)
    with page.expect_navigation():
        page.get_by_role("button", name="Switch", exact=True).click()
    expect(page.get_by_label("You are")).to_have_value(handle)


def test_a_thousand_messages_do_not_fill_the_page(stack, tab):
    one = tab()

    def echo(number):
        # What the line has sent otherwise: it is in the thread, and nobody has to answer it.
        text = {"from": one.handle, "text": f"message {number}", "echo": True, "onboard": False}
        assert stack.control("POST", "texts", text).status == 202

    echo(0)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(echo, range(1, 999)))
    echo(999)
    expect(one.answers.last.locator(".words")).to_have_text("message 999")
    assert one.answers.count() <= 80
    assert len(stack_event(stack, one.handle)) < 40_000
    thread = one.page.locator("#thread")
    for _ in range(60):
        before = one.answers.first.locator(".words").inner_text()
        if before == "message 0":
            break
        thread.evaluate("thread => thread.scrollTo(0, 0)")
        eventually("earlier ones are shown", lambda: one.answers.first.locator(".words").inner_text() != before)
        assert one.page.locator(".message").count() <= 80
    expect(one.answers.first.locator(".words")).to_have_text("message 0")
    # Who writes is taken to the end.
    one.text("apple 80 cal")
    expect(one.page.locator(".message.inbound")).to_be_in_viewport()
    expect(one.answers.last).to_be_in_viewport()


def stack_event(stack, handle):
    """The first state that a page is told."""
    with urllib.request.urlopen(f"{stack.simulator_url}/events?user={handle.replace('+', '%2B')}", timeout=60) as stream:
        for line in stream:
            if line.startswith(b"data:"):
                return line


def test_the_page_fits_a_phone(tab):
    one = tab(viewport=PHONE, has_touch=True, is_mobile=True)
    one.text("chicken bowl, 600 cal")
    expect(one.answers).to_have_count(1)
    expect(one.island).to_have_attribute("data-form", "compact")
    assert one.page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    one.island.press("Enter")
    expect(one.island).to_have_attribute("aria-expanded", "true")
    eventually("it has grown", lambda: one.island.evaluate("island => island.getAnimations().length === 0"))
    box = one.island.bounding_box()
    assert box["height"] > 100
    assert 0 <= box["x"] and box["x"] + box["width"] <= PHONE["width"]
    one.do("linq-429")
    expect(one.page.locator("#fault-state")).to_contain_text("429")
    one.page.request.delete(one.address.split("/?")[0] + "/control/faults")


def test_everything_can_be_done_by_keyboard(logged):
    page = logged.page
    keys = page.keyboard
    page.locator("#text").focus()
    keys.type("apple 80 cal")
    keys.press("Enter")
    expect(logged.answers).to_have_count(2)
    tab_to(page, "#thread")
    keys.press("ArrowUp")
    keys.press("Enter")
    expect(page.get_by_role("menu")).to_be_visible()
    keys.press("ArrowRight")
    keys.press("Enter")
    expect(logged.answers.last.locator(".marks svg")).to_have_count(1)
    tab_to(page, ".island")
    keys.press("Enter")
    expect(logged.island).to_have_attribute("aria-expanded", "true")
    keys.press("Escape")
    expect(logged.island).to_have_attribute("aria-expanded", "false")
    tab_to(page, "[data-do=online]")
    keys.press("Space")
    expect(page.locator("#phone-state")).to_contain_text("offline")
    tab_to(page, "button.hop-head")
    keys.press("Enter")
    expect(page.locator(".hop pre")).to_have_count(1)


def tab_to(page, selector):
    """Goes on with the Tab key until the focus is there."""
    for _ in range(150):
        page.keyboard.press("Tab")
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(f"the Tab key does not lead to {selector}")


def test_nothing_can_be_pressed_before_somebody_listens(logged):
    page = logged.page
    pressable = page.locator("button:enabled, input:enabled, select:enabled")
    script, states = held(page, "**/main.js"), held(page, "**/events?*")
    page.reload(wait_until="commit")
    expect(page.locator("#text")).to_be_visible()
    expect(pressable).to_have_count(0)
    script.go_on()
    expect(page.locator("#text")).to_be_enabled()
    expect(page.locator("#connection")).to_have_text("Connecting…")
    expect(page.locator("[data-do]:enabled")).to_have_count(0)
    states.go_on()
    expect(page.locator("#connection")).to_have_text("Live")
    expect(page.locator("[data-do=open]")).to_be_enabled()
    expect(page.locator("[data-do=kill-agent]")).to_be_enabled()


class held:
    """Requests of a page to such addresses wait, as on a slow machine, until they may go on."""

    def __init__(self, page, addresses):
        self.page = page
        self.addresses = addresses
        self.waiting = []
        page.route(addresses, lambda route: self.waiting.append(route))

    def go_on(self):
        eventually("it is asked for", lambda: self.page.evaluate("true") and self.waiting)
        for route in self.waiting:
            route.continue_()
        self.page.unroute(self.addresses)


def test_what_came_while_the_tab_was_hidden_is_heard_when_it_is_back(stack, tab):
    one = tab()

    def turn(is_hidden):
        one.page.evaluate("""isHidden => {
            Object.defineProperty(document, "hidden", { value: isHidden, configurable: true });
            document.dispatchEvent(new Event("visibilitychange"));
        }""", is_hidden)

    turn(True)
    stack.text(one.handle, "chicken bowl, 600 cal")
    eventually("it is answered", lambda: len(stack.thread(one.handle)) == 2)
    turn(False)
    heard = one.page.locator("#heard-messages")
    expect(heard).to_contain_text("You: chicken bowl, 600 cal")
    expect(heard).to_contain_text("Answer: Got it")


def test_a_screen_reader_hears_messages_and_the_island(logged):
    expect(logged.page.locator("#heard-messages")).to_contain_text("You: chicken bowl, 600 cal")
    expect(logged.page.locator("#heard-messages")).to_contain_text("Answer: Got it")
    expect(logged.page.locator("#heard-island")).to_contain_text("600 of 2,000 calories")
    logged.text("apple 80 cal")
    expect(logged.page.locator("#heard-messages")).to_contain_text("You: apple 80 cal")
    expect(logged.page.locator("#heard-island")).to_contain_text("680 of 2,000 calories")


def test_who_wants_no_motion_gets_none(tab):
    one = tab(reduced_motion="reduce")
    one.text("chicken bowl, 600 cal")
    expect(one.island).to_have_attribute("data-form", "compact")
    assert one.island.evaluate("island => parseFloat(getComputedStyle(island).transitionDuration)") <= 0.001


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_axe_finds_nothing(tab, handle, scheme, width):
    one = tab(viewport={"width": width, "height": 844}, color_scheme=scheme, reduced_motion="reduce")
    assert_accessible(one, "nothing yet")
    one.text("chicken bowl, 600 cal")
    expect(one.island).to_have_attribute("data-form", "compact")
    expect(one.answers).to_have_count(1)
    one.page.locator("button.hop-head:visible").first.click()
    expect(one.page.locator(".hop pre")).to_have_count(1)
    one.island.press("Enter")
    expect(one.island).to_have_attribute("aria-expanded", "true")
    assert_accessible(one, "Messages")
    one.do("activity")
    expect(one.page.locator(".island.second")).to_have_attribute("data-form", "minimal")
    one.page.get_by_role("button", name="Lock Screen").click()
    expect(one.page.locator("#lock-list .card")).to_have_count(2)
    assert_accessible(one, "the Lock Screen")
    one.do("open")
    expect(one.page.locator("#own-app")).to_be_visible()
    assert_accessible(one, "the app")


def assert_accessible(one, where):
    found = Axe().run(one.page).response["violations"]
    assert not found, f"{where}: " + "; ".join(
        f"{one['id']}: {node['html'][:200]} {node['failureSummary']}" for one in found for node in one["nodes"])


def test_the_browser_is_told_to_ask_nobody_else(stack):
    page = request("GET", stack.simulator_url + "/")
    assert "default-src 'none'" in page.headers["Content-Security-Policy"]
    assert "unsafe" not in page.headers["Content-Security-Policy"]
    other = request("POST", f"{stack.simulator_url}/control/faults", {"linq": "error"}, {"Origin": "http://elsewhere.example"})
    assert other.status == 403


def test_each_kind_has_a_look_of_its_own(stack, tab):
    one = tab()
    asked = {
        "order": ("two margheritas and a lemonade", "$29.00", "Margherita"),
        "delivery": ("order from Mario's, 20 min", "20 min", "Mario's"),
        "balance": ("earned 1840 points for a flight", "1,840", "A flight"),
        "checklist": ("Moving day: pack, call Ada, lift", "0/3", "Moving day"),
        "coach": ("chicken bowl, 600 cal", "600", "Chicken bowl"),
    }
    try:
        for agent, (words, short, long) in asked.items():
            one.page.locator("#agent-name").select_option(agent)
            with one.page.expect_navigation():
                one.page.get_by_role("button", name="Restart with it").click()
            # The one before must not take the text.
            eventually("it is another agent", lambda: agent_that_runs(stack) == agent)
            one.text(words)
            expect(one.island).to_have_attribute("data-kind", agent)
            expect(one.page.locator(".compact-face .trailing")).to_contain_text(short)
            expect(one.page.locator(".expanded-face")).to_contain_text(long)
    finally:
        stack.control("POST", "agent", {"agent": "coach"})


def agent_that_runs(stack):
    """What its process was started as, or None while it is between two lives."""
    try:
        process = (stack.folder / "pids" / "agent").read_text().split()[0]
        told = Path(f"/proc/{process}/environ").read_text().split("\0")
    except (OSError, IndexError):
        return None
    return next((one.removeprefix("AGENT=") for one in told if one.startswith("AGENT=")), None)


def test_a_lost_simulator_is_told_and_found_again(stack, tab):
    one = tab()
    stop = one.page.locator("#connection")
    one.text("chicken bowl, 600 cal")
    expect(one.answers).to_have_count(1)
    one.page.evaluate("""() => {
        window.states = [];
        new MutationObserver(() => window.states.push(document.getElementById("connection").dataset.state))
            .observe(document.getElementById("connection"), { attributes: true });
    }""")
    stack.restart("simulator")
    eventually("the page knows", lambda: "lost" in one.page.evaluate("window.states"))
    expect(stop).to_have_text("Live")
    # It is another world now: its people are gone with the simulator.
    expect(one.page.locator("#thread-note")).to_contain_text("No messages yet")
    one.errors[:] = [error for error in one.errors if "net::ERR" not in error]
