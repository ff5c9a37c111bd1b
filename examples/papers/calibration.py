"""How often confidence bands miss the function: where they are theorems, and in the papers' experiments.

A trial fails if |mu_{t-1}(x) - f(x)| > w_t sigma_{t-1}(x) at any point x in any round t. The theorems promise
that at most delta = 0.1 of the trials do. The script draws, for every width, the share that fails and the
factor by which the widths would have to grow to contain the function throughout, and writes the regret of the
same trials beside them; docs/calibration.md says what one sees.

    python examples/papers/calibration.py --out calibration.png --table calibration.csv
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from scipy.stats import binomtest

import agents
from bandit_envs import Problem, Setting
from bandit_envs.problems.synthetic import gp, rkhs
from gpbandits.evaluation.statistics import bootstrap_interval
from gpbandits.theory.coverage import play_bands

DELTA = 0.1
ROBUST_ROUNDS = 300
HEADER = ("width", "theorem", "failed", "trials", "median", "low", "high")
PROMISED, EXPERIMENT = "#0072B2", "#D55E00"


class Row(NamedTuple):
    """An agent on a problem, and whether a theorem covers the pair."""

    label: str
    theorem: bool
    problem: Problem
    agent: Any


class Finding(NamedTuple):
    """What became of a row's trials."""

    label: str
    theorem: bool
    failed: int
    trials: int
    factor: tuple[float, float, float]  # median, 10 and 90 % quantile of the factor that was needed
    regret: tuple[float, float, float]  # mean of R_T and its 95 % interval

    @property
    def share(self) -> tuple[float, float, float]:
        """Of trials that fail, with its 95 % Clopper-Pearson interval."""
        interval = binomtest(self.failed, self.trials).proportion_ci(method="exact")
        return self.failed / self.trials, float(interval.low), float(interval.high)


def theorem_3(setting: Setting, num_trials: int | None = None) -> Any:
    """Theorem 3 of Srinivas et al. (2010) needs sqrt(lambda) to bound the noise, which differs by trial."""
    variance = np.square(setting.noise_bound)
    return agents.gp_ucb(setting, width="rkhs", noise_variance=variance, num_trials=num_trials)


