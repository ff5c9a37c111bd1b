"""Draw the tables behind the real tasks: rewards of all configurations, and what their runs take.

    python tools/real_tables.py

It needs all packages of `bandit_envs/data/packages.toml`, which it downloads (88 MB), and writes
`docs/figures/real-tables.png` and `docs/figures/real-lcbench.png`.
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from bandit_envs.data.runs import FAMILIES, load_runs
from bandit_envs.problems.real import real, tasks

FIGURES = Path(__file__).parents[1] / "docs" / "figures"
COLUMNS = 4


def main() -> None:
    """Draw one panel a table, in the order of the tasks."""
    first = {}
    for name, task in tasks().items():
        if len(task.tables) == 1:
            first.setdefault(task.tables[0], (name, task))
    rows = -(-len(first) // COLUMNS)
    figure = Figure(figsize=(2.4 * COLUMNS, 2.1 * rows), layout="constrained")
    panels = figure.subplots(rows, COLUMNS, squeeze=False).ravel()
    for panel in panels[len(first) :]:
        panel.axis("off")
    for panel, (table, (name, task)) in zip(panels, first.items(), strict=False):
        runs = load_runs(table)
        values = real(task=name).draw(0).means[0, 0]
        panel.hist(values, bins=40, color="C0", log=True)
        good = np.mean(values >= values.max() - 0.05 * np.ptp(values))
        panel.set_title(table, fontsize=10)
        said = f"{task.reward}\n{100 * good:.2g} % near the best"
        if "train_time" in runs.measured:
            times = runs.mean("train_time") / np.median(runs.mean("train_time"))
            low, high = np.quantile(times, [0.1, 0.9])
            said += f"\n80 % take {low:.2g} to {high:.2g} medians"
        panel.set_xlabel(said, fontsize=9)
        panel.tick_params(labelsize=9)
    figure.savefig(FIGURES / "real-tables.png", dpi=110)


def lcbench() -> None:
    """Draw one row a data set of LCBench: the middle 80 % of the accuracies, their median, and the best."""
    names = FAMILIES["lcbench"].names
    percent = np.array([100 * load_runs(f"lcbench/{name}").measured["val_acc"] for name in names])
    low, median, high, best = np.quantile(percent, [0.1, 0.5, 0.9, 1.0], axis=1)
    row = np.arange(len(names))[::-1]
    figure = Figure(figsize=(7.0, 6.5), layout="constrained")
    panel = figure.subplots()
    panel.hlines(row, low, high, color="C0", linewidth=3, alpha=0.5, label="middle 80 %")
    panel.plot(median, row, "|", color="C0", markersize=9, label="median")
    panel.plot(best, row, "o", color="C1", markersize=4, label="best")
    panel.set_yticks(row, [name.replace("_", " ") for name in names], fontsize=7)
    panel.set_xlabel("validation accuracy in percent of 2,000 networks")
    panel.set_ylim(-1, len(names))
    figure.legend(loc="outside upper center", ncols=3, frameon=False)
    figure.savefig(FIGURES / "real-lcbench.png", dpi=110)


if __name__ == "__main__":
    main()
    lcbench()
