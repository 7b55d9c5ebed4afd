import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "Interop"))

import breaking  # noqa: E402
from stack import ROOT, running_stack  # noqa: E402
from table import Table  # noqa: E402

TABLE = pytest.StashKey()


def pytest_configure(config):
    config.stash[TABLE] = Table(ROOT / ".test")


@pytest.fixture(scope="session")
def table(request):
    return request.config.stash[TABLE]


@pytest.fixture(scope="session")
def stack():
    # Nobody looks at a page here, and load is what is looked at. Services are killed more often than would be forgiven.
    with running_stack("faults", OTEL_TRACES_SAMPLER="always_off", ISTHMUS_MOST_RESTARTS="1000000") as stack:
        yield stack
        # After its consumer_timeout the broker takes a message away from who has it.
        log = (stack.folder / "logs" / "rabbitmq.log").read_text(errors="replace")
        assert "timed out waiting for delivery acknowledgement" not in log


# What the tests before have left there, so that one failure is not everybody's.
known_parked = {}


@pytest.fixture
def nothing_is_parked(stack):
    """A text that ends up parked is not lost, but no fault here is a reason for it."""
    yield
    stack.control("DELETE", "faults")
    parked = breaking.parked(stack)
    new = parked != known_parked.get(stack.folder, {})
    known_parked[stack.folder] = parked
    reasons = [f"{one['stage']}: {one['reason']}" for one in stack.parked("list")[1]["messages"]] if new else []
    assert not new, f"{parked}: {reasons[:20]}"


def pytest_terminal_summary(terminalreporter, config):
    table = config.stash[TABLE]
    if table.rows:
        terminalreporter.section("what came out at the far ends")
        terminalreporter.write_line(table.text())
