"""Processes and what they have started."""

from pathlib import Path


def children(parent):
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            fields = (process / "stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue  # It has ended meanwhile.
        if int(fields[1]) == parent:
            found.append(int(process.name))
    return found


def descendants(parent):
    return [inner for child in children(parent) for inner in [child, *descendants(child)]]
