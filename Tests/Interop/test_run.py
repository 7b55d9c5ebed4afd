"""./run itself."""

import os
import re
import signal

from stack import Stack, eventually


def test_say_prints_the_reply_and_the_island(stack, handle):
    said = stack.run("say", "--from", handle, "just had a chicken bowl, ~600 cal")
    assert said.returncode == 0, said.stdout
    assert re.search(r"^Reply: +\S", said.stdout, re.MULTILINE)
    assert re.search(r"^Island: +CoachAttributes", said.stdout, re.MULTILINE)
    assert re.search(r"^ +calories: +600$", said.stdout, re.MULTILINE)
    again = stack.run("say", "--from", handle, "and an apple, 90")
    assert re.search(r"^ +calories: +690$", again.stdout, re.MULTILINE), again.stdout
    # Somebody else begins at nothing.
    other = stack.run("say", "two eggs 140")
    assert other.returncode == 0, other.stdout
    assert re.search(r"^ +calories: +140$", other.stdout, re.MULTILINE)


def test_say_fails_when_the_island_does_not_arrive(stack, handle):
    pusher = int((stack.folder / "pids" / "apns-pusher").read_text().split()[0])
    os.kill(pusher, signal.SIGSTOP)
    try:
        said = stack.run("say", "--from", handle, "two eggs 140")
    finally:
        os.kill(pusher, signal.SIGCONT)
    assert said.returncode != 0
    assert "the Island did not arrive" in said.stdout
    assert "the reply" not in said.stdout.split("did not arrive")[0]
    eventually("the Island after all", lambda: stack.island(handle))


def test_without_a_stack_it_says_so(tmp_path):
    nothing = Stack(tmp_path / "none")
    said = nothing.run("say", "hello")
    assert said.returncode != 0 and "nothing runs here" in said.stdout
    assert nothing.run("--status").returncode != 0
    assert nothing.run("--stop").returncode == 0
    assert nothing.run("--nonsense").returncode != 0


def test_status_names_everything_and_a_second_start_is_refused(stack):
    status = stack.run("--status")
    assert status.returncode == 0, status.stdout
    for name in ["rabbitmq", "redis", "simulator", "token-registry", "apns-pusher", "linq-sender", "agent", "ingress"]:
        assert re.search(rf"^{name} +ready ", status.stdout, re.MULTILINE)
    second = stack.run("--detach", "--no-build")
    assert second.returncode != 0 and "it runs already" in second.stdout


def test_a_killed_service_comes_back_and_answers(stack, handle):
    pids = stack.folder / "pids" / "agent"
    before = pids.read_text()
    os.kill(int(before.split()[0]), signal.SIGKILL)
    stack.text(handle, "two eggs 140")
    eventually("another process", lambda: pids.exists() and pids.read_text() != before)
    assert eventually("the Island", lambda: stack.island(handle))["calories"] == 140


def test_a_step_that_fails_says_which_and_shows_its_log(stack, tmp_path):
    """One service that cannot start: the start fails, names it, and leaves nothing behind."""
    failing = Stack(tmp_path / "failing")
    failing.environment["AGENT"] = "nonsense"
    try:
        started = failing.run("--detach", "--no-build")
        assert started.returncode != 0
        assert "agent ended while it started" in started.stdout
        assert "AGENT" in started.stdout
        assert str(failing.folder / "logs" / "agent.log") in started.stdout
        assert failing.left_running() == []
        assert list((failing.folder / "pids").iterdir()) == []
    finally:
        failing.stop()


def test_two_stacks_run_side_by_side(stack, tmp_path, handle):
    other = Stack(tmp_path / "other")
    try:
        other.start()
        ports = [set(re.findall(r"127\.0\.0\.1:(\d+)", "".join(
            path.read_text() for path in (each.folder / "settings").iterdir()))) for each in (stack, other)]
        assert ports[0].isdisjoint(ports[1])
        said = other.run("say", "--from", handle, "two eggs 140")
        assert said.returncode == 0, said.stdout
        assert stack.thread(handle) == []
        secrets = [each.secret_file("linq-token").read_text() for each in (stack, other)]
        assert secrets[0] != secrets[1]
    finally:
        assert len(other.left_running()) >= 9
        other.stop()
    assert other.left_running() == []
