import sys
import uuid
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "Interop"))

from stack import running_stack  # noqa: E402

from collector import Collector  # noqa: E402


@pytest.fixture(scope="session")
def collector():
    collector = Collector()
    collector.start()
    yield collector
    collector.stop()


@pytest.fixture(scope="session")
def stack(collector):
    with running_stack("observability", OTEL_EXPORTER_OTLP_ENDPOINT=collector.url) as stack:
        yield stack


@pytest.fixture
def handle():
    """A number that nobody has used yet."""
    return f"+1202{uuid.uuid4().int % 9_000_000 + 1_000_000}"
