"""Our pusher against nghttpd, an HTTP/2 server that is not ours."""

import re
import socket
import subprocess
import time

import pytest

from stack import eventually


class Nghttpd:
    """nghttpd in place of APNs, on a port that stays the same; its log tells what it was sent."""

    def __init__(self, program, folder):
        self.program = program
        self.folder = folder
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.process = None

    def start(self, key, certificate):
        self.log = self.folder / f"nghttpd-{time.monotonic_ns()}.log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [self.program, "--address=127.0.0.1", "--verbose", "--echo-upload", f"--htdocs={self.folder}",
                 str(self.port), str(key), str(certificate)],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        eventually("nghttpd listens", self.listens)

    def listens(self):
        assert self.process.poll() is None, self.log.read_text()
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def stop(self):
        if self.process:
            self.process.terminate()
            self.process.wait(10)
            self.process = None

    def headers(self, name):
        """The values of a request header, in order."""
        marker = f" {name}: "
        return [line.split(marker, 1)[1] for line in self.lines() if marker in line]

    def lines(self):
        # With its colours taken out.
        return re.sub(r"\x1b\[[0-9;]*m", "", self.log.read_text(errors="replace")).splitlines()


@pytest.fixture
def nghttpd(stack, tool, tmp_path):
    """nghttpd, with our pusher sent to it; afterwards the pusher goes to the simulator again."""
    simulator = stack.settings("apns-pusher")["APNS_URL"]
    server = Nghttpd(tool("nghttpd"), tmp_path)
    server.start(stack.secret_file("server-key.pem"), stack.secret_file("server.pem"))
    try:
        stack.restart("apns-pusher", APNS_URL=f"https://localhost:{server.port}")
        yield server
    finally:
        server.stop()
        stack.restart("apns-pusher", APNS_URL=simulator)


def test_the_pusher_pushes_to_it(stack, nghttpd, handle):

    def accepted():
        pushes = stack.metrics("apns-pusher").items()
        return sum(value for name, value in pushes if name.startswith("isthmus_pushes_total") and '"accepted"' in name)

    before = accepted()
    stack.text(handle, "just had a chicken bowl, ~600 cal")
    path = eventually("a push", lambda: nghttpd.headers(":path"))[0]
    bundle = stack.settings("apns-pusher")["APNS_BUNDLE_ID"]
    assert path.startswith("/3/device/") and len(path) > len("/3/device/") + 63
    assert nghttpd.headers(":method")[0] == "POST"
    assert nghttpd.headers(":scheme")[0] == "https"
    assert nghttpd.headers("apns-push-type")[0] == "liveactivity"
    assert nghttpd.headers("apns-topic")[0] == f"{bundle}.push-type.liveactivity"
    assert nghttpd.headers("apns-priority")[0] in ("5", "10")
    assert len(nghttpd.headers("authorization")[0].removeprefix("bearer ").split(".")) == 3
    eventually("nghttpd's 200 counts as accepted", lambda: accepted() > before)


def test_it_pushes_nothing_to_a_server_with_another_certificate(stack, nghttpd, handle, tool, tmp_path):
    nghttpd.stop()
    key, certificate = tmp_path / "other-key.pem", tmp_path / "other.pem"
    subprocess.run(
        [tool("openssl"), "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate],
        check=True, capture_output=True)
    nghttpd.start(key, certificate)
    stack.text(handle, "two eggs 140")
    eventually("the reply", lambda: [m for m in stack.thread(handle) if m["direction"] == "outbound"])
    # It tries to connect, and gets as far as the certificate.
    log = stack.folder / "logs" / "apns-pusher.log"
    eventually("it says why it does not connect", lambda: "certificate" in log.read_text().lower())
    assert nghttpd.headers(":path") == []
    # The same server with the right certificate gets it.
    nghttpd.stop()
    nghttpd.start(stack.secret_file("server-key.pem"), stack.secret_file("server.pem"))
    eventually("a push", lambda: nghttpd.headers(":path"))


def test_a_push_that_nobody_took_reaches_the_phone_later(stack, nghttpd, handle):
    nghttpd.stop()
    stack.text(handle, "chicken bowl 600")
    eventually("the reply", lambda: [m for m in stack.thread(handle) if m["direction"] == "outbound"])
    assert stack.island(handle) is None
    stack.restart("apns-pusher", APNS_URL="https://localhost:" + stack.settings("simulator")["SIMULATOR_APNS_LISTEN"].split(":")[1])
    assert eventually("the Island", lambda: stack.island(handle))["calories"] == 600
