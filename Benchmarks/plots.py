"""How the rate of texts end to end grows, as SVG."""

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402
from world import ROOT  # noqa: E402


def draw(by_partitions, by_users, folder=ROOT / "docs" / "pictures"):
    # The same figures give the same bytes.
    matplotlib.rcParams["svg.hashsalt"] = "isthmus"
    for name, label, found in (
        ("growth-partitions", "partitions of each stage", by_partitions),
        ("growth-users", "users", by_users),
    ):
        figure, axes = plt.subplots(figsize=(6, 3.2), layout="constrained")
        axes.plot(list(found), list(found.values()), marker="o", color="#2563eb")
        axes.set_xscale("log", base=2 if max(found) < 100 else 10)
        axes.set_xticks(list(found), [f"{value:,}" for value in found])
        axes.minorticks_off()
        axes.set_ylim(bottom=0)
        axes.set_xlabel(label)
        axes.set_ylabel("texts a second, end to end")
        axes.grid(axis="y", alpha=0.3)
        figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
        plt.close(figure)
