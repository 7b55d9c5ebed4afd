"""The samples of Examples/ as agents of the running stack."""

import os
import subprocess
from contextlib import contextmanager
from pathlib import Path

import pytest

from agents import SECRET
from test_loop import say

EXAMPLES = Path(__file__).resolve().parents[2] / "Examples"


@contextmanager
def sample(command, **settings):
    """The address of a sample that runs; its port is a free one."""
    environment = {"PATH": os.environ["PATH"], "AGENT_HTTP_SECRET": SECRET, "PYTHONDONTWRITEBYTECODE": "1", **settings}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            words = process.stdout.readline().split()
            assert words[:2] == ["listening", "on"], words
            yield f"http://{words[2]}/events"
        finally:
            process.terminate()


@pytest.fixture
def answered_by(stack):
    """Has a sample answer, and the coach again afterwards."""

    def restart(url, kind):
        stack.restart("agent", AGENT=f"http:{url}", AGENT_HTTP_SECRET=SECRET, AGENT_KIND=kind)

    yield restart
    stack.restart("agent", AGENT="coach", AGENT_KIND="CoachAttributes")


def test_the_sample_in_python_counts_calories(stack, handle, answered_by, tmp_path):
    command = ["python3", EXAMPLES / "agent-python/agent.py", "--port", "0", "--database", tmp_path / "agent.sqlite"]
    with sample(command) as url:
        answered_by(url, "CoachAttributes")
        said = say(stack, handle, "chicken bowl 600")
        assert said["reply"] == "Logged Chicken bowl: 600 of 2000 cal today."
        assert said["island"]["contentState"] == {
            "calories": 600, "goal": 2000, "streak": 1, "lastMeal": "Chicken bowl · 600 cal"}


def test_the_sample_in_node_keeps_a_checklist(stack, handle, answered_by, tmp_path):
    with sample(["node", EXAMPLES / "agent-node/agent.mjs"], PORT="0", DATABASE=str(tmp_path / "agent.json")) as url:
        answered_by(url, "ChecklistAttributes")
        assert say(stack, handle, "add milk")["reply"] == "Added milk."
        said = say(stack, handle, "done")
        assert said["island"]["attributesType"] == "ChecklistAttributes"
        assert said["island"]["contentState"] == {"title": "My list", "done": 1, "total": 1, "lastDone": "milk"}
