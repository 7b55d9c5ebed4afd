"""The databases break under load."""

import signal
import subprocess
import time

import pytest

from broker import port
from load import Load
from postgresql import PostgreSQL
from proxy import Proxy
from stack import ROOT, eventually, running_stack

pytestmark = pytest.mark.usefixtures("nothing_is_parked")


@pytest.fixture(scope="module")
def postgresql():
    with PostgreSQL(ROOT / ".test" / "faults-postgresql-data") as server:
        yield server


@pytest.fixture(scope="module")
def on_postgresql(postgresql):
    with running_stack("faults-postgresql", ISTHMUS_DATABASE_URL=postgresql.url) as stack:
        yield stack


class TestPostgreSQL:
    """The agent and the registry keep everything in one PostgreSQL."""

    @pytest.fixture
    def stack(self, on_postgresql):
        return on_postgresql

    def test_nothing(self, stack, table, postgresql):
        with Load(stack, "none, on PostgreSQL", rate=50) as load:
            pass
        load.judge(table)
        assert int(postgresql.sql("SELECT COUNT(*) FROM pg_stat_activity WHERE usename = 'isthmus'")) > 1

    def test_restarted(self, stack, table, postgresql):
        with Load(stack, "PostgreSQL: restarted", rate=50) as load:
            postgresql.stop()
            time.sleep(2)
            postgresql.start()
        load.judge(table)

    def test_killed(self, stack, table, postgresql):
        with Load(stack, "PostgreSQL: SIGKILL, all of it", rate=50) as load:
            postgresql.kill()
            time.sleep(1)
            postgresql.start()
        load.judge(table)

    def test_hangs(self, stack, table, postgresql):
        with Load(stack, "PostgreSQL: hangs for 8 s", rate=50) as load:
            postgresql.signal_all(signal.SIGSTOP)
            try:
                time.sleep(8)
            finally:
                postgresql.signal_all(signal.SIGCONT)
        load.judge(table)

    def test_out_of_connections(self, stack, table, postgresql):
        with Load(stack, "PostgreSQL: no connection to be had for 5 s", rate=50) as load:
            postgresql.sql("ALTER ROLE isthmus CONNECTION LIMIT 0")
            postgresql.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'isthmus'")
            time.sleep(5)
            postgresql.sql("ALTER ROLE isthmus CONNECTION LIMIT -1")
        load.judge(table)

    def test_row_locked(self, stack, table, postgresql):
        """Longer than a statement may take: what it holds up is tried again, and the rest goes on."""
        with Load(stack, "PostgreSQL: the inbox is locked for 8 s", rate=50) as load:
            holder = subprocess.Popen(
                postgresql.command(
                    "psql", "-h", "127.0.0.1", "-p", str(postgresql.port), "-U", "postgres", "-d", "isthmus", "-qc",
                    "BEGIN; LOCK TABLE inbox; SELECT pg_sleep(8); COMMIT"),
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
            assert holder.wait(30) == 0
        load.judge(table)


def test_registry_alone_cannot_reach_redis(stack):
    """The others read there that a card's token is not in, after it came in: they ask the registry itself then."""
    handle = "+16660000001"
    phone = "phone-1-user-16660000001"
    before, direct = stack.setting("token-registry", "REDIS_URL"), int(port(stack, "redis"))

    def card():
        cards = [card for phone in stack.state(handle)["phones"] for card in phone["cards"]]
        return cards[0]["contentState"]["calories"] if cards else None

    with Proxy(("127.0.0.1", direct)) as proxy:
        stack.restart("token-registry", REDIS_URL=before.replace(f":{direct}/", f":{proxy.port}/"))
        try:
            stack.control("POST", "users", {"userID": "user-16660000001", "handles": [handle], "phones": [
                {"deviceID": phone}]})
            # Such an app gets a card, and no token for it before somebody opens it.
            assert stack.control("POST", f"phones/{phone}/force-quit").status == 200
            stack.text(handle, "snack 1, 10 cal")
            eventually("there is a card", lambda: card() == 10)
            stack.text(handle, "snack 2, 10 cal")
            eventually("both are answered", lambda: len(stack.thread(handle)) == 4)
            proxy.hangs.set()
            assert stack.control("POST", f"phones/{phone}/open").status == 200
            eventually("the card has both", lambda: card() == 20)
        finally:
            proxy.hangs.clear()
            stack.restart("token-registry", REDIS_URL=before)


@pytest.fixture
def small_disk(stack):
    """A file system of 8 MB, in memory."""
    folder = stack.folder / "small-disk"
    folder.mkdir(exist_ok=True)
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(folder)], capture_output=True, text=True)
    assert mounted.returncode == 0, f"a small disk has to be mounted, which only root may: {mounted.stderr}"
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(folder):
    """Takes all the room that is left; returns the file that has it."""
    filler = folder / "filler"
    with open(filler, "wb", buffering=0) as file:
        try:
            while file.write(bytes(4096)):
                pass
        except OSError:
            pass  # It is full.
    return filler


def test_disk_is_full(stack, table, small_disk):
    """The agent's SQLite file cannot grow: nothing is acknowledged until it can again."""
    before = stack.setting("agent", "DATABASE_URL")
    stack.restart("agent", DATABASE_URL=f"sqlite:{small_disk}/agent.sqlite")
    try:
        with Load(stack, "agent: disk full for 5 s", rate=50) as load:
            filler = fill(small_disk)
            time.sleep(5)
            filler.unlink()
        load.judge(table)
        log = (stack.folder / "logs" / "agent.log").read_text()
        assert "full" in log, "the disk was never full"
    finally:
        stack.restart("agent", DATABASE_URL=before)
