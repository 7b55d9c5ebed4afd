"""The life of a card, from the first text to the last."""

from stack import eventually
from test_erasure import call
from test_loop import replies, say


def phones(stack, handle):
    return stack.state(handle)["phones"]


def live_cards(phone):
    return [card for card in phone["cards"] if card["phase"] in ("active", "stale")]


def press(stack, phone, event):
    answer = stack.control("POST", f"phones/{phone['deviceID']}/{event}", {})
    assert answer.status in (200, 202, 204), answer.body


def test_a_dismissed_card_stays_dismissed_for_the_session(stack, someone):
    phone = phones(stack, someone)[0]
    press(stack, phone, "dismiss")
    eventually("the card is gone", lambda: not live_cards(phones(stack, someone)[0]))
    eventually("the registry knows", lambda: any(
        "dismissed" in str(said) for said in phones(stack, someone)[0]["registrations"]))
    say(stack, someone, "50 cal", expectIsland=False)
    say(stack, someone, "50 cal", expectIsland=False)
    assert not live_cards(phones(stack, someone)[0])


def test_a_second_phone_gets_its_own_start(stack, handle):
    add_phones(stack, handle, {"deviceID": "first-" + handle[1:]}, {"deviceID": "second-" + handle[1:]})
    say(stack, handle, "600 cal")
    eventually("both phones show it", lambda: [
        phone["island"] and phone["island"]["contentState"]["calories"] for phone in phones(stack, handle)] == [600, 600])
    say(stack, handle, "50 cal")
    eventually("both phones follow, on one card each", lambda: [
        [card["contentState"]["calories"] for card in live_cards(phone)] for phone in phones(stack, handle)]
        == [[650], [650]])


def test_phone_and_email_of_one_user_share_one_card(stack, handle):
    email = f"sam{handle[1:]}@example.com"
    added = stack.control("POST", "users", {
        "userID": "both-" + handle[1:], "handles": [handle, email], "phones": [{"deviceID": "both-" + handle[1:]}]})
    assert added.status in (200, 201), added.body
    say(stack, email, "600 cal")
    assert say(stack, handle, "50 cal")["island"]["contentState"]["calories"] == 650
    assert say(stack, email, "50 cal")["island"]["contentState"]["calories"] == 700
    assert len(live_cards(phones(stack, handle)[0])) == 1


def test_a_state_comes_along_when_its_writer_becomes_known(stack, handle):
    email = f"kim{handle[1:]}@example.com"
    stack.text(email, "600 cal", onboard=False)
    eventually("there is a reply", lambda: replies(stack, email))
    added = stack.control("POST", "users", {
        "userID": "later-" + handle[1:], "handles": [handle, email], "phones": [{"deviceID": "later-" + handle[1:]}]})
    assert added.status in (200, 201), added.body
    # The session is still open: the new phone gets its card without another text.
    eventually("the state is on the new phone", lambda: (stack.island(handle) or {}).get("calories") == 600)
    assert say(stack, handle, "50 cal")["island"]["contentState"]["calories"] == 650


def test_silence_ends_the_card_and_the_next_text_starts_another(stack, handle):
    first = say(stack, handle, "600 cal")["island"]
    stack.advance(31 * 60)
    ended = eventually("the card has ended", lambda: [
        card for card in phones(stack, handle)[0]["cards"] if card["phase"] == "ended"])
    assert ended[0]["contentState"]["calories"] == 600
    second = say(stack, handle, "chicken bowl, 50 cal")["island"]
    assert second["activityID"] != first["activityID"]
    assert second["sessionID"] != first["sessionID"]


def test_a_card_is_renewed_before_its_eight_hours_with_no_gap(stack, handle):
    stack.restart("agent", SESSION_IDLE="48h")
    try:
        card = say(stack, handle, "600 cal")["island"]
        for _ in range(2):
            stack.advance(7 * 3600 + 46 * 60)
            new = eventually("another card has taken over", lambda: renewed(phones(stack, handle)[0], card))
            assert new["contentState"] == card["contentState"] and new["sessionID"] == card["sessionID"]
            card = new
        assert say(stack, handle, "50 cal")["island"]["activityID"] == card["activityID"]
    finally:
        stack.restart("agent", SESSION_IDLE="30m")


