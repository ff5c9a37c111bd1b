"""Agents where moves cost, bands of batches under drift, and regret under drift: two tables of results.

    python benchmarks/movement.py --out docs/results/movement.csv --bands docs/results/drift_bands.csv
    python benchmarks/movement.py --page docs/results/movement.csv --bands docs/results/drift_bands.csv

Moves: 100 points of [0, 1], functions of RKHS norm 2, SE kernel with length-scale 0.2, noise of 0.1, 1000
rounds, 20 trials. Bands: 60 points, batches planned by variance, a drift that shifts all points alike.
"""

import argparse
import csv
from pathlib import Path
from typing import Any

import numpy as np

from agents.widths.bounded_norm import DriftBand, SplitBand
from bandit_envs.basics.types import Floats, Ints
from bandit_envs.kernels.kernels import make_kernel
from bandit_envs.problem.decisions import unit_grid
from gpbandits import evaluate
from gpbandits.evaluation.statistics import bootstrap_interval

PLACE = {
    "num_arms": 100,
    "length_scale": 0.2,
    "rkhs_norm": 2.0,
    "noise_std": 0.1,
    "horizon": 1000,
}
MOVES = [(law, price) for law in ("switching", "travel") for price in (0.1, 1.0)]
AGENTS: dict[str, Any] = {
    "AMM-UCB": ("gp-ucb", {"width": "amm"}),
    "mini-AMM-UCB": ("gp-ucb", {"width": "amm", "repeat": 2.0}),
    "movement-ucb": ("movement-ucb", {"width": "amm"}),
    "bpe": "bpe",
    "batch-and-sort": "batch-and-sort",
}
DRIFT = {"num_arms": 100, "horizon": 1000, "noise_std": 0.1}
RATES = (0.0003, 0.003)  # epsilon of the Ornstein-Uhlenbeck drift
FORGETTING = ("permuted-elimination", "bpe", "sw-gp-ucb", "r-gp-ucb", "tv-gp-ucb", "ui-tvbo")
TRIALS, RUNS = 20, 500
N, NOISE, B, DELTA = 60, 0.1, 2.0, 0.1  # of the bands; the model's noise variance is NOISE squared


def moves() -> list[dict[str, str]]:
    """Return regret, cost of moves, number of moves and total loss of each agent under each law."""
    rows = []
    for law, price in MOVES:
        keywords = {**PLACE, "movement": {"law": law, "price": price}}
        result = evaluate("GPBandit-RKHS-v0", AGENTS, trials=TRIALS, env_kwargs=keywords)
        for label in result.agents:
            changes = np.count_nonzero(np.diff(result.actions[label], axis=1), axis=1)
            rows.append(
                {"environment": law, "amount": f"{price:g}", "agent": label}
                | {"regret": shown(result.regret[label][:, -1]), "moves": f"{changes.mean():.0f}"}
                | {"total loss": shown(result.total_loss[label][:, -1])}
            )
    return rows


def drift() -> list[dict[str, str]]:
    """Return the regret of agents where the function drifts; the bounds of none hold there."""
    rows = []
    for rate in RATES:
        keywords = {**DRIFT, "drift": {"law": "ornstein-uhlenbeck", "epsilon": rate}}
        result = evaluate("GPBandit-GP-v0", list(FORGETTING), trials=TRIALS, env_kwargs=keywords)
        for label in result.agents:
            final = shown(result.regret[label][:, -1])
            row = {"environment": "drift", "amount": f"{rate:g}", "agent": label, "regret": final}
            rows.append(row | {"moves": "", "total loss": ""})
    return rows


def shown(values: Floats) -> str:
    """Return a mean with its 95 % interval as pages print it."""
    interval = bootstrap_interval(values)
    return f"{interval.estimate:.3g} [{interval.low:.3g}, {interval.high:.3g}]"


