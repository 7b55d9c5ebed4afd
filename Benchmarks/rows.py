"""What is measured, each against a reference that is measured in the same run."""

import os
import re
import sqlite3
import statistics
import subprocess
import time
from contextlib import closing
from dataclasses import dataclass

from world import MOST_TEXTS_A_USER, SERVICES, free_port, request, running_world, until


# Of docker-compose.yml's containers, in megabytes.
MEMORY_LIMITS = {"ingress": 256, "agent": 512, "linq-sender": 256, "apns-pusher": 256, "token-registry": 256}


@dataclass
class Row:
    name: str
    ours: float
    reference: float
    unit: str
    # What is to be reached, and whether more is better.
    reach: float
    more_is_better: bool = True
    note: str = ""

    @property
    def ratio(self):
        return self.ours / self.reference

    @property
    def is_reached(self):
        return self.ratio >= self.reach if self.more_is_better else self.ratio <= self.reach


def codec(world):
    figures = world.load("codec")
    return [Row("codec: encode and check a coach state", figures["encode"] * 1e6, figures["plainEncoder"] * 1e6, "µs",
                1.2, more_is_better=False, note="JSONEncoder alone")]


def webhooks(world, count=60_000):
    bare = world.publish("inbound", count)
    with world.stopped("agent"):
        first = world.users(1000)
        most = world.webhooks(first, 1000, count)
        half = world.webhooks(first, 1000, int(most["rate"] / 2 * 4), rate=most["rate"] / 2)
        world.purge("inbound")
    world.await_quiet()
    assert set(most["statuses"]) == {"200"}, most
    return [
        Row("webhooks accepted, 64 connections", most["rate"], bare, "/s", 0.6, note="bare publisher with confirms"),
        Row("webhooks: p99 at half of the maximum", half["p99"], 20, "ms", 1, more_is_better=False,
            note="20 ms"),
    ]


PUSH = ('{"aps":{"timestamp":1770319873,"event":"update","content-state":{"calories":600,"goal":2100,"lastMeal":'
        '"Chicken bowl · 600 cal","streak":6},"stale-date":1770323473}}')


def h2load(world, count, streams, body):
    url = f"https://localhost:{world.apns.port}/3/device/{'0' * 64}"
    done = subprocess.run(
        ["h2load", "-n", str(count), "-c", "1", "-m", str(streams), "-d", str(body),
         "-H", "authorization: bearer " + "e" * 180, "-H", "apns-push-type: liveactivity",
         "-H", "apns-topic: com.example.isthmus.push-type.liveactivity", "-H", "apns-priority: 10",
         "-H", "apns-expiration: 1800000000", "-H", "content-type: application/json", url],
        capture_output=True, text=True, check=True).stdout
    assert f"{count} succeeded" in done, done
    return done


def pushes(world, count=60_000, users=6000):
    body = world.stack.folder / "push.json"
    body.write_text(PUSH)
    reference = float(re.search(r"([\d.]+) req/s", h2load(world, count, 1000, body))[1])
    url = f"https://localhost:{world.apns.port}/3/device/{'0' * 64}"
    transport = world.load("pushes", "--url", url, "--ca-file", world.secrets / "ca.pem", "--count", count,
                           "--body-file", body)
    first = world.users(users)
    world.register(first, users, sessions=True)
    world.await_quiet()
    # The first round fills the cache.
    drain(world, "apns-pusher", "islands", users, users, first)
    # The registry has learned from it where each token belongs.
    world.await_quiet()
    pushed = world.apns.count()
    seconds = drain(world, "apns-pusher", "islands", users * 4, users, first)
    # A state that a newer one overtakes is not pushed.
    rate = (world.apns.count() - pushed) / seconds
    return [
        Row("pushes: the transport alone", transport["rate"], reference, "/s", 0.5, note="h2load, one connection"),
        Row("pushes from a full queue, look-ups cached", rate, reference, "/s", 0.25, note="h2load, one connection"),
    ]


def drain(world, service, stage, count, users, first):
    """The seconds that a service takes to work off a full queue."""
    def done():
        return sum(world.stack.metric(service, f"isthmus_stage_{how}_total") for how in ("done", "superseded"))

    before = done()
    with world.stopped(service):
        world.fill(stage, count, users, first)
    return until(lambda: done() - before >= count, what=lambda: f"{done() - before:,.0f} of {count:,} {stage} are done")


