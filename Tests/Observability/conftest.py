import sys
import uuid
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "Interop"))

from stack import ROOT, eventually, running_stack  # noqa: E402

from collector import Collector  # noqa: E402
from prometheus import Prometheus  # noqa: E402


@pytest.fixture(scope="session")
def collector():
    collector = Collector()
    collector.start()
    yield collector
    collector.stop()


@pytest.fixture(scope="session")
def stack(collector):
    with running_stack("observability", OTEL_EXPORTER_OTLP_ENDPOINT=collector.url, LOG_LEVEL="debug") as stack:
        yield stack


@pytest.fixture
def handle():
    """A number that nobody has used yet."""
    return f"+1202{uuid.uuid4().int % 9_000_000 + 1_000_000}"


@pytest.fixture(scope="session")
def prometheus(stack):
    """Scrapes the stack, through which texts go meanwhile."""
    prometheus = Prometheus(ROOT / ".test" / "prometheus", stack)
    prometheus.start()
    try:
        eventually("all is scraped", prometheus.is_scraping)
        for number in range(5):
            said = stack.control("POST", "say", {"from": f"+130355501{number:02}", "text": "600 cal"})
            assert said.status == 200, said.body
        eventually("the texts are scraped", lambda: prometheus.query(
            "sum(increase(isthmus_webhook_to_push_seconds_count[1m])) > 1"))
        yield prometheus
    finally:
        prometheus.stop()
