"""How often sets of ranks hold the truth, and which part of what t-tests separate they separate.

Fifty agents play the same 20 trials. Ten of them are five pairs that are nearly equal, which differ in two
fifths of the trials; six are three pairs of duplicates. Laws of losses are even, heavy in both tails, skewed,
or stuck in 15 % of the trials; spreads of the agents are equal, within a factor of 20, or of 100. Coverage is
the share of boards on which all sets hold all true ranks, where all means are equal and where they differ.
Power is the number of pairs that are rightly separated over that of the plain Bonferroni t-test.

    python benchmarks/rank_sets.py --out docs/results/rank_sets.csv
"""

import argparse
import csv
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import numpy as np
from scipy.stats import ttest_1samp

from bandit_envs.basics.types import Bools, Floats
from gpbandits.evaluation.statistics import LEVEL, joint_tests, rank_sets

AGENTS, TRIALS, BOARDS = 50, 20, 200
NEARLY, EQUAL = range(0, 10, 2), range(10, 16, 2)  # the first of each pair
PAIRS = np.array(list(combinations(range(AGENTS), 2)))
LAWS: dict[str, Callable[[np.random.Generator, tuple[int, int]], Floats]] = {  # of mean 0
    "normal": lambda rng, size: rng.normal(size=size),
    "laplace": lambda rng, size: rng.laplace(size=size),
    "t, 3 degrees": lambda rng, size: rng.standard_t(3, size=size),
    "lognormal": lambda rng, size: rng.lognormal(size=size) - np.exp(0.5),
    "15 % stuck": lambda rng, size: 3 * ((rng.random(size) < 0.15) - 0.15) + rng.normal(0, 0.3, size),
}
SPREADS = {
    "equal": np.ones(AGENTS),
    "to 20": np.linspace(0.1, 2, AGENTS),
    "to 100": np.geomspace(0.02, 2, AGENTS),
}
HEAD = ("law", "spreads", "coverage, equal means", "coverage, graded means", "power")


def board(rng: np.random.Generator, law: str, spread: Floats, graded: bool) -> tuple[Floats, Floats]:
    """Draw the losses of a board, (B, p), and return them with the true means, (p,)."""
    means = 4 * np.cumsum(spread) / spread.sum() * graded
    losses = rng.normal(size=(TRIALS, 1)) + means + spread * LAWS[law](rng, (TRIALS, AGENTS))
    for one in NEARLY:
        differ = rng.random(TRIALS) < 0.4
        losses[:, one + 1] = losses[:, one] + 0.01 * spread[one] * differ * rng.normal(size=TRIALS)
        means[one + 1] = means[one]
    for one in EQUAL:
        losses[:, one + 1], means[one + 1] = losses[:, one], means[one]
    return losses, means


def held(losses: Floats, means: Floats) -> bool:
    """Return True if all sets hold all true ranks; agents of equal means share theirs."""
    best = 1 + (means < means[:, None]).sum(axis=1)
    worst = AGENTS - (means > means[:, None]).sum(axis=1)
    sets = np.array([(each.low, each.high) for each in rank_sets(dict(enumerate(losses.T))).values()])
    return bool(((sets[:, 0] <= best) & (sets[:, 1] >= worst)).all())


def separated(losses: Floats, means: Floats) -> tuple[Bools, Bools]:
    """Return where pairs are rightly separated, by the joint tests and by Bonferroni's t-test, (P,) each."""
    differences = losses[:, PAIRS[:, 1]] - losses[:, PAIRS[:, 0]]
    right = np.sign(differences.mean(axis=0)) == np.sign(means[PAIRS[:, 1]] - means[PAIRS[:, 0]])
    some = differences.any(axis=0)
    plain = np.ones(len(PAIRS))
    plain[some] = ttest_1samp(differences[:, some], 0.0).pvalue * some.sum()
    return right & (joint_tests(differences) <= 1 - LEVEL), right & (plain <= 1 - LEVEL)


def measured(law: str, spreads: str, boards: int = BOARDS) -> tuple[float, float, float]:
    """Return coverage where all means are equal, coverage where they are graded, and power there."""
    rng, spread = np.random.default_rng(5), SPREADS[spreads]
    equal = [board(rng, law, spread, graded=False) for _ in range(boards)]
    graded = [board(rng, law, spread, graded=True) for _ in range(boards)]
    ours, plain = np.sum([separated(*each) for each in graded[: max(boards // 10, 1)]], axis=(0, 2))
    return *(float(np.mean([held(*each) for each in some])) for some in (equal, graded)), float(ours / plain)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--out", type=Path, help="table to write; it is printed anyway")
    options = parser.parse_args()
    rows = [
        (law, spreads, *(f"{x:.3f}" for x in measured(law, spreads))) for law in LAWS for spreads in SPREADS
    ]
    print("\n".join(" | ".join(row) for row in (HEAD, *rows)))
    if options.out:
        with options.out.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows([HEAD, *rows])


if __name__ == "__main__":
    main()
