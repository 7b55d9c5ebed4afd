"""The table that a run of these tests prints: one row a fault."""

import json
from dataclasses import asdict, dataclass


@dataclass
class Row:
    fault: str
    # Texts that were answered with 2xx.
    texts: int
    # Texts that got a reply.
    replies: int
    lost: int
    # Replies beyond one a text, and texts that count twice on somebody's Island.
    doubled: int
    out_of_order: int
    # Phones that do not show the newest state in the end.
    phones_behind: int
    # Requests that Linq got again under a key that it knew: harmless.
    repeated: int
    # The longest time in which Linq got no reply, from the first text to the last reply.
    longest_gap: float

    def is_clean(self, dropped=0):
        return self.texts == self.replies + dropped and not (self.lost or self.doubled or self.out_of_order or self.phones_behind)


class Table:
    def __init__(self, folder):
        self.folder = folder
        self.rows = []

    def add(self, row):
        """Also written down at once: a run may be ended before its end."""
        self.rows.append(row)
        (self.folder / "faults.md").write_text(self.text() + "\n")
        (self.folder / "faults.json").write_text(json.dumps([asdict(row) for row in self.rows], indent=1) + "\n")

    def text(self):
        head = ["fault", "texts", "replies", "lost", "doubled", "out of order", "phones behind", "repeated",
                "longest gap, s"]
        lines = [head, ["---"] + ["--:"] * (len(head) - 1)]
        for row in self.rows:
            values = list(asdict(row).values())
            lines.append([str(value) for value in values[:-1]] + [f"{row.longest_gap:.1f}"])
        widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
        return "\n".join(
            "| " + " | ".join(
                cell.ljust(width) if column == 0 else cell.rjust(width)
                for column, (cell, width) in enumerate(zip(line, widths))) + " |"
            for line in lines)
