"""The registry's HTTP interface against its own description, by a generator of requests that is not ours."""

import re
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def registry(stack):
    """The registry with room for thousands of calls of one user; as it was, afterwards."""
    stack.restart("token-registry", REGISTRY_CALLS_PER_MINUTE="1000000")
    yield "http://" + stack.settings("token-registry")["HTTP_LISTEN"]
    stack.restart("token-registry", REGISTRY_CALLS_PER_MINUTE="120")


def test_no_generated_request_finds_the_description_wrong(stack, registry, tmp_path):
    key = stack.secret_file("backend-key").read_text().strip()
    told = subprocess.run(
        [str(Path(sys.executable).with_name("schemathesis")), "run", registry + "/openapi.json", "--checks", "all",
         "--max-examples", "40", "--workers", "1", "--no-color", "--header", f"Authorization: Bearer {key}"],
        cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert told.returncode == 0, told.stdout[-8000:] + told.stderr[-2000:]
    tested = re.search(r"([\d,]+) generated", told.stdout)
    assert tested and int(tested[1].replace(",", "")) > 200, told.stdout[-3000:]
