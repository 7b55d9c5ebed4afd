"""One text in, one reply and one Island out."""

import concurrent.futures
import re

from stack import eventually, request


def say(stack, handle, text, **more):
    said = stack.control("POST", "say", {"from": handle, "text": text, **more})
    assert said.status == 200, said.body
    return said.json()


def replies(stack, handle):
    return [message["text"] for message in stack.thread(handle) if message["direction"] == "outbound"]


def test_a_meal_gets_a_reply_and_moves_the_ring(stack, handle):
    first = say(stack, handle, "just had a chicken bowl, ~600 cal")
    assert "600" in first["reply"]
    assert first["island"]["contentState"] == {
        "calories": 600, "goal": 2000, "streak": 1, "lastMeal": "Chicken bowl · 600 cal"}
    second = say(stack, handle, "two eggs 140 and toast 90")
    assert second["island"]["contentState"]["calories"] == 830
    assert second["island"]["activityID"] == first["island"]["activityID"]


def test_two_people_are_kept_apart(stack, handle):
    other = handle[:-1] + ("1" if handle[-1] != "1" else "2")
    say(stack, handle, "600 cal")
    assert say(stack, other, "100 cal")["island"]["contentState"]["calories"] == 100
    assert say(stack, handle, "50 cal")["island"]["contentState"]["calories"] == 650


def test_a_text_that_is_delivered_five_times_counts_once_and_is_answered_once(stack, handle):
    say(stack, handle, "100 cal")
    stack.text(handle, "10 cal", copies=5)
    eventually("the text counts", lambda: stack.island(handle)["calories"] == 110)
    # Another text behind it: whatever the copies did has happened when that one is answered.
    assert say(stack, handle, "1 cal")["island"]["contentState"]["calories"] == 111
    assert len(replies(stack, handle)) == 3


def test_texts_that_come_at_once_are_answered_in_order_and_all_count(stack, handle):
    say(stack, handle, "100 cal")
    for _ in range(10):
        stack.text(handle, "10 cal")
    eventually("all count", lambda: stack.island(handle)["calories"] == 200)
    eventually("all are answered", lambda: len(replies(stack, handle)) == 11)


def test_many_people_at_once_each_get_their_own(stack):
    handles = [f"+1303{number:07}" for number in range(5_550_000, 5_550_040)]
    with concurrent.futures.ThreadPoolExecutor(10) as pool:
        said = list(pool.map(lambda one: say(stack, one, f"{int(one[-2:]) + 100} cal"), handles))
    for handle, one in zip(handles, said):
        assert one["island"]["contentState"]["calories"] == int(handle[-2:]) + 100


def test_an_sms_gets_a_reply_and_no_island(stack, handle):
    say(stack, handle, "300 cal", service="SMS")
    assert stack.island(handle) is None
    assert stack.metric("agent", 'isthmus_agent_without_island_total{reason="not_imessage"}') > 0


def test_who_has_no_app_gets_a_reply(stack, handle):
    stack.text(handle, "300 cal", onboard=False)
    eventually("there is a reply", lambda: any("300" in reply for reply in replies(stack, handle)))
    assert stack.metric("agent", 'isthmus_agent_without_island_total{reason="unknown_user"}') > 0


def test_the_page_is_served_by_the_simulator_alone(stack):
    page = request("GET", stack.simulator_url + "/")
    assert page.status == 200
    assert b"<html" in page.body
    for path in [""] + [name.decode() for name in re.findall(rb'(?:src|href)="/([^"]+)"', page.body)]:
        file = request("GET", f"{stack.simulator_url}/{path}")
        assert file.status == 200
        assert b"http://" not in file.body.replace(b"http://www.w3.org", b"") and b"https://" not in file.body
    assert request("GET", stack.simulator_url + "/../secrets/webhook-secret").status == 404