REPLY = ('{"to":["+12025559876"],"message":{"parts":[{"type":"text","value":'
         '"Logged the chicken bowl, 600 cal. 1,240 of 2,100 cal today."}],'
         '"idempotency_key":"00000000-0000-4000-8000-000000000000"}}')


def replies(world, count=30_000):
    script, body = world.stack.folder / "reply.lua", world.stack.folder / "reply.json"
    body.write_text(REPLY)
    script.write_text(
        'wrk.method = "POST"\nwrk.headers["Content-Type"] = "application/json"\n'
        'wrk.headers["Authorization"] = "Bearer 0123456789012345678901234567890123456789"\n'
        f"wrk.body = '{REPLY}'\n")
    url = f"http://127.0.0.1:{world.linq.port}/v3/messages"
    done = subprocess.run(
        ["wrk", "-t1", "-c64", "-d4s", "-s", str(script), url], capture_output=True, text=True, check=True).stdout
    reference = float(re.search(r"Requests/sec: *([\d.]+)", done)[1])
    transport = world.load("replies", "--url", url, "--count", count, "--body-file", body)
    rate = count / drain(world, "linq-sender", "replies", count, count, world.users(count))
    return [
        Row("replies: the transport alone", transport["rate"], reference, "/s", 0.3, note="wrk, 64 connections"),
        Row("replies posted", rate, reference, "/s", 0.3, note="wrk, 64 connections"),
    ]


def end_to_end(world, users=1000, texts=MOST_TEXTS_A_USER - 1, register=True):
    """Texts a second through all five services, from the first webhook to the last reply."""
    first = world.users(users)
    if register:
        world.register(first, users)
    # The first text of each takes the card over, and is not like the others.
    world.webhooks(first, users, users)
    world.await_quiet()
    count = users * texts
    replies, pushed = world.replies(), world.apns.count()
    start = time.monotonic()
    posted = world.webhooks(first, users, count)
    assert set(posted["statuses"]) == {"200"}, posted
    until(lambda: world.replies() - replies >= count, 300)
    seconds = time.monotonic() - start
    world.await_quiet()
    return count / seconds, (world.apns.count() - pushed) / count


def whole(world):
    bare = world.publish("inbound", 60_000)
    before = {name: world.cpu(name) for name in [*SERVICES, "rabbitmq", "redis"]}
    rate, pushed = end_to_end(world)
    count = 1000 * MOST_TEXTS_A_USER
    shares = ", ".join(f"{name} {(world.cpu(name) - before[name]) / count * 1e6:.0f}" for name in before)
    print(f"    µs of a processor for one text: {shares}; pushes a text: {pushed:.2f}")
    return [
        # An event, a reply and an Island.
        Row("texts end to end, 1,000 users", rate, bare / 3, "/s", 0.35, note="bare publisher, three messages a text"),
        Row("texts end to end, 1,000 users", rate, 3000, "/s", 1, note="3,000 a second"),
    ], rate


def latency(world, most):
    """From the webhook until APNs has taken the push, against the hops that it cannot do without."""
    # A quorum queue like the others, and nobody else's.
    hops = world.load("hops", *world.broker, "--queue", "parked.v1.islands")
    body = world.stack.folder / "push.json"
    body.write_text(PUSH)
    mean, unit = re.search(r"time for request: +\S+ +\S+ +([\d.]+)(us|ms)", h2load(world, 500, 1, body)).groups()
    push = float(mean) / (1000 if unit == "us" else 1)
    # Publish to delivery twice, and a push between: what is confirmed on the way is confirmed meanwhile.
    bare = {"p50": 2 * hops["deliver"] + push, "p99": 2 * hops["deliverP99"] + push}
    rows = []
    for share in (0.1, 0.5):
        users, count = 1000, min(int(most * share * 5), 1000 * (MOST_TEXTS_A_USER - 1))
        first = world.users(users)
        world.register(first, users)
        world.webhooks(first, users, users)
        world.await_quiet()
        time.sleep(1.5)
        world.apns.times.write_text("")
        sent = world.stack.folder / "sent-at"
        world.webhooks(first, users, count, rate=most * share, sent_at=sent)
        world.await_quiet()
        time.sleep(1.5)
        took = journeys(sent, world.apns.times, first, users)
        cuts = statistics.quantiles(took, n=100)
        for name, value, reach in (("p50", cuts[49], 2), ("p99", cuts[98], 5)):
            rows.append(Row(f"webhook to push, {share:.0%} of the maximum: {name}", value, bare[name], "ms", reach,
                            more_is_better=False, note=f"bare hops; {len(took) / count:.0%} of the texts pushed"))
    return rows


