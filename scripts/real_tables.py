"""Draw the tables behind the real tasks: rewards of all configurations, and what their runs take.

    python scripts/real_tables.py

It needs all packages of `bandit_envs/data/packages.toml`, which it downloads (87 MB), and writes
`docs/figures/real-tables.png`.
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from bandit_envs.data.runs import load_runs
from bandit_envs.problems.real import real, tasks

FIGURE = Path(__file__).parents[1] / "docs" / "figures" / "real-tables.png"
COLUMNS = 6


def main() -> None:
    """Draw one panel a table, in the order of the tasks."""
    first = {}
    for name, task in tasks().items():
        if len(task.tables) == 1:
            first.setdefault(task.tables[0], (name, task))
    rows = -(-len(first) // COLUMNS)
    figure = Figure(figsize=(2.1 * COLUMNS, 1.9 * rows), layout="constrained")
    panels = figure.subplots(rows, COLUMNS, squeeze=False).ravel()
    for panel in panels[len(first) :]:
        panel.axis("off")
    for panel, (table, (name, task)) in zip(panels, first.items(), strict=False):
        runs = load_runs(table)
        values = real(task=name).draw(0).means[0, 0]
        panel.hist(values, bins=40, color="C0", log=True)
        good = np.mean(values >= values.max() - 0.05 * np.ptp(values))
        panel.set_title(table, fontsize=8)
        said = f"{task.reward}; {100 * good:.2g} % near the best"
        if "train_time" in runs.measured:
            times = runs.mean("train_time") / np.median(runs.mean("train_time"))
            low, high = np.quantile(times, [0.1, 0.9])
            said += f"\n80 % take {low:.2g} to {high:.2g} medians"
        panel.set_xlabel(said, fontsize=6.5)
        panel.tick_params(labelsize=6)
    figure.savefig(FIGURE, dpi=110)


if __name__ == "__main__":
    main()
