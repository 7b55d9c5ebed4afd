"""The page in a real browser, over the real stack."""

import sys
import uuid
from pathlib import Path

import pytest
from playwright.sync_api import expect, sync_playwright

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "Interop"))

from stack import ROOT, running_stack  # noqa: E402

SCREENSHOTS = ROOT / ".test" / "browser-screenshots"

# A guard against hanging, in milliseconds: a busy machine takes its time.
LIMIT = 60_000

expect.set_options(timeout=LIMIT)


@pytest.fixture(scope="session")
def stack():
    with running_stack("browser") as stack:
        yield stack


@pytest.fixture(scope="session")
def browser():
    with sync_playwright() as playwright:
        # Debian's own browser; as root it has no sandbox to go into.
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def handle():
    """A number that nobody has used yet."""
    return f"+1202{uuid.uuid4().int % 9_000_000 + 1_000_000}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    setattr(item, "report_" + report.when, report)
    return report


class Tab:
    """A tab with the page of somebody, and what was heard from it."""

    def __init__(self, browser, url, handle, **context):
        self.context = browser.new_context(**{"viewport": {"width": 1280, "height": 860}, **context})
        self.context.set_default_timeout(LIMIT)
        self.page = self.context.new_page()
        self.address = f"{url}/?user={handle.replace('+', '%2B')}"
        self.handle = handle
        self.errors = []
        self.foreign = []
        self.watch(self.page, url)

    def watch(self, page, url):
        page.on("console", lambda message: message.type in ("error", "warning") and self.errors.append(message.text))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", lambda asked: asked.url.startswith(url) or self.foreign.append(asked.url))

    def open(self):
        self.page.goto(self.address)
        expect(self.page.locator("#connection")).to_have_text("Live")
        return self

    def text(self, words):
        """Writes as a person does: into the field, and Enter."""
        self.page.locator("#text").fill(words)
        self.page.locator("#text").press("Enter")

    @property
    def answers(self):
        return self.page.locator(".message.outbound")

    @property
    def island(self):
        return self.page.locator("#island-place .island").first

    def do(self, name):
        self.page.locator(f"[data-do={name}]").click()

    def share(self):
        """How far the ring of the compact Island is filled, as the page has drawn it."""
        return float(self.page.locator(".compact-face .ring").get_attribute("data-share"))

    def hops(self, title):
        """The rows of the newest trail of that title."""
        return self.page.locator(".trail", has=self.page.locator(".trail-title", has_text=title)).first.locator(".hop")


@pytest.fixture
def tab(stack, browser, request, handle):
    """Opens tabs: `tab()`, `tab(handle=…, viewport=…, color_scheme=…)`. No test leaves an error in a console."""
    tabs = []

    def open_tab(handle=handle, **context):
        one = Tab(browser, stack.simulator_url, handle, **context)
        tabs.append(one)
        return one.open()

    yield open_tab
    failed = getattr(request.node, "report_call", None) is None or request.node.report_call.failed
    for number, one in enumerate(tabs):
        if failed:
            SCREENSHOTS.mkdir(parents=True, exist_ok=True)
            one.page.screenshot(path=SCREENSHOTS / f"{request.node.name}-{number}.png", full_page=True)
        one.context.close()
    assert not any(one.errors for one in tabs), [one.errors for one in tabs]
    assert not any(one.foreign for one in tabs), [one.foreign for one in tabs]


@pytest.fixture
def logged(tab):
    """A tab of somebody who has just logged a meal of 600 kcal."""
    one = tab()
    one.text("chicken bowl, 600 cal")
    expect(one.island).to_have_attribute("data-form", "compact")
    expect(one.answers).to_have_count(1)
    return one