def bands() -> list[dict[str, str]]:
    """Return half-widths, errors and violations of a batch whose function shifts by V during it."""
    gram = make_kernel("rbf", 0.2)(unit_grid(N))
    rows = []
    for plays, V in ((400, 0.1), (400, 0.3), (40, 0.3)):
        plan = by_variance(gram, plays)
        a = np.linalg.solve(gram[np.ix_(plan, plan)] + NOISE**2 * np.eye(plays), gram[plan])
        std = np.sqrt(np.maximum(np.diag(gram) - (gram[plan] * a).sum(axis=0), 0.0))[None]
        norm, total = np.linalg.norm(a, axis=0)[None], np.abs(a).sum(axis=0)[None]
        facts = B, NOISE, NOISE**2, DELTA, N
        split = SplitBand(*facts)(std, norm)
        band = DriftBand(*facts)(std, norm, np.full_like(total, np.inf), V)[0]
        row = {"plays": str(plays), "V": f"{V:g}", "random order": f"{band.mean():.3f}"}
        row |= {"any order": f"{(split + V * total).mean():.3f}"}
        row |= {"linear": f"{(split + V / 2 * total).mean():.3f}"}
        for shuffled in (True, False):
            row |= played(gram, plan, a, band, V, shuffled)
        rows.append(row)
    return rows


def by_variance(gram: Floats, plays: int) -> Ints:
    """Return the plan of a design of largest variance, (n,)."""
    covariance, plan = gram.copy(), np.empty(plays, dtype=np.int64)
    for k in range(plays):
        plan[k] = i = covariance.diagonal().argmax()
        covariance -= np.outer(covariance[:, i], covariance[:, i]) / (NOISE**2 + covariance[i, i])
    return plan


def played(gram: Floats, plan: Ints, a: Floats, band: Floats, V: float, shuffled: bool) -> dict[str, str]:
    """Return mean largest error and share of violations of the band for random order, over 500 runs.

    Args:
        a: weights of the plays in the mean at each point, (n, N).
    """
    name, errors, broken = "shuffled" if shuffled else "sorted", [], 0
    for run in range(RUNS):
        rng = np.random.default_rng(run)
        weights, centres = rng.standard_normal(8), rng.choice(N, 8, replace=False)
        f = weights @ gram[centres]
        f *= B / np.sqrt(weights @ gram[np.ix_(centres, centres)] @ weights)
        order = rng.permutation(len(plan)) if shuffled else plan.argsort()
        shift = V * np.linspace(-0.5, 0.5, len(plan))  # its average is 0
        y = f[plan[order]] + shift + NOISE * rng.standard_normal(len(plan))
        error = np.abs(y @ a[order] - f)
        errors.append(error.max())
        broken += bool((error > band).any())
    share = f"{100 * broken / RUNS:.1f}"
    return {f"error, {name}": f"{np.mean(errors):.3f}", f"broken, {name}": share}


def write(rows: list[dict[str, str]], path: Path) -> None:
    """Write rows with the header of the first."""
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def tables(movement: Path, drift_bands: Path) -> list[list[str]]:
    """Return the rows of the page's tables as Markdown: moves, bands, drift."""
    with movement.open(newline="") as file:
        found = list(csv.DictReader(file))
    with drift_bands.open(newline="") as file:
        of_bands = list(csv.DictReader(file))
    of_moves, drifting = [], []
    for row in found:
        cells = [
            row["environment"],
            row["amount"],
            row["agent"],
            row["regret"],
            row["moves"],
            row["total loss"],
        ]
        (drifting if row["environment"] == "drift" else of_moves).append(cells)
    drifting = [[cells[1], cells[2], cells[3]] for cells in drifting]
    each = of_moves, [list(row.values()) for row in of_bands], drifting
    return [[f"| {' | '.join(cells)} |" for cells in rows] for rows in each]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path)
    parser.add_argument("--page", type=Path)
    parser.add_argument("--bands", type=Path, required=True)
    given = parser.parse_args()
    if given.out:
        write(bands(), given.bands)
        write(moves() + drift(), given.out)
    for rows in tables(given.page or given.out, given.bands):
        print("\n".join(rows), end="\n\n")


if __name__ == "__main__":
    main()