def journeys(sent, times, first, users):
    """Milliseconds from each webhook to the push that shows it.

    A push that was passed over for a newer one is not there; who shows a state first shows all before it. So each push
    is taken for the last text of its user before it.
    """
    texts = {}
    for number, line in enumerate(sent.read_text().split()):
        texts.setdefault(first + number % users, []).append(int(line) / 1000)
    took = []
    pushes = {}
    for line in times.read_text().splitlines():
        at, path = line.split()
        pushes.setdefault(int(path.rsplit("/", 1)[1], 16), []).append(float(at) * 1000)
    for user, sent_at in texts.items():
        shown = pushes.get(user, [])
        # With as many pushes as texts, they belong together one by one.
        if len(shown) == len(sent_at):
            took += [after - before for before, after in zip(sent_at, shown)]
    return took


def look_up(world, users=1000):
    settings = world.stack.settings("agent")
    return world.load("lookups", *world.broker, "--users", users, "--redis", settings["REDIS_URL"],
                      "--hash-key-file", settings["HASH_KEY_FILE"], "--data-key-file", settings["DATA_KEY_FILES"],
                      "--database", world.stack.settings("token-registry")["DATABASE_URL"])


def lookups(world, users=1000):
    world.register(0, users, sessions=True)
    figures = look_up(world, users)
    return [
        Row("look-up, Redis warm, one at a time", 1e6 / figures["warm"], 1e6 / figures["bareGet"], "µs", 1.5,
            more_is_better=False, note="bare GET"),
        Row("look-up, Redis warm, 64 at once", 1e6 / figures["warmTogether"], 1e6 / figures["bareGetTogether"], "µs",
            1.5, more_is_better=False, note="bare GET, 64 at once"),
        Row("look-up, Redis cold, one at a time", 1e6 / figures["cold"], 1e6 / figures["select"], "µs", 2,
            more_is_better=False, note="one indexed SELECT"),
    ]


def resources(world, at_start, at_full_load):
    rows = []
    time.sleep(2)
    before = {name: world.cpu(name) for name in SERVICES}
    time.sleep(10)
    idle = max((world.cpu(name) - before[name]) / 10 * 100 for name in SERVICES)
    rows.append(Row("idle CPU, the busiest service", idle, 0.5, "%", 1, more_is_better=False, note="0.5 %"))
    started = {}
    for name in SERVICES:
        started[name] = ready_after(world, name)
    slowest = max(started, key=started.get)
    rows.append(Row(f"start to ready, the slowest ({slowest})", started[slowest] * 1000, 300, "ms", 1,
                    more_is_better=False, note="300 ms"))
    largest = max(at_start, key=at_start.get)
    rows.append(Row(f"resident after the start, the largest ({largest})", at_start[largest], 40, "MB", 1,
                    more_is_better=False, note="40 MB"))
    largest = max(at_full_load, key=at_full_load.get)
    rows.append(Row(f"resident at full load, the largest ({largest})", at_full_load[largest], 120, "MB", 1,
                    more_is_better=False, note="120 MB"))
    return rows


