"""Makes the README's pictures: `make pictures`. They are of the real thing, as the tests see it."""

import io
import time

from PIL import Image, ImageChops
from playwright.sync_api import expect

from stack import ROOT, eventually

PICTURES = ROOT / "docs" / "pictures"
# The movements are slowed down, so that a screenshot catches them, and shown at their own speed.
SLOWNESS = 10
# A picture is shown for so long at least, in seconds.
FRAME = 0.04
WIDTH = 300


def save(picture, name):
    PICTURES.mkdir(parents=True, exist_ok=True)
    picture.convert("RGB").save(PICTURES / name, quality=82, method=6)


def shot(place):
    return Image.open(io.BytesIO(place.screenshot())).convert("RGB")


def settle(one):
    """Waits until two looks in a row are the same: every movement has ended."""
    looks = []

    def still():
        looks.append(shot(one.page))
        return len(looks) > 1 and not ImageChops.difference(*looks[-2:]).getbbox()

    eventually("nothing moves any more", still)


def press_long(one):
    one.island.hover()
    one.page.mouse.down()
    expect(one.island).to_have_attribute("aria-expanded", "true")
    one.page.mouse.up()


def log_meal(one, words):
    one.text(words)
    expect(one.answers).to_have_count(1)
    expect(one.island).to_have_attribute("data-form", "compact")
    one.page.locator("#text").blur()


def test_page(tab):
    one = tab(viewport={"width": 1280, "height": 850})
    log_meal(one, "just had a chicken bowl, ~600 cal")
    one.do("linq-429")
    one.text("two eggs 140 and toast 90")
    expect(one.answers).to_have_count(2)
    expect(one.hops("two eggs").filter(has_text="shows it")).to_have_count(1)
    expect(one.hops("two eggs").filter(has_text="The agent takes it")).to_have_count(1)
    one.page.locator("#text").blur()
    settle(one)
    save(shot(one.page), "page.webp")


def test_phones(tab):
    """The expanded Island, and beside it the Lock Screen with two cards."""
    one = tab(viewport={"width": 1280, "height": 850}, color_scheme="dark")
    log_meal(one, "just had a chicken bowl, ~600 cal")
    device = one.page.locator("#device")
    press_long(one)
    settle(one)
    first = shot(device)
    one.page.keyboard.press("Escape")
    one.do("activity")
    expect(one.island).to_have_attribute("data-form", "minimal")
    one.page.get_by_role("button", name="Lock Screen").click()
    settle(one)
    second = shot(device)
    both = Image.new("RGB", (first.width * 2 + 40, first.height), first.getpixel((0, 0)))
    both.paste(first, (0, 0))
    both.paste(second, (first.width + 40, 0))
    save(both, "phones.webp")


class Film:
    """Screenshots of the phone, each with the time for which it is shown."""

    def __init__(self, one):
        self.device = one.page.locator("#device")
        self.frames = []
        self.times = []
        self.tools = one.context.new_cdp_session(one.page)
        self.tools.send("Animation.enable")
        self.tools.send("Animation.setPlaybackRate", {"playbackRate": 1 / SLOWNESS})

    def take(self, seconds):
        frame = shot(self.device)
        self.frames.append(frame.resize((WIDTH, round(frame.height * WIDTH / frame.width))))
        self.times.append(round(seconds * 1000))

    def run(self, seconds):
        """Films for so long, by the slowed clock of the movements."""
        passed = 0.0
        while passed < seconds:
            began = time.monotonic()
            self.take(0)
            # A fast machine takes more pictures than the eye needs.
            time.sleep(max(0, began + FRAME * SLOWNESS - time.monotonic()))
            step = (time.monotonic() - began) / SLOWNESS
            self.times[-1] = round(step * 1000)
            passed += step

    def save(self, name):
        PICTURES.mkdir(parents=True, exist_ok=True)
        self.frames[0].save(
            PICTURES / name, save_all=True, append_images=self.frames[1:], duration=self.times, loop=0, quality=60,
            method=6)


def test_film(tab):
    """A meal is typed and answered, the ring moves, and a long press opens the Island."""
    one = tab(viewport={"width": 420, "height": 700})
    log_meal(one, "oats with berries, 380 cal")
    settle(one)
    film = Film(one)
    film.take(0.8)
    for letter in "chicken bowl, 600 cal":
        one.page.locator("#text").press_sequentially(letter)
        film.take(0.05)
    film.take(0.4)
    one.page.locator("#text").press("Enter")
    film.run(1.2)
    film.take(0.9)
    press_long(one)
    film.run(0.9)
    film.take(1.8)
    one.page.mouse.click(210, 480)
    film.run(0.7)
    film.take(0.8)
    film.save("meal.webp")
