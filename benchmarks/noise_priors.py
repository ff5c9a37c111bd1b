"""Expected improvement on boxes by the prior on a noise that is learnt with the amplitude.

    python benchmarks/noise_priors.py --write

The agent, functions and noise are those of `benchmarks/box_optimisation.py`, with 40 rounds. The prior on the
logarithm of the noise variance has its mode at exp(-5) of the first variance; only its spread differs.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before numpy is imported: one thread

import argparse
from functools import partial

import numpy as np
from box_methods import METHODS, gpbandits
from box_optimisation import PROBLEMS, play
from tables import write

SPREADS = (1.0, 2.0, 3.0, np.inf)
ROUNDS, REFIT = 40, 10
HEADER = ["function", "noise", "seeds", *(f"spread {spread:g}" for spread in SPREADS)]


def cell(spread: float, problem: str, noisy: bool, seeds: int) -> str:
    """Simple regret of the best point played, "median (quartile to quartile)"."""
    METHODS["spread"] = partial(gpbandits, fit_noise_spread=spread)
    regret = [play("spread", problem, noisy, ROUNDS, REFIT, seed).played for seed in range(seeds)]
    lower, median, upper = np.quantile(regret, [0.25, 0.5, 0.75])
    return f"{median:.2g} ({lower:.2g} to {upper:.2g})"


def main() -> None:
    """Play all, print a row each, and write them where asked."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--seeds", type=int, default=100)
    options.add_argument("--write", action="store_true")
    chosen = options.parse_args()
    rows = []
    for problem in PROBLEMS:
        for noisy in (False, True):
            cells = [cell(spread, problem, noisy, chosen.seeds) for spread in SPREADS]
            rows.append([problem, "noisy" if noisy else "none", str(chosen.seeds), *cells])
            print(*rows[-1], sep=", ", flush=True)
    if chosen.write:
        write("noise_priors", HEADER, rows)


if __name__ == "__main__":
    main()
