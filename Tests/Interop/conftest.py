import shutil
import uuid

import pytest

from stack import running_stack


@pytest.fixture(scope="session")
def stack():
    with running_stack("interop") as stack:
        yield stack


@pytest.fixture
def handle():
    """A number that nobody has used yet."""
    return f"+1202{uuid.uuid4().int % 9_000_000 + 1_000_000}"


@pytest.fixture
def tool():
    """Finds a program of Debian's; a missing one fails the test, since ./test installs it."""

    def find(name):
        path = shutil.which(name, path="/usr/sbin:/usr/bin:/sbin:/bin")
        assert path, f"{name} is not installed; see infra/packages"
        return path

    return find
