"""Figures 3 and 4 of Srinivas et al. (2010), spectra and samples of kernels, which need no studies."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from sklearn.gaussian_process.kernels import RBF, DotProduct, Kernel, Matern, WhiteKernel

from bandit_envs.basics.types import Floats, Ints
from bandit_envs.rendering.picture import ShownFigure
from gpbandits.evaluation.formats import COLOURS, DASHES
from gpbandits.reproductions.study_figure import Compute, Findings, Reproduction
from gpbandits.reproductions.verdicts import HOLDS, REVERSED, Judged, Row, table

POINTS, ROUNDS, NOISE_VARIANCE = 200, 100, 0.025
LENGTH_SCALE = 0.2
KERNELS: dict[str, Kernel] = {
    "independent": WhiteKernel(),
    "linear": DotProduct(sigma_0=1e-6),
    "squared exponential": RBF(LENGTH_SCALE),
    "Matern 5/2": Matern(LENGTH_SCALE, nu=2.5),
}
LEAST_DECAY_LAST = ("linear", "squared exponential", "Matern 5/2", "independent")


@dataclasses.dataclass(frozen=True)
class Spectra(Reproduction):
    """Figure 3 shows spectra of kernels of equal trace and the bounds on information gain."""

    says: str

    def run(self, folder: Path, quick: bool, compute: Compute) -> Findings:
        """Compute spectra and bounds, which takes a second; `quick` has no effect."""
        spectra = {label: spectrum(kernel) for label, kernel in KERNELS.items()}
        rounds = np.arange(1, ROUNDS + 1)
        gains = {label: gain_bound(values, rounds) for label, values in spectra.items()}
        shares = {label: values[:10].sum() / values.sum() for label, values in spectra.items()}
        rows = [
            (label, f"{shares[label]:.3f}", f"{gain[9]:.2f}", f"{gain[-1]:.2f}")
            for label, gain in gains.items()
        ]
        header = ("kernel", "share of the first 10 eigenvalues", "bound, T = 10", "bound, T = 100")
        growth = {label: gain[-1] / gain[9] for label, gain in gains.items()}
        judged = _ordered(self.says, "bound at T = 100 over that at T = 10", growth, LEAST_DECAY_LAST)
        figures = {self.name: draw_spectra(spectra, gains)}
        return Findings(figures, table(header, rows), [judged])


@dataclasses.dataclass(frozen=True)
class SampleFunctions(Reproduction):
    """Figure 4 shows functions drawn from GPs with three kernels."""

    says: str

    def run(self, folder: Path, quick: bool, compute: Compute) -> Findings:
        """Draw three functions of each kernel; `quick` has no effect."""
        samples = {label: draws(KERNELS[label], 3) for label in KERNELS if label != "independent"}
        bent = {  # rounded to a tenth, which removes numerical noise in straight lines
            label: round(float(np.sqrt(np.square(np.diff(values, 2)).mean()) * POINTS**2), 1)
            for label, values in samples.items()
        }
        measure = "root mean square of the second derivative"
        text = table(
            ("kernel", f"{measure} of the three functions"), [(k, f"{v:.1f}") for k, v in bent.items()]
        )
        judged = _ordered(self.says, measure, bent, ("linear", "squared exponential", "Matern 5/2"))
        return Findings({self.name: draw_samples(samples)}, text, [judged])


def _ordered(says: str, measure: str, values: dict[str, float], order: Sequence[str]) -> Judged:
    """Judge whether a number rises from kernel to kernel."""
    found = [values[label] for label in order]
    tested = f"{measure}: {' < '.join(order)}"
    verdict = HOLDS if found == sorted(found) else REVERSED
    return Judged.of(
        says, "", [Row("", tested, " < ".join(f"{each:.3g}" for each in sorted(found)), verdict)]
    )


def grid() -> Floats:
    """Return the points of [0, 1], (POINTS, 1)."""
    return np.linspace(0.0, 1.0, POINTS)[:, None]


def spectrum(kernel: Kernel) -> Floats:
    """Return the eigenvalues of the Gram matrix scaled to the trace POINTS, largest first, (POINTS,)."""
    values = np.linalg.eigvalsh(np.asarray(kernel(grid())))[::-1].clip(min=0.0)
    return values * POINTS / values.sum()


def gain_bound(values: Floats, rounds: Ints, noise_variance: float = NOISE_VARIANCE) -> Floats:
    r"""Return max_m sum_t 1/2 log(1 + m_t lambda_t / sigma^2) / (1 - 1/e), sum_t m_t = T, for each T.

    The greedy allocation of T observations to eigenvectors bounds gamma_T up to the constant of submodularity
    (Srinivas et al. 2010, Theorem 4, Lemma 7.7). Rounds are 1, 2, ... without a gap, (T,) -> (T,).
    """
    played = np.zeros(len(values))
    gains = np.empty(len(rounds))
    for i in range(len(rounds)):
        step = np.log1p(values / (noise_variance + played * values)) / 2
        best = step.argmax()
        gains[i], played[best] = step[best], played[best] + 1
    return gains.cumsum() / (1 - np.exp(-1.0))


def draws(kernel: Kernel, number: int, seed: int = 2010) -> Floats:
    """Draw functions from the GP at the points, (number, POINTS)."""
    values, vectors = np.linalg.eigh(np.asarray(kernel(grid())))
    normal = np.random.default_rng(seed).standard_normal((number, POINTS))
    return normal * np.sqrt(values.clip(min=0.0)) @ vectors.T


def draw_spectra(spectra: dict[str, Floats], gains: dict[str, Floats]) -> Figure:
    """Draw eigenvalues, and the information gain by rounds, of each kernel."""
    figure = ShownFigure.of_size(7.2, 3.2)
    left, right = figure.subplots(1, 2)
    for (label, values), colour, dashes in zip(spectra.items(), COLOURS, DASHES, strict=False):
        left.plot(np.arange(1, 21), values[:20], color=colour, linestyle=dashes, label=label)
        right.plot(np.arange(1, ROUNDS + 1), gains[label], color=colour, linestyle=dashes, label=label)
    left.set(xlabel="rank", ylabel="eigenvalue, trace 200")
    right.set(xlabel="round T", ylabel="bound on the information gain (nats)")
    left.legend(frameon=False)
    return figure


def draw_samples(samples: dict[str, Floats]) -> Figure:
    """Draw functions of each kernel."""
    figure = ShownFigure.of_size(3.6 * len(samples), 3.2)
    panels = figure.subplots(1, len(samples))
    for axes, (label, values) in zip(panels, samples.items(), strict=True):
        for value, colour, dashes in zip(values, COLOURS, DASHES, strict=False):
            axes.plot(grid()[:, 0], value, color=colour, linestyle=dashes)
        axes.set(title=label, xlabel="x")
    panels[0].set_ylabel("f(x)")
    return figure
