"""What strangers may do to the two services that face the Internet: they are cut off, cost no memory, and nobody else notices."""

import re
import socket
import uuid
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from stack import eventually, request
from webhooks import received, sign

MEGABYTE = 1 << 20
FACES = {"ingress": "/webhooks/linq", "token-registry": "/v1/users/someone/handles"}


def address(stack, service):
    host, port = stack.settings(service)["HTTP_LISTEN"].rsplit(":", 1)
    return host, int(port)


def memory(stack, service):
    """Resident bytes of the service's own process."""
    for process in stack.left_running():
        try:
            if Path(f"/proc/{process}/exe").resolve() == Path(stack.program(service)).resolve():
                return int(re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{process}/status").read_text())[1]) * 1024
        except OSError:
            # It is not there any more.
            continue
    raise AssertionError(f"{service} does not run")


def text_is_answered(stack, handle):
    said = stack.control("POST", "say", {"from": handle, "text": "an apple, 80 cal"})
    assert said.status == 200, said.body


def is_cut_off(connection):
    """Whether the other side has closed; reads away what it may have said before."""
    connection.setblocking(False)
    try:
        while connection.recv(65536):
            pass
        return True
    except BlockingIOError:
        return False
    except OSError:
        return True


@pytest.mark.parametrize("service", FACES)
def test_slow_loris_is_cut_off_without_memory(stack, handle, service):
    before = memory(stack, service)
    connections = [socket.create_connection(address(stack, service)) for _ in range(40)]
    try:
        for number, connection in enumerate(connections):
            # Half of them never end their headers, half never end their body.
            head = f"POST {FACES[service]} HTTP/1.1\r\nHost: a\r\n"
            rest = "X-Slow: y" if number % 2 else "Content-Length: 100000\r\n\r\n{"
            connection.sendall((head + rest).encode())
        text_is_answered(stack, handle)
        eventually("all are cut off", lambda: all(is_cut_off(connection) for connection in connections))
    finally:
        for connection in connections:
            connection.close()
    assert memory(stack, service) - before < 16 * MEGABYTE
    text_is_answered(stack, handle)


@pytest.mark.parametrize("service", FACES)
def test_oversized_requests_are_cut_off_without_memory(stack, handle, service):
    before = memory(stack, service)
    oversized = {
        "announced": b"Content-Length: 10000000000\r\n\r\n",
        "in chunks": b"Transfer-Encoding: chunked\r\n\r\n",
        "as a header": b"X-Long: ",
    }
    for what, start in oversized.items():
        for _ in range(5):
            with socket.create_connection(address(stack, service)) as connection:
                connection.settimeout(30)
                sent = 0
                try:
                    connection.sendall(f"POST {FACES[service]} HTTP/1.1\r\nHost: a\r\n".encode() + start)
                    while sent < 64 * MEGABYTE:
                        piece = b"x" * 65536
                        if what == "in chunks":
                            piece = b"10000\r\n" + piece + b"\r\n"
                        connection.sendall(piece)
                        sent += len(piece)
                except OSError:
                    # Closed in our face, as it should be.
                    pass
                assert sent < 64 * MEGABYTE, f"{what}: all of it was taken"
    assert memory(stack, service) - before < 32 * MEGABYTE
    text_is_answered(stack, handle)


def test_a_webhook_that_is_replayed_is_answered_and_counts_once(stack, handle):
    secret = stack.setting("ingress", "LINQ_WEBHOOK_SECRETS")
    body = received(handle, "an apple, 80 cal")
    headers = sign(secret, body, at=stack.now())
    for _ in range(5):
        assert request("POST", stack.webhook_url, body, headers).status == 200
    # The same event in another envelope, as two subscriptions deliver it.
    assert request("POST", stack.webhook_url, body, sign(secret, body, at=stack.now())).status == 200
    eventually("the reply is there", lambda: [m for m in replies(stack, handle) if "80" in str(m)])
    text_is_answered(stack, handle)
    assert len(replies(stack, handle)) == 2
    # What was seen on the wire cannot be used for another body, nor later.
    assert request("POST", stack.webhook_url, received(handle, "cake, 900 cal"), headers).status == 401
    assert request("POST", stack.webhook_url, body, sign(secret, body, at=1_700_000_000)).status == 503


def replies(stack, handle):
    return [message for message in stack.thread(handle) if message["direction"] == "outbound"]


def test_header_injection_changes_no_answer_and_parks_no_nonsense(stack, handle):
    secret = stack.setting("ingress", "LINQ_WEBHOOK_SECRETS")
    body = received(handle, "an apple, 80 cal").replace(
        b'"event_id": "', b'"event_id": "a\\r\\nX-Injected: b' + uuid.uuid4().hex.encode())
    answer = request("POST", stack.webhook_url, body, sign(secret, body, at=stack.now()))
    # Genuine, not to be understood: safe with the broker, for a person to look at.
    assert answer.status == 200
    assert "X-Injected" not in answer.headers
    assert replies(stack, handle) == []
    host, port = urlsplit(stack.webhook_url).hostname, urlsplit(stack.webhook_url).port
    with socket.create_connection((host, port)) as connection:
        connection.sendall(b"GET /%0d%0aX-Injected:%20b HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        connection.settimeout(30)
        said = b""
        while piece := connection.recv(65536):
            said += piece
    assert b"\nX-Injected" not in said