def test_an_app_that_is_installed_anew_has_a_card_again(stack, someone):
    stack.advance(100)
    press(stack, phones(stack, someone)[0], "reinstall")
    eventually("there is a card", lambda: (stack.island(someone) or {}).get("calories") == 600)
    assert say(stack, someone, "50 cal")["island"]["contentState"]["calories"] == 650
    assert len(live_cards(phones(stack, someone)[0])) == 1


def renewed(phone, old):
    """The card that has taken over, once the old one is gone; at every moment there is one."""
    live = live_cards(phone)
    assert live, "a gap"
    return live[0] if len(live) == 1 and live[0]["activityID"] != old["activityID"] else None


def test_a_session_ends_although_the_agent_was_restarted_meanwhile(stack, handle):
    stack.restart("agent", SESSION_IDLE="6s")
    try:
        say(stack, handle, "600 cal")
        stack.restart("agent")
        ended = eventually("the card has ended", lambda: [
            card for card in phones(stack, handle)[0]["cards"] if card["phase"] == "ended"])
        assert len(ended) == 1 and ended[0]["contentState"]["calories"] == 600
    finally:
        stack.restart("agent", SESSION_IDLE="30m")


def test_a_phone_that_was_away_shows_the_newest_state(stack, someone):
    phone = phones(stack, someone)[0]
    press(stack, phone, "offline")
    for _ in range(3):
        say(stack, someone, "10 cal", expectIsland=False)
    assert stack.island(someone)["calories"] == 600
    press(stack, phone, "online")
    say(stack, someone, "10 cal")
    assert stack.island(someone)["calories"] == 640


def test_a_quit_app_gets_a_card_and_follows_once_it_is_opened(stack, handle):
    add_phones(stack, handle, {"deviceID": "quit-" + handle[1:]})
    press(stack, phones(stack, handle)[0], "force-quit")
    stack.text(handle, "600 cal")
    eventually("the card is there", lambda: (stack.island(handle) or {}).get("calories") == 600)
    say(stack, handle, "50 cal", expectIsland=False)
    assert stack.island(handle)["calories"] == 600, "nothing reaches it without an update token"
    for event in ("open", "leave"):
        press(stack, phones(stack, handle)[0], event)
    eventually("the card shows the newest state", lambda: (stack.island(handle) or {}).get("calories") == 650)
    assert len(live_cards(phones(stack, handle)[0])) == 1


def test_iOS_17_and_18_side_by_side(stack, handle):
    add_phones(stack, handle, *({"deviceID": f"ios-{system}-{handle[1:]}", "system": system} for system in (17, 18)))
    for text, calories in (("600 cal", 600), ("50 cal", 650)):
        stack.text(handle, text)
        eventually("both phones show it, on one card each", lambda: [
            [card["contentState"]["calories"] for card in live_cards(phone)] for phone in phones(stack, handle)]
            == [[calories], [calories]])
    assert [phone["system"] for phone in phones(stack, handle)] == ["iOS 17", "iOS 18"]


def test_a_phone_of_the_other_environment_gets_replies_and_its_token_is_given_up(stack, handle):
    # The simulator is APNs' production end, and a build of Xcode's has tokens of the sandbox.
    user = add_phones(stack, handle, {"deviceID": "xcode-" + handle[1:], "environment": "sandbox"})

    def start_tokens():
        return [token["attributesType"] for device in call(stack, "GET", user).json()["devices"]
                for token in device["startTokens"]]

    registered = start_tokens()
    say(stack, handle, "600 cal", expectIsland=False)
    eventually("the token of the kind that was pushed is gone", lambda: len(start_tokens()) == len(registered) - 1)
    say(stack, handle, "50 cal", expectIsland=False)
    assert not phones(stack, handle)[0]["cards"]


def add_phones(stack, handle, *added):
    user = "phones-" + handle[1:]
    answer = stack.control("POST", "users", {"userID": user, "handles": [handle], "phones": list(added)})
    assert answer.status in (200, 201), answer.body
    return user


def test_a_state_that_a_phone_would_drop_is_never_sent(stack, someone):
    assert all(not phone["dropped"] for phone in phones(stack, someone))
