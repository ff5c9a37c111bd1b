"""Compute the table behind GPBandit-CNNTuning-v0: `python tools/cnn_tuning_table.py`.

Every row is the mean validation accuracy of eight real training runs, see `bandit_envs.data.training`,
and the deviation of one of them. Needs torch (`pip install 'gpbandits[rl]'`); five minutes on one core.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from bandit_envs.data.training import train_cnn

TABLE = Path(__file__).parents[1] / "bandit_envs" / "data" / "tables" / "cnn_tuning.csv"


def main() -> None:
    """Train at every point of the grid and write the table."""
    torch.set_num_threads(1)  # sums of the same order everywhere
    table = train_cnn()
    rows = np.column_stack([table.values, table.accuracy, table.std])
    header = "batch_size,step_size,decay,accuracy_mean,accuracy_std"
    np.savetxt(TABLE, rows, fmt="%d,%.10g,%.10g,%.6f,%.6f", header=header, comments="")


if __name__ == "__main__":
    main()
