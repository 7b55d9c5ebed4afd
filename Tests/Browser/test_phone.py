"""What a person sees on the phone."""

import re

from playwright.sync_api import expect

from stack import eventually, request


def test_a_meal_gets_a_reply_and_the_ring_moves(logged):
    assert logged.share() == 0.3
    logged.text("two eggs 140 and toast 90")
    expect(logged.answers).to_have_count(2)
    expect(logged.answers.last).to_contain_text("830")
    eventually("the ring has moved", lambda: logged.share() == 0.415)
    expect(logged.page.locator(".compact-face .figure")).to_have_text("830")
    expect(logged.page.locator(".message.inbound .fate:visible")).to_have_count(1)


def test_a_long_press_expands_the_island_and_a_press_beside_it_closes_it(logged):
    page, island = logged.page, logged.island
    narrow = island.bounding_box()
    island.hover()
    page.mouse.down()
    expect(island).to_have_attribute("aria-expanded", "true")
    page.mouse.up()
    expect(page.locator(".expanded-face .coach-meal")).to_contain_text("Chicken bowl · 600 cal")
    expect(page.locator(".expanded-face .streak")).to_contain_text("1")
    wide = eventually("it has grown", lambda: island.bounding_box()["height"] > 3 * narrow["height"] and island.bounding_box())
    assert wide["width"] > narrow["width"]
    page.mouse.click(5, 400)
    expect(island).to_have_attribute("aria-expanded", "false")


def test_a_tap_opens_the_app_and_the_island_collapses(logged):
    page = logged.page
    logged.island.click()
    expect(page.locator("#own-app")).to_be_visible()
    expect(logged.island).to_have_attribute("data-form", "idle")
    expect(page.locator("#own-app")).to_contain_text("600")
    logged.do("open")
    expect(page.locator("#messages")).to_be_visible()
    expect(logged.island).to_have_attribute("data-form", "compact")


def test_a_card_that_was_swiped_away_stays_away_for_the_session(logged):
    page = logged.page
    page.get_by_role("button", name="Lock Screen").click()
    page.get_by_role("button", name="Swipe the Coach card away").click()
    expect(page.locator("#lock-list .card")).to_have_count(0)
    page.get_by_role("button", name="Messages").click()
    expect(logged.island).to_have_attribute("data-form", "idle")
    logged.text("apple 80 cal")
    expect(logged.answers).to_have_count(2)
    expect(logged.hops("apple 80 cal").filter(has_text="Nothing is sent")).to_have_attribute("data-tone", "idle")
    expect(logged.island).to_have_attribute("data-form", "idle")


def test_a_card_is_drawn_to_the_left_to_swipe_it_away(logged):
    page = logged.page
    page.get_by_role("button", name="Lock Screen").click()
    card = page.locator("#lock-list .card")
    name = card.locator(".card-name")
    draw(page, name, 30)
    expect(card).to_have_count(1)
    draw(page, name, 200)
    expect(card).to_have_count(0)


def draw(page, place, distance):
    """Draws it to the left by so many pixels, and lets go."""
    box = place.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - distance, y, steps=5)
    page.mouse.up()


def test_a_button_swipes_the_card_away(logged):
    logged.do("dismiss")
    expect(logged.island).to_have_attribute("data-form", "idle")
    expect(logged.page.locator("[data-do=dismiss]")).to_be_disabled()


def test_a_phone_that_was_offline_shows_the_newest_state_when_it_is_back(logged):
    logged.do("online")
    expect(logged.page.locator("#status-icons")).to_have_attribute("aria-label", re.compile("Airplane"))
    logged.text("apple 80 cal")
    expect(logged.answers).to_have_count(2)
    expect(logged.hops("apple 80 cal").filter(has_text="offline")).to_have_attribute("data-tone", "idle")
    assert logged.share() == 0.3
    logged.do("online")
    eventually("the ring has moved", lambda: logged.share() == 0.34)
    expect(logged.hops("apple 80 cal").filter(has_text="shows it")).to_have_attribute("data-tone", "good")


def test_two_activities_share_the_island(logged):
    logged.do("activity")
    expect(logged.island).to_have_attribute("data-form", "minimal")
    expect(logged.page.locator(".island.second")).to_have_attribute("aria-label", re.compile("Balance: .*1,840"))
    logged.page.get_by_role("button", name="Lock Screen").click()
    expect(logged.page.locator("#lock-list .card")).to_have_count(2)


def test_a_second_phone_gets_a_card_of_its_own(logged):
    page = logged.page
    logged.do("second")
    page.get_by_role("button", name="iPhone 2").click()
    expect(logged.island).to_have_attribute("data-form", "compact")
    expect(page.locator(".compact-face .figure")).to_have_text("600")
    expect(page.get_by_role("button", name="iPhone 2")).to_have_attribute("aria-pressed", "true")


def test_a_force_quit_app_and_another_ios_are_told(logged):
    logged.do("quit")
    expect(logged.page.locator("#phone-state")).to_contain_text("force-quit")
    logged.do("system")
    expect(logged.page.locator("#phone-state")).to_contain_text("iOS 17")
    logged.do("system")
    expect(logged.page.locator("#phone-state")).to_contain_text("iOS 18")


def test_a_photo_and_a_reaction_are_shown(logged):
    page = logged.page
    page.get_by_role("button", name="Add a photo").click()
    page.get_by_role("menuitem", name="Salad").click()
    logged.text("my lunch")
    expect(page.locator(".message.inbound .picture")).to_have_attribute("src", "/photo-salad.svg")
    picture = page.locator(".message.inbound .picture")
    eventually("it is loaded", lambda: picture.evaluate("image => image.complete && image.naturalWidth > 0"))
    expect(logged.answers).to_have_count(2)
    logged.answers.last.locator(".bubble").click()
    page.get_by_role("menuitemcheckbox", name="Love").click()
    expect(logged.answers.last.locator(".marks svg")).to_have_count(1)
    logged.answers.last.locator(".bubble").click()
    page.get_by_role("menuitemcheckbox", name="Love").click()
    expect(logged.answers.last.locator(".marks svg")).to_have_count(0)


def test_linq_shows_that_somebody_types_and_has_read(stack, logged):
    chat = stack.state(logged.handle)["chats"][0]["id"]
    token = {"Authorization": "Bearer " + stack.setting("linq-sender", "LINQ_API_TOKEN")}
    assert request("POST", f"{stack.linq_url}/v3/chats/{chat}/read", headers=token).status == 204
    expect(logged.page.locator(".message.inbound .fate")).to_contain_text("Read")
    assert request("POST", f"{stack.linq_url}/v3/chats/{chat}/typing", headers=token).status == 204
    expect(logged.page.locator("#typing")).to_be_visible()
    assert request("DELETE", f"{stack.linq_url}/v3/chats/{chat}/typing", headers=token).status == 204
    expect(logged.page.locator("#typing")).to_be_hidden()


def test_what_looks_like_html_stays_text(logged):
    words = "<img src=x onerror=alert(1)><b>bold</b> &amp; 90 cal"
    logged.text(words)
    expect(logged.answers).to_have_count(2)
    expect(logged.page.locator(".message.inbound .words").last).to_have_text(words)
    expect(logged.page.locator(".trail-title").first).to_have_text(words)
    assert logged.page.locator(".stage b b, .bubble b, .bubble img").count() == 0
