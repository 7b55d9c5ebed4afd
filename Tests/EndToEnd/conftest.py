import sys
import uuid
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "Interop"))

from stack import running_stack  # noqa: E402


@pytest.fixture(scope="session")
def stack():
    with running_stack("end-to-end") as stack:
        yield stack


@pytest.fixture
def handle():
    """A number that nobody has used yet."""
    return f"+1202{uuid.uuid4().int % 9_000_000 + 1_000_000}"


@pytest.fixture
def someone(stack, handle):
    """A user with one phone who has just logged a meal of 600 kcal: there is a card on the phone."""
    said = stack.control("POST", "say", {"from": handle, "text": "chicken bowl, 600 cal"})
    assert said.status == 200, said.body
    return handle


@pytest.fixture
def restores_agent(stack):
    """For a test that gives AGENT another value."""
    yield
    stack.restart("agent", AGENT="coach")
