import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "Interop"), str(HERE.parent / "Faults")]

from composition import Composition  # noqa: E402


@pytest.fixture(scope="session")
def composition(tmp_path_factory):
    """docker-compose.yml with the simulator, under a project name, ports and secrets of its own; gone afterwards."""
    composition = Composition(tmp_path_factory.mktemp("compose"))
    try:
        composition.start()
        yield composition
    finally:
        composition.remove()


@pytest.fixture(scope="session")
def table():
    """The rows of the loads, printed at the end."""
    rows = Rows()
    yield rows
    for row in rows:
        print(f"\n{row}")


class Rows(list):
    add = list.append
