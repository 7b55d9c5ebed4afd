"""Texts pile up while the agent is down, and drain without any process growing past its limit.

BACKLOG_TEXTS says how many: `make backlog` takes a million.
"""

import os
import signal
import threading
import time
from pathlib import Path

import pytest

import breaking
from load import MOST_AT_ONCE, Load
from processes import descendants

TEXTS = int(os.environ.get("BACKLOG_TEXTS", "2000"))
# Megabytes that a process may have resident at any time: about twice what 100,000 texts took of a debug build. What a
# service has in hand is bounded, whatever waits.
LIMITS = {"ingress": 96, "agent": 256, "linq-sender": 144, "apns-pusher": 144, "token-registry": 112}
# Shown beside them: the broker keeps a little of each message in memory, and the simulator all that was ever said.
OTHERS = ["rabbitmq", "redis", "simulator"]

pytestmark = pytest.mark.usefixtures("nothing_is_parked")


class Memory:
    """The most that each process had resident since this began."""

    def __init__(self, stack):
        self.stack = stack
        self.most = {}
        self.ended = threading.Event()

    def __enter__(self):
        self.thread = threading.Thread(target=self.run)
        self.thread.start()
        return self

    def run(self):
        while not self.ended.wait(1):
            for name in [*LIMITS, *OTHERS]:
                self.most[name] = max(self.most.get(name, 0), self.resident(breaking.pid(self.stack, name)))

    @staticmethod
    def resident(pid):
        """Megabytes of the process and of its children, which are what a start script leaves."""
        total = 0
        for process in [pid, *descendants(pid)] if pid else []:
            try:
                status = Path(f"/proc/{process}/status").read_text()
            except OSError:
                continue  # It has ended meanwhile.
            if "VmRSS:" in status:
                total += int(status.split("VmRSS:")[1].split()[0]) / 1024
        return total

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()

    def text(self):
        return "\n".join(f"| {name} | {most:.0f} | {LIMITS.get(name, '-')} |" for name, most in self.most.items())


def test_backlog_drains(stack, table):
    people = max(25, TEXTS // 16)
    if people > MOST_AT_ONCE:
        people += -people % MOST_AT_ONCE
    with Memory(stack) as memory:
        load = Load(stack, f"agent: down while {TEXTS} texts come", texts=TEXTS, users=people, rate=5000)
        breaking.send_signal(stack, "agent", signal.SIGSTOP)
        try:
            with load:
                pass
        finally:
            breaking.send_signal(stack, "agent", signal.SIGCONT)
        began = time.monotonic()
        load.judge(table, patience=120 + TEXTS / 50)
        seconds = time.monotonic() - began
    told = f"{TEXTS} texts, drained in {seconds:.0f} s\n\n| process | most resident, MB | limit |\n| --- | --: | --: |\n"
    told += memory.text()
    (stack.folder.parent / "backlog.md").write_text(told + "\n")
    print(told)
    over = {name: most for name, most in memory.most.items() if most > LIMITS.get(name, float("inf"))}
    assert not over, over
