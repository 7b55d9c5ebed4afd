"""A load with a number in every text, and what has become of it at the far ends."""

import itertools
import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime

from stack import eventually
from table import Row

CALORIES = 10
# Linq takes 30 messages a minute between a line and a person; more would be slowed down, and not by the fault. Besides,
# the coach takes "snack 20" for a meal of 20 calories.
MOST_TEXTS_A_USER = 19
MOST_AT_ONCE = 1000

_next_user = itertools.count(1)


class Person:
    def __init__(self, number):
        self.handle = f"+1999{number:07}"
        self.sent = 0


class Load:
    """Texts of many people; each person's next one goes out when the one before was taken."""

    def __init__(self, stack, fault, texts=400, users=25, rate=80):
        assert texts <= users * MOST_TEXTS_A_USER
        self.at_once = min(users, MOST_AT_ONCE)
        assert users % self.at_once == 0, "or some would write more than others"
        self.stack, self.fault, self.texts, self.rate = stack, fault, texts, rate
        first = next(_next_user) * 10_000
        self.first = first
        self.people = [Person(first + number) for number in range(users)]
        self.taken = 0
        # Whether each person's last text was written after the load.
        self.has_afterword = False

    def __enter__(self):
        """Returns once texts flow."""
        self.repeated_before, self.islands_before = self.repeated(), self.islands()
        self.began = self.stack.now()
        for number in range(self.texts):
            self.people[number % len(self.people)].sent += 1
        started = self.stack.control("POST", "load", {
            "users": len(self.people), "texts": self.texts, "rate": self.rate, "concurrency": self.at_once,
            "firstUser": self.first, "text": f"snack {{n}}, {CALORIES} cal"})
        assert started.status == 202, started.body
        # Each of them gets an account and a phone first.
        patience = 60 + len(self.people) / 20 + self.texts / 100
        eventually("texts flow", lambda: self.progress()["taken"] > self.texts / 20, patience)
        return self

    def __exit__(self, kind, *_):
        # A load of a test that failed must not run into the next test.
        eventually("the load ends", lambda: not self.is_posting, seconds=self.texts / min(self.rate, 50) + 600)
        self.taken = self.progress()["taken"]

    def progress(self):
        return self.stack.control("GET", "load").json()

    def counts(self):
        return self.stack.control("GET", "counts").json()

    def repeated(self):
        return self.counts()["linq"]["repliesRepeated"]

    def islands(self):
        return self.counts()["islands"]

    def await_cards(self):
        """Waits until each phone has its card, for a fault that is to meet updates."""
        eventually("each phone has its card", lambda: self.islands() >= self.islands_before + len(self.people), 120)

    def one_more_each(self):
        """Everybody writes once more, a minute later: a start of which nobody knows what became is tried again then."""
        # That minute is no silence. What does not come in time is missed by `judge`.
        self.await_replies()
        self.stack.advance(61)
        for person in self.people:
            person.sent += 1
            self.stack.text(person.handle, f"snack {person.sent}, {CALORIES} cal")
        self.texts += len(self.people)
        self.taken += len(self.people)
        self.has_afterword = True

    @property
    def is_posting(self):
        return self.progress()["phase"] == "posting"

    def judge(self, table, patience=90, ordered=True, dropped=0):
        """Waits for quiet, adds a row to the table, and fails unless it is as it should be.

        `dropped` replies are known to have been given up by intent.
        """
        deadline = time.monotonic() + patience
        waiting = {person.handle for person in self.people}
        while waiting and time.monotonic() < deadline:
            endings = self.endings(waiting)
            waiting = {handle for handle, ending in endings.items() if not ending.is_complete}
            if not any(endings[handle].is_behind for handle in waiting):
                if sum(endings[handle].lost for handle in waiting) == dropped:
                    break
            # To look at everybody is work for the simulator.
            time.sleep(0.2 + len(waiting) / 100)
        # What is sent twice comes a little later than what is sent once.
        time.sleep(1)
        endings = self.endings(person.handle for person in self.people).values()
        # A silence that has not ended counts up to now; what was written afterwards did not meet the fault.
        times = sorted(itertools.chain.from_iterable(ending.times(self.has_afterword) for ending in endings))
        lost = sum(ending.lost for ending in endings)
        ends = times if lost == dropped else [*times, self.stack.now()]
        row = Row(
            fault=self.fault, texts=self.taken, replies=sum(len(set(ending.numbers)) for ending in endings),
            lost=lost - dropped, doubled=sum(ending.doubled for ending in endings),
            out_of_order=sum(ending.out_of_order for ending in endings) if ordered else 0,
            phones_behind=sum(ending.is_behind for ending in endings),
            repeated=self.repeated() - self.repeated_before,
            longest_gap=max(after - before for before, after in zip([self.began, *ends], ends)))
        table.add(row)
        odd = [ending.words() for ending in endings if not ending.is_fine(ordered)]
        assert self.taken == self.texts, f"texts were not taken: {self.progress()}"
        assert row.is_clean(dropped), "\n".join([str(row), *odd[:5]])

    def await_replies(self, patience=60):
        """Waits until everybody has all replies, or the time is over."""
        deadline = time.monotonic() + patience
        waiting = {person.handle for person in self.people}
        while waiting and time.monotonic() < deadline:
            waiting = {handle for handle, ending in self.endings(waiting).items() if ending.lost}
            time.sleep(0.2 + len(waiting) / 100)

    def endings(self, handles):
        sent = {person.handle: person.sent for person in self.people}
        with ThreadPoolExecutor(8) as pool:
            return dict(pool.map(lambda handle: (handle, Ending(self.stack.state(handle), sent[handle])), handles))


