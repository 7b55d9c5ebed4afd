"""The Dockerfile's form, and what it is built of."""

import os
import re

import pytest

from conftest import ROOT, SERVICES

DOCKERFILE = (ROOT / "infra/docker/Dockerfile").read_text()
IMAGES = (*SERVICES, "simulator")
TOOLS = ("isthmus-parked",)


def test_hadolint_has_nothing_to_say(program):
    # DL3008 wants every package pinned, DL3066 a user by number where a name is meant, DL4006 a shell that Debian's is
    # not.
    program("hadolint", "--no-color", "--ignore", "DL3008", "--ignore", "DL3066", "--ignore", "DL4006",
            "infra/docker/Dockerfile")


def stage(name):
    return re.search(rf"FROM service AS {name}\n(.*?)(?=\n# [A-Z][^\n]*\nFROM |\nFROM |\Z)", DOCKERFILE, re.DOTALL)[1]


def test_each_service_has_an_image_that_starts_and_checks_it_without_a_shell():
    for name in IMAGES:
        told = stage(name)
        assert f'ENTRYPOINT ["/usr/local/bin/{name}"]' in told
        assert re.search(rf'HEALTHCHECK .*CMD \["/usr/local/bin/{name}", "--health"\]', told)
        assert re.findall("USER (.*)", told)[-1:] in ([], ["10001:10001"]), name


def test_a_tool_s_image_is_the_tool():
    for name in TOOLS:
        assert f'ENTRYPOINT ["/usr/local/bin/{name}"]' in stage(name)


def test_each_image_gets_what_was_built_for_it():
    built = re.search("for product in (.*); do", DOCKERFILE)[1].split()
    assert built == [*IMAGES, *TOOLS]
    for name in built:
        assert re.findall("COPY --from=build /out/(.*) /usr/local/bin/", stage(name)) == [name]


def test_packages_are_listed_in_their_place():
    assert not re.search(r"apt-get -q install[^|&]*\\? *-y --no-install-recommends +[a-z]", DOCKERFILE)
    for name in re.findall(r"source=infra/packages/([a-z-]+\.txt)", DOCKERFILE):
        assert (ROOT / "infra/packages" / name).exists(), name


def packages(name):
    """What is installed by a list; nothing if there is no such list."""
    path = ROOT / f"infra/packages/{name}.txt"
    lines = path.read_text().splitlines() if path.exists() else []
    return [line for line in (line.split("#")[0].strip() for line in lines) if line]


@pytest.mark.parametrize("name", [*IMAGES, *TOOLS])
def test_an_image_has_the_libraries_that_its_program_links(program, name):
    binary = ROOT / ".build" / os.environ.get("ISTHMUS_CONFIGURATION", "release") / name
    linked = re.findall(r"NEEDED.*\[(.*)\]", program("readelf", "--dynamic", binary))
    # Swift's own are linked statically for an image; the rest is in every Debian.
    everywhere = re.compile(r"lib(swift|_?Foundation|dispatch|BlocksRuntime)|(libc|libm|libstdc\+\+|libgcc_s|ld-linux.*)\.so")
    linked = {library for library in linked if not everywhere.match(library)}

    def libraries(package):
        return {path.rsplit("/", 1)[1] for path in program("dpkg", "--listfiles", package).split() if ".so." in path}

    own = packages(f"image-{name}")
    installed = set().union(*(libraries(package) for package in (*packages("image"), *own)))
    assert linked and linked <= installed
    assert all(libraries(package) & linked for package in own), "nothing is installed that is not linked"
    assert (f"image-{name}.txt" in stage(name)) == bool(own)


def test_no_frontend_and_no_syntax_that_an_older_engine_has_not():
    assert not DOCKERFILE.startswith("# syntax") and "RUN <<" not in DOCKERFILE and "COPY --link" not in DOCKERFILE


def test_no_secret_gets_into_the_build():
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    assert "*" in ignored
    assert not {"!secrets", "!.env", "!.git"} & set(ignored)
