"""Measures, prints one table, and keeps it: see `make bench` and `make bench-quick`.

bench.py                all rows and the plots, into .bench/
bench.py --quick        a minute's worth, held against kept.json
bench.py --keep         after --quick: its ratios are the ones to be held against from now on
bench.py --row NAME     only the rows of one function of rows.py
"""

import json
import platform
import sys
import time
from pathlib import Path

import rows
from world import ROOT, SERVICES, running_world

KEPT = Path(__file__).with_name("kept.json")
RESULTS = ROOT / ".bench"
# A ratio that falls by more than this share is a regression.
SLACK = 1 / 3


def table(found):
    lines = ["| row | ours | reference | ratio | reach | |", "|---|---|---|---|---|---|"]
    for row in found:
        sign = "≥" if row.more_is_better else "≤"
        lines.append(
            f"| {row.name} | {number(row.ours)} {row.unit} | {number(row.reference)} {row.unit} ({row.note}) "
            f"| {row.ratio:.2f} | {sign} {row.reach:g} | {'reached' if row.is_reached else '**not reached**'} |")
    return "\n".join(lines)


def number(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def machine():
    model = next((line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines()
                  if line.startswith("model name")), platform.processor())
    cores = sum(line.startswith("processor") for line in Path("/proc/cpuinfo").read_text().splitlines())
    return f"{cores} cores of {model}, Linux {platform.release()}"


def measure(name, world, *arguments):
    start = time.monotonic()
    found = getattr(rows, name)(world, *arguments)
    print(f"--- {name}: {time.monotonic() - start:.0f} s", flush=True)
    for row in found[0] if isinstance(found, tuple) else found:
        print(f"    {row.name}: {number(row.ours)} {row.unit}, {row.ratio:.2f} of {row.note}", flush=True)
    return found


def everything():
    found = []
    with running_world() as world:
        at_start = {name: world.resident(name) for name in SERVICES}
        for name in ("codec", "webhooks", "pushes", "replies"):
            found += measure(name, world)
        more, most = measure("whole", world)
        found += more
        at_full_load = {name: world.resident(name) for name in SERVICES}
    with running_world(times=True) as world:
        found += measure("latency", world, most)
        found += measure("lookups", world)
        found += measure("resources", world, at_start, at_full_load)
        found += measure("millions", world)
    return found


def quick():
    found = []
    with running_world() as world:
        found += measure("codec", world)
        found += measure("webhooks", world, 20_000)
        found += measure("pushes", world, 20_000, 2000)
        found += measure("replies", world, 10_000)
        # Not the one that is held against a number: it says how fast the machine is.
        found += measure("whole", world)[0][:1]
    return [row for row in found if row.more_is_better or row.unit == "µs"]


def hold_against(found):
    """Whether no ratio is much worse than the one that was kept."""
    if not KEPT.exists():
        return [f"{KEPT} does not exist: --keep makes it"]
    kept = json.loads(KEPT.read_text())
    worse = []
    for row in found:
        before = kept.get(f"{row.name}, against {row.note}")
        if before is None:
            continue
        change = row.ratio / before if row.more_is_better else before / row.ratio
        if change < 1 - SLACK:
            worse.append(f"{row.name}: {row.ratio:.2f} of {row.note}, and it was {before:.2f}")
    return worse


def main(arguments):
    RESULTS.mkdir(exist_ok=True)
    start = time.monotonic()
    if arguments[:1] == ["--row"]:
        with running_world(times=arguments[1] == "latency") as world:
            print(measure(arguments[1], world, *map(float, arguments[2:])))
        return 0
    is_quick = "--quick" in arguments
    found = quick() if is_quick else everything()
    text = f"{machine()}\n\n{table(found)}\n"
    (RESULTS / ("quick.md" if is_quick else "table.md")).write_text(text)
    print(f"\n{text}\n{time.monotonic() - start:.0f} s")
    if "--keep" in arguments:
        KEPT.write_text(json.dumps(
            {f"{row.name}, against {row.note}": round(row.ratio, 3) for row in found}, indent=1) + "\n")
    elif is_quick:
        worse = hold_against(found)
        print("\n".join(worse))
        return 1 if worse else 0
    else:
        import plots
        plots.draw(*rows.growth())
        print(f"with the plots {time.monotonic() - start:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