class Ending:
    """What one person has in the end: the replies in their order, and the Island."""

    def __init__(self, state, sent):
        replies = [message for chat in state["chats"] for message in chat["messages"]
                   if message["direction"] == "outbound"]
        self.sent = sent
        self.texts = [reply["text"] for reply in replies]
        self.replied_at = [datetime.fromisoformat(reply["at"]).timestamp() for reply in replies]
        # Which text each one answers, and what it says all texts so far come to.
        self.numbers = [int(re.search(r"snack (\d+)", text, re.IGNORECASE)[1]) for text in self.texts]
        self.totals = [int(re.search(r"\. .*?(\d+)", text, re.DOTALL)[1]) for text in self.texts]
        islands = [phone["island"] for phone in state["phones"] if phone.get("island")]
        self.shown = islands[0]["contentState"]["calories"] if len(islands) == 1 else None
        self.cards = sum(len([card for card in phone["cards"] if card["phase"] == "active"])
                         for phone in state["phones"])

    def times(self, has_afterword):
        """When the replies came, without that to the last text if it was written after the load."""
        return [at for at, number in zip(self.replied_at, self.numbers) if number < self.sent or not has_afterword]

    @property
    def lost(self):
        return self.sent - len(set(self.numbers))

    @property
    def doubled(self):
        counted = max(self.totals, default=0) // CALORIES
        return len(self.numbers) - len(set(self.numbers)) + max(0, counted - self.sent)

    @property
    def out_of_order(self):
        return sum(after <= before for before, after in zip(self.totals, self.totals[1:]))

    @property
    def is_behind(self):
        return self.shown != self.sent * CALORIES or self.cards != 1

    @property
    def is_complete(self):
        return self.lost == 0 and not self.is_behind

    def is_fine(self, ordered):
        return self.is_complete and self.doubled == 0 and (self.out_of_order == 0 or not ordered)

    def words(self):
        return f"sent {self.sent}, answered {self.numbers}, totals {self.totals}, shown {self.shown}, {self.cards} cards"


class Copies(Load):
    """The same, but each webhook comes several times at once, and later texts may overtake earlier ones."""

    def __init__(self, stack, fault, copies, delay=0, rounds=12, users=25):
        super().__init__(stack, fault, texts=rounds * users, users=users)
        self.copies, self.delay, self.rounds = copies, delay, rounds

    def __enter__(self):
        self.repeated_before = self.repeated()
        self.began = self.stack.now()
        for person in self.people:
            self.stack.control("POST", "users", {
                "userID": "user-" + person.handle[1:], "handles": [person.handle],
                "phones": [{"deviceID": "phone-" + person.handle[1:]}]})
        self.thread = threading.Thread(target=self.post)
        self.thread.start()
        return self

    def post(self):
        for number in range(1, self.rounds + 1):
            for index, person in enumerate(self.people):
                self.stack.text(
                    person.handle, f"snack {number}, {CALORIES} cal", copies=self.copies,
                    delayMilliseconds=(index * 37 + number * 101) % (self.delay + 1))
                person.sent += 1
                self.taken += 1
            # With delays, the rounds run into each other.
            if not self.delay:
                eventually("all copies were taken", self.all_taken)
        eventually("all copies were taken", self.all_taken)

    def all_taken(self):
        return self.counts()["webhooks"]["onTheirWay"] == 0

    def __exit__(self, *_):
        self.thread.join()