def ready_after(world, name):
    """Seconds from the start of another process of the service until /readyz says so."""
    settings = {**world.stack.settings(name), "METRICS_LISTEN": f"127.0.0.1:{free_port()}"}
    if "HTTP_LISTEN" in settings:
        settings["HTTP_LISTEN"] = f"127.0.0.1:{free_port()}"

    def is_ready():
        try:
            return request("GET", f"http://{settings['METRICS_LISTEN']}/readyz", timeout=1).status == 200
        except OSError:
            return False

    start = time.monotonic()
    process = subprocess.Popen([world.stack.program(name)], env=settings, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    try:
        until(is_ready, 20, pause=0.002)
        return time.monotonic() - start
    finally:
        process.terminate()
        process.wait(40)


def millions(world, many=1_000_000, few=1000, worked=15_000):
    """A million handles that are registered and a million texts that wait, beside a thousand of each."""
    rows = []
    lookups, memory = {}, {}
    for count in (few, many):
        add_handles(world, count)
        lookups[count] = look_up(world)["coldTogether"]
        memory[count] = world.resident("token-registry")
    rows.append(Row("look-ups a second with a million handles", lookups[many], lookups[few], "/s", 0.9,
                    note="with a thousand"))
    rows.append(Row("token-registry with a million handles", memory[many], memory[few], "MB", 1.5,
                    more_is_better=False, note="with a thousand"))
    rates = {}
    for count in (worked, many):
        users = min(count, 100_000)
        first = world.users(users)
        with world.stopped("agent"):
            world.fill("inbound", count, users, first)
            done = world.replies()
        seconds = until(lambda: world.replies() - done >= worked, 300)
        rates[count] = worked / seconds
        memory[count] = {name: world.resident(name) for name in SERVICES}
        world.purge("inbound")
        world.await_quiet(300)
    rows.append(Row("texts a second from a backlog of a million", rates[many], rates[worked], "/s", 0.9,
                    note=f"of {worked:,}"))
    largest = max(SERVICES, key=lambda name: memory[many][name] / memory[worked][name])
    rows.append(Row(f"memory beside a backlog of a million, the most grown ({largest})", memory[many][largest],
                    memory[worked][largest], "MB", 1.5, more_is_better=False, note=f"beside {worked:,}"))
    return rows


def backlog(world, count=1_000_000, registered=20_000):
    """So many texts of 100,000 people pile up while the agent is down, and drain to the last; each process's memory."""
    count = int(count)
    users = min(count, 100_000)
    first = world.users(users)
    # The others have no Island.
    world.register(first, min(users, registered))
    world.await_quiet(300)
    most = {}

    def drained():
        for name in SERVICES:
            most[name] = max(most.get(name, 0), world.resident(name))
        return world.replies() - done >= count

    done = world.replies()
    with world.stopped("agent"):
        world.fill("inbound", count, users, first)
    seconds = until(drained, 3600, pause=1, what=lambda: f"{world.replies() - done:,.0f} of {count:,} texts answered")
    world.await_quiet(300)
    replies = world.replies() - done
    assert replies == count, f"{replies:,.0f} replies to {count:,} texts"
    print(f"    {count:,} texts drained in {seconds:.0f} s, {count / seconds:,.0f} a second")
    return [Row(f"most resident while a backlog of {count:,} drains: {name}", most[name], MEMORY_LIMITS[name], "MB", 1,
                more_is_better=False, note="the container's limit") for name in SERVICES]


def add_handles(world, count):
    """Rows of users whom nobody asks for: what matters is how many there are."""
    path = world.stack.settings("token-registry")["DATABASE_URL"].removeprefix("sqlite:")
    with closing(sqlite3.connect(path, timeout=60)) as database, database:
        names = [f"filler-{count}-{number}" for number in range(count)]
        database.executemany("INSERT INTO registry_users VALUES (?, 1, 0)", ((name,) for name in names))
        database.executemany("INSERT INTO registry_handles VALUES (?, ?, ?, 0, 1)",
                             ((os.urandom(32), os.urandom(40), name) for name in names))


def growth():
    """The end-to-end rate by the number of partitions, and by the number of users."""
    by_partitions, by_users = {}, {}
    for partitions in (1, 2, 4, 8, 16):
        with running_world("bench-growth", PARTITIONS=str(partitions)) as world:
            by_partitions[partitions], _ = end_to_end(world, texts=12)
    with running_world("bench-growth") as world:
        for users, texts in ((10, 28), (100, 28), (1000, 20), (10_000, 2), (100_000, 1)):
            by_users[users], _ = end_to_end(world, users=users, texts=texts, register=users <= 10_000)
    return by_partitions, by_users
