"""What time does to a card. The clocks of the whole stack go on with each press: these tests come in this order."""

import re

from playwright.sync_api import expect

from stack import eventually


def test_a_card_that_nothing_reaches_for_an_hour_looks_stale(logged):
    logged.do("online")
    expect(logged.page.locator("#phone-state")).to_contain_text("offline")
    logged.do("hour")
    expect(logged.island).to_have_class(re.compile("is-stale"))
    expect(logged.island).to_have_attribute("aria-label", re.compile("not up to date"))
    logged.page.get_by_role("button", name="Lock Screen").click()
    expect(logged.page.locator("#lock-list .card-note")).to_contain_text("Not up to date")


def test_silence_ends_a_card_and_it_goes_at_its_dismissal_date(logged):
    page = logged.page
    logged.do("hour")
    page.get_by_role("button", name="Lock Screen").click()
    expect(page.locator("#lock-list .card")).to_have_class(re.compile("is-ended"))
    expect(page.locator("#lock-list .card-note")).to_contain_text("Ended; leaves at")
    expect(logged.island).to_have_attribute("data-form", "idle")
    logged.do("hour")
    expect(page.locator("#lock-list .card")).to_have_count(0)


def test_an_app_that_is_installed_anew_has_a_card_again(stack, logged):
    def activity():
        island = stack.state(logged.handle)["phones"][0].get("island")
        return island and island["activityID"]

    before = activity()
    # A card that has gone within its first minute is taken for one that was swiped away.
    stack.advance(100)
    logged.do("reinstall")
    eventually("there is another card", lambda: activity() not in (None, before))
    expect(logged.page.locator(".compact-face .figure")).to_have_text("600")
