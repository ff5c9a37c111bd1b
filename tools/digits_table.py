"""Train a perceptron on scikit-learn's digits with five seeds, and write what each run reached and took.

    python tools/digits_table.py

240 configurations of step size, width, batch size and weight decay, on log scales; 70 % of the 1797 images
train, 30 % validate (stratified, random_state 0); 15 epochs of Adam. A row is a run: configuration, seed,
validation accuracy, processor time of the training in seconds on one thread, and number of weights.
The times are those of one machine; `bandit_envs/data/tables/digits.csv` is not reproduced to the last digit.
"""

import csv
import itertools
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier

from bandit_envs.basics.threads import threads

TABLE = Path(__file__).parents[1] / "bandit_envs" / "data" / "tables" / "digits.csv"
GRID = {
    "step_size": np.geomspace(1e-4, 1e-1, 6),
    "width": [8, 16, 32, 64, 128],
    "batch_size": [16, 32, 64, 128],
    "weight_decay": [1e-6, 1e-1],
}
SEEDS, EPOCHS = 5, 15


def run(configuration: dict[str, float], seed: int, split: list) -> tuple[float, float, int]:
    """Return validation accuracy, processor time in seconds and number of weights of one run."""
    x, x_valid, y, y_valid = split
    network = MLPClassifier(
        (int(configuration["width"]),),
        learning_rate_init=configuration["step_size"],
        batch_size=int(configuration["batch_size"]),
        alpha=configuration["weight_decay"],
        max_iter=EPOCHS,
        random_state=seed,
    )
    start = time.process_time()
    network.fit(x, y)
    taken = time.process_time() - start
    weights = sum(each.size for each in (*network.coefs_, *network.intercepts_))
    return network.score(x_valid, y_valid), taken, weights


def main() -> None:
    """Write the table."""
    images, labels = load_digits(return_X_y=True)
    split = train_test_split(images / 16, labels, test_size=0.3, stratify=labels, random_state=0)
    warnings.simplefilter("ignore", ConvergenceWarning)
    with TABLE.open("w", newline="") as file, threads(1):
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*GRID, "seed", "val_acc", "train_time", "model_size"])
        for values in itertools.product(*GRID.values()):
            for seed in range(SEEDS):
                accuracy, taken, weights = run(dict(zip(GRID, values, strict=True)), seed, split)
                row = [f"{value:.6g}" for value in values]
                writer.writerow([*row, seed, f"{accuracy:.6f}", f"{taken:.4f}", weights])


if __name__ == "__main__":
    main()