def rows(horizon: int) -> Iterator[Row]:
    """Srinivas et al. (2010, section 6) on 1000 points, Chowdhury & Gopalan (2017, section 6) on 100."""
    sample = gp(horizon=min(horizon, 1000))  # the paper's T
    se, matern = rkhs(horizon=horizon), rkhs(horizon=horizon, kernel="matern52")
    small = rkhs(horizon=horizon, rkhs_norm=1.0)
    printed = rkhs(horizon=horizon, rkhs_bound="paper")
    bounded = rkhs(horizon=horizon, noise={"law": "uniform", "share": 0.01})
    proof, rate = {"noise_variance": 1 + 2 / horizon}, {"gamma": "rate"}
    smooth = {"noise_variance": "smoothness"}
    yield Row("GP-UCB, Theorem 1, f ~ GP", True, sample, "gp-ucb")
    yield Row("GP-UCB, Theorem 3, bounded noise", True, bounded, theorem_3)
    yield Row("IGP-UCB, λ = 1 + 2/T", True, se, ("igp-ucb", proof))
    yield Row("GP-TS, λ = 1 + 2/T", True, se, ("gp-ts", proof))
    yield Row("self-normalised, λ = R²", True, se, ("gp-ucb", {"width": "self-normalised"}))
    yield Row("self-normalised, λ = R², Matérn 5/2", True, matern, ("gp-ucb", {"width": "self-normalised"}))
    yield Row("AMM, λ = R²", True, se, ("gp-ucb", {"width": "amm"}))
    yield Row("AMM, λ = R², Matérn 5/2", True, matern, ("gp-ucb", {"width": "amm"}))
    yield Row("AMM, λ by smoothness, Matérn 5/2", True, matern, ("gp-ucb", {"width": "amm", **smooth}))
    yield Row("DMM, λ = R²", True, se, "dmm-ucb")
    yield Row("DMM, λ = R², Matérn 5/2", True, matern, "dmm-ucb")
    yield from robust_rows(min(horizon, ROBUST_ROUNDS))
    by_arm = rkhs(horizon=horizon, rkhs_norm=2.0, noise={"law": "by-arm", "std": 0.5, "quietest": 0.1})
    yield Row("AMM, known variances", True, by_arm, ("gp-ucb", {"width": "amm"}))
    yield Row("split band, batches of BPE", True, se, "bpe")
    yield Row("split band, batches of BPE, Matérn 5/2", True, matern, "bpe")
    yield Row("plain band, batches of BPE", True, se, ("bpe", {"band": "plain"}))
    yield Row("GP-UCB, β/5, f ~ GP", False, sample, ("gp-ucb", {"beta_scale": 0.2}))
    yield Row("GP-UCB, Theorem 3's width, Gaussian noise", False, se, ("gp-ucb", {"width": "rkhs", **rate}))
    yield Row("IGP-UCB, λ = R², gain by rate, paper's B", False, printed, ("igp-ucb", rate))
    yield Row("IGP-UCB, λ = R², gain by rate", False, se, ("igp-ucb", rate))
    yield Row("IGP-UCB, λ = R², realised gain", False, se, "igp-ucb")
    yield Row("IGP-UCB, λ = R², gain 1", False, se, ("igp-ucb", {"gamma": 1.0}))
    yield Row("IGP-UCB, λ = R², gain by rate, Matérn 5/2", False, matern, ("igp-ucb", rate))
    yield Row("IGP-UCB, λ = R², gain by rate, ‖f‖ = 1", False, small, ("igp-ucb", rate))
    yield Row("GP-TS, λ = R², gain by rate, paper's B", False, printed, ("gp-ts", rate))
    yield Row("GP-TS, λ = R², gain by rate", False, se, ("gp-ts", rate))


def robust_rows(horizon: int) -> Iterator[Row]:
    """What is done to values, and what a band allows for it or does not; on 300 rounds, which are slow."""
    hill = partial(rkhs, horizon=horizon, rkhs_norm=2.0, noise_std=0.1)
    far = hill(misspecification=0.1)
    struck = hill(corruption={"law": "near-optimal", "budget": 3.0})
    tails = hill(noise={"law": "student-t", "degrees": 2.1, "std": 0.46}, noise_std=None)
    skew = hill(noise={"law": "pareto", "std": 0.46}, noise_std=None)
    amm = ("gp-ucb", {"width": "amm"})
    yield Row("EC-GP-UCB, ε = 0.1", True, far, "ec-gp-ucb")
    yield Row("EC-GP-UCB, the paper's, ε = 0.1", True, far, ("ec-gp-ucb", {"extra": "paper"}))
    yield Row("RGP-UCB, C = 3", True, struck, "rgp-ucb")
    yield Row("RGP-UCB, the paper's, C = 3", True, struck, ("rgp-ucb", {"extra": "paper"}))
    yield Row("TGP-UCB, Student's t", True, tails, "tgp-ucb")
    yield Row("AMM, ε = 0.1", False, far, amm)
    yield Row("AMM, C = 3", False, struck, amm)
    yield Row("AMM, Student's t", False, tails, amm)
    yield Row("AMM, Pareto", False, skew, amm)


def measure(row: Row, trials: int) -> Finding:
    """Play a row's trials and count the failures."""
    bands = play_bands(row.problem, row.agent, trials)
    median, low, high = np.quantile(bands.factor, [0.5, 0.1, 0.9]).tolist()
    regret = bootstrap_interval(bands.regret[:, -1])
    return Finding(
        row.label,
        row.theorem,
        int(bands.failed.sum()),
        trials,
        (median, low, high),
        (float(regret.estimate), float(regret.low), float(regret.high)),
    )


