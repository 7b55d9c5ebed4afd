"""The broker of a stack, as somebody who administers it reaches it."""

import os
import re
import subprocess

from stack import free_port

RABBITMQCTL = "/usr/lib/rabbitmq/bin/rabbitmqctl"


def port(stack, name):
    return re.search(rf'\[{name}\]="(\d+)"', (stack.folder / "stack").read_text())[1]


def rabbitmqctl(stack, *arguments):
    done = subprocess.run(
        [RABBITMQCTL, "-n", "isthmus@localhost", *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=60, env={
            "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "HOME": str(stack.folder / "data" / "rabbitmq" / "home"),
            "ERL_EPMD_PORT": port(stack, "epmd"), "RABBITMQ_CONF_ENV_FILE": "/nonexistent"})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def listen_with_tls(stack, certificate, authority):
    """Opens one more port, which speaks TLS and shows this certificate; returns it."""
    number = free_port()
    files = {"cacertfile": authority, "certfile": certificate, "keyfile": certificate.with_suffix(".key")}
    options = ", ".join(f'{{{name}, "{path}"}}' for name, path in files.items())
    rabbitmqctl(stack, "eval", (
        f"application:set_env(rabbit, ssl_options, [{options}, {{versions, ['tlsv1.2', 'tlsv1.3']}}]), "
        f'rabbit_networking:start_ssl_listener({{"127.0.0.1", {number}}}, rabbit_networking:ensure_ssl(), 10).'))
    return number