def as_markdown(finding: Finding) -> str:
    """One line of the table in docs/calibration.md."""
    share = "{:.1f} % [{:.1f}, {:.1f}]".format(*(100 * value for value in finding.share))
    factor = "{:.3g} [{:.3g}, {:.3g}]".format(*finding.factor)
    regret = "{:.3g} [{:.3g}, {:.3g}]".format(*finding.regret)
    return f"| {finding.label} | {'yes' if finding.theorem else 'no'} | {share} | {factor} | {regret} |"


def summary(findings: list[Finding]) -> str:
    """How often theorems failed, as docs/calibration.md says it."""
    proved = [finding for finding in findings if finding.theorem]
    failed = sum(finding.failed for finding in proved)
    return f"{failed or 'None'} of {sum(finding.trials for finding in proved)} trials failed"


def write(findings: list[Finding], path: Path) -> None:
    """Keep the numbers."""
    with path.open("w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow((*HEADER, "regret", "regret low", "regret high"))
        lines.writerows((*finding[:4], *finding.factor, *finding.regret) for finding in findings)


def read(path: Path) -> list[Finding]:
    """Read what `write` wrote."""
    with path.open(newline="", encoding="utf-8") as file:
        return [_finding(line) for line in list(csv.reader(file))[1:]]


def _finding(line: list[str]) -> Finding:
    label, theorem, failed, trials, *numbers = line
    median, low, high, *regret = map(float, numbers)
    mean, least, most = regret
    factor = median, low, high
    return Finding(label, theorem == "True", int(failed), int(trials), factor, (mean, least, most))


def draw(findings: list[Finding], path: Path) -> None:
    """Failing shares beside the needed factors, one row a width."""
    figure = Figure(figsize=(8.4, 0.22 * len(findings) + 1.5), layout="constrained")
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2, sharey=True)
    for place, finding in enumerate(findings):
        _draw_interval(left, place, finding.share, finding.theorem)
        _draw_interval(right, place, finding.factor, finding.theorem)
    left.set_yticks(range(len(findings)), [finding.label for finding in findings])
    left.invert_yaxis()
    left.axvline(DELTA, color="black", linestyle=":", linewidth=1)
    left.annotate("δ", (DELTA, 1), (0, 2), xycoords=("data", "axes fraction"), textcoords="offset points")
    left.set(xlim=(-0.02, 1.02), xlabel="share of trials whose band fails\n(95 % interval)")
    right.axvline(1.0, color="black", linestyle=":", linewidth=1)
    right.set(xscale="log", xlabel="factor that the width would need\n(median, 10 and 90 % of trials)")
    for label, color in (("theorem", PROMISED), ("no theorem", EXPERIMENT)):
        right.plot([], [], "o-", color=color, label=label)
    figure.legend(frameon=False, ncols=2, loc="outside upper right")
    figure.savefig(path, dpi=150)


def _draw_interval(axes: Axes, place: int, interval: tuple[float, float, float], theorem: bool) -> None:
    middle, low, high = interval
    color = PROMISED if theorem else EXPERIMENT
    axes.plot([low, high], [place, place], "-", color=color, linewidth=1.6)
    axes.plot([middle], [place], "o", color=color, markersize=5)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="x", color="0.9", linewidth=0.6)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--horizon", type=int, default=3000)
    parser.add_argument("--out", type=Path, default=Path("calibration.png"), help="the figure")
    parser.add_argument("--table", type=Path, help="a CSV of the numbers; what it holds is not played again")
    options = parser.parse_args()
    print("| width | theorem | trials that fail | factor needed | R_T |\n|---|---|---|---|---|")
    kept = read(options.table) if options.table is not None and options.table.exists() else []
    found = {finding.label: finding for finding in kept if finding.trials == options.trials}
    findings = []
    for row in rows(options.horizon):
        findings.append(found.get(row.label) or measure(row, options.trials))
        print(as_markdown(findings[-1]), flush=True)
    print(summary(findings))
    draw(findings, options.out)
    if options.table is not None:
        write(findings, options.table)


if __name__ == "__main__":
    main()
