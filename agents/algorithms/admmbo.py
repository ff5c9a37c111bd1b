"""ADMMBO: Bayesian optimisation with unknown constraints by ADMM (Ariafar et al. 2019)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

import numpy as np
from scipy.special import log_ndtr, ndtr

from bandit_envs.basics.arguments import require_integer, require_positive
from bandit_envs.basics.types import Bools, Floats, Ints
from bandit_envs.problem.setting import Setting

from ..acquisition.improvement import log_expected_improvement, log_feasibility
from ..agent.batching import SideBySide
from ..agent.surrogate_agent import ArmsSurrogateAgent, each_trial, noise_variances
from ..beliefs.surrogates import Prediction, Surrogates
from ..kernels.amplitude import is_found
from ..model.model import Model
from ..model.options import SharedOptions
from ..model.units import PerCost, PriorUnits, unlearnt_model
from ..protocol import handles
from ..validation import PerTrial

LEVEL = 50.0  # M, the price of infeasibility
ABSOLUTE, RELATIVE = 0.05, 0.075  # tolerances of the residuals
IMBALANCE, FACTOR = 10.0, 2.0  # of the residuals at which rho changes, and by how much


class Splitting:
    r"""min f(x) + M sum_i 1[c_i(z_i) > 0] subject to x = z_i, in the augmented Lagrangian's terms.

    Args:
        corner: where all z_i start, (d,).
        num_constraints: the number of constraints C.
        rho: weight of ||x - z_i||^2.
    """

    def __init__(self, corner: Floats, num_constraints: int, rho: float):
        self.x = corner
        self.z = np.tile(corner, (num_constraints, 1))  # (C, d)
        self.y = np.zeros_like(self.z)  # (C, d) multipliers of x = z_i
        self.rho = rho
        self._old = self.z.copy()

    def reward_distance(self, arms: Floats) -> Floats:
        """q(x) = sum_i (rho / 2) ||x - z_i + y_i / rho||^2, (A, d) -> (A,).

        The distance equals (C rho / 2) ||x - mean z + mean y / rho||^2 up to a constant, which cancels in
        improvements.
        """
        gap = arms[:, None] - (self.z - self.y / self.rho)  # (A, C, d)
        return 0.5 * self.rho * (gap**2).sum(axis=(1, 2))

    def cost_distance(self, arms: Floats, i: int) -> Floats:
        """(rho / (2 M)) ||x - z + y_i / rho||^2 of candidates z, (A, d) -> (A,)."""
        gap = self.x + self.y[i] / self.rho - arms
        return self.rho / (2.0 * LEVEL) * (gap**2).sum(axis=1)

    def close(self) -> bool:
        """End a sweep: y_i += rho (x - z_i). Return True where all z_i agree with x and have stopped moving.

        r_i = ||x - z_i|| < 0.05 sqrt(d) + 0.075 max(||x||, ||z_i||) and s_i = rho ||z_i - z_i,old|| < 0.05
        sqrt(d) + 0.075 ||rho y_i||. Otherwise rho doubles where the mean r exceeds ten mean s, and halves
        where the mean s exceeds ten mean r.
        """
        self.y = self.y + self.rho * (self.x - self.z)
        primal = _norm(self.x - self.z)
        dual = self.rho * _norm(self.z - self._old)
        self._old = self.z.copy()
        floor = ABSOLUTE * np.sqrt(len(self.x))
        agreed = primal < floor + RELATIVE * np.maximum(_norm(self.x), _norm(self.z))
        still = dual < floor + RELATIVE * _norm(self.rho * self.y)
        if (agreed & still).all():
            return True
        if primal.mean() > IMBALANCE * dual.mean():
            self.rho *= FACTOR
        elif dual.mean() > IMBALANCE * primal.mean():
            self.rho /= FACTOR
        return False


def log_expected_decrease(mean: Floats, std: Floats, distance: Floats, smallest: float) -> Floats:
    r"""log E[max(h+ - h, 0)] of h = 1[c > 0] + distance, c ~ N(mean, std^2), (A,).

    With Q = h+ - distance and theta = Phi(-mean / std) the expectation is 0 for Q <= 0, Q theta for Q < 1,
    and Q - (1 - theta) for Q >= 1 (Ariafar et al. 2019, equation 13). Logarithms keep the order of candidates
    that are almost surely infeasible; -inf means that no decrease is possible.

    Args:
        mean, std: of the cost at the candidates, (A,).
        distance: of the candidates, (A,).
        smallest: h+, the smallest h so far.
    """
    feasible = _deviations_below(mean, std)
    gap = smallest - distance
    with np.errstate(divide="ignore"):  # log 0 is meant
        below = np.log(np.maximum(gap, 0.0)) + log_ndtr(feasible)
        above = np.log(np.maximum(gap - ndtr(-feasible), 0.0))
    return np.where(gap < 1.0, below, above)


def expected_value(mean: Floats, std: Floats, distance: Floats) -> Floats:
    """E[h] = 1 - theta + distance, (A,); see `log_expected_decrease` for the arguments."""
    return ndtr(-_deviations_below(mean, std)) + distance


def _deviations_below(mean: Floats, std: Floats) -> Floats:
    """-mean / std, so that theta = Phi(-mean / std); infinite where std is 0."""
    certain = np.where(mean <= 0.0, np.inf, -np.inf)
    return np.where(std > 0.0, -mean / np.where(std > 0.0, std, 1.0), certain)


def _norm(vectors: Floats) -> Floats:
    return np.sqrt((vectors**2).sum(axis=-1))


RHO = 0.1
INITIAL = 2
SLACK = 0.01  # prior deviations of theirs: costs up to it count as feasible when the answer is chosen
WIDTH = 6.0  # of the authors' box, in whose units distances are weighed
STEPS_FROM_4D = (20, 2)  # of every subproblem
REWARD_STEPS, COST_STEPS = (10, 5), (50, 5)  # in fewer dimensions
Pair = Sequence[int]  # plays of a subproblem, in the first sweep and in later ones
OPENING, REWARD = -1, 0  # phases; 1, ..., C are those of the costs


class ADMMBO(ArmsSurrogateAgent):
    """One trial: expected improvement on one subproblem after the other, until they agree.

    A sweep is an x-step, min -f + q, and for each cost a z-step, min 1[c_i > 0] + distance; each is so many
    plays, after which the best evaluated arm is x or z_i. When the splitting has converged the best f among
    the plays with all costs <= 0.01 is played for ever (if there is none, the least infeasible). Rewards and
    costs are in prior deviations, and the widest side of the box has length 6, whatever their units.
    As in the authors' code a subproblem's process knows the first plays and its own; a cost has mean 0, and
    centre and scale of the reward are taken from its values when an x-step starts. In a z-step it may be that
    no arm can improve, for the nearest feasible one is known: then the arm of the least expected objective
    is played. A tie broken at random among all arms would be random search, with an average regret of 2.3
    and a violation of 0.84 on the two discs; on a box there are always nearer points, which improve.
    Contexts enter the processes alone.

    On the two discs it then has an average regret of 0.5 and a violation of 0.4 until it stops, 0.75 and 0.35
    by the authors' record, which leaves all x-steps but the first out and counts the first plays twice; their
    84 runs have 1.09 and 0.72. They learn length-scales, amplitudes and noise anew before every play, from
    two values on, and divide by the variance in theta; here all these are the published ones.

    Args:
        model: kernel, points and the number of first plays.
        noise_variance: of reward and costs, (1 + C,).
        rho: weight of the distances.
        steps: plays of each subproblem, (first sweep, later sweeps), the reward's and then the costs'.
        shared: every process learns from all plays.
    """

    def __init__(
        self,
        model: Model,
        noise_variance: Floats,
        rho: float,
        steps: Sequence[Pair],
        shared: bool = False,
    ):
        super().__init__(model, noise_variance)
        self.rho, self.steps, self.shared = rho, steps, shared
        low, high = np.asarray(self.setting.low), np.asarray(self.setting.high)
        width = float((high - low).max()) or 1.0
        self._units = PriorUnits.of_setting(self.setting, model.deviation).costs
        self._corner = WIDTH / width * high
        self._places = WIDTH / width * self.setting.decisions.arms

    def begin(self) -> None:
        """Start with uniform plays."""
        self.splitting = Splitting(self._corner, self.setting.num_constraints, self.rho)
        self.phase, self.sweep, self.stopped = OPENING, 0, False
        self._left = self.model.initial
        self._phases: list[int] = []  # of each round
        self.processes = [Surrogates(self.model, self.noise_variance) for _ in self.noise_variance]

    def scores(self, context: int) -> Floats:
        """Expected improvement of the phase's subproblem, (A,); equal scores for the first plays."""
        arms = np.arange(len(self._places))
        if self.stopped:
            told = self.there[self._arms(self.surrogates)]
            return (arms == self.incumbent(told)).astype(np.float64)
        if self.phase == OPENING:
            return np.zeros(len(arms))
        predicted = self.processes[self.phase].predict(context)
        mean, std = (each[self.phase] / self.model.deviation for each in predicted)
        smallest, distance = self._objective().min(), self._distance(arms)
        if self.phase == REWARD:
            return log_expected_improvement(smallest + mean - distance, std)
        decrease = log_expected_decrease(mean, std, distance, smallest)
        if np.isfinite(decrease).any():
            return decrease
        return -expected_value(mean, std, distance)

    def learn(self, rounds: Ints, outcome: Floats) -> None:
        """Go over to the next subproblem when the plays of this one are over and something has come."""
        self._phases.append(self.phase)
        self._tell(rounds, outcome)
        self._left -= 1
        if self._left <= 0 and len(self.surrogates.point) and not self.stopped:
            self._advance()

    def best(self, believed: Prediction, arms: Ints) -> int:
        """The incumbent; where none of the arms has told anything yet, the one most likely feasible."""
        told = np.isin(self._arms(self.surrogates), arms)
        if not told.any():
            return int(log_feasibility(believed).argmax())
        return int(np.flatnonzero(arms == self.incumbent(told))[0])

    def incumbent(self, eligible: Bools | None = None) -> int:
        """The arm of the best observed reward among plays with all costs <= 0.01.

        Args:
            eligible: which plays to choose from, (n,); default all.
        """
        reward, cost = self.surrogates.outcome[:, 0], self.surrogates.outcome[:, 1:] / self._units
        excess = np.maximum(cost - SLACK, 0.0).max(axis=1, initial=0.0)
        excess = excess if eligible is None else np.where(eligible, excess, np.inf)
        least = excess == excess.min()
        return int(self._arms(self.surrogates)[np.where(least, reward, -np.inf).argmax()])

    def _tell(self, rounds: Ints, outcome: Floats) -> None:
        """Each process learns what came of the first plays and of its own."""
        point = self.surrogates.point[len(self.surrogates.point) - len(rounds) :]
        phase = np.array([self._phases[t] for t in rounds.tolist()], dtype=np.int64)
        for own, process in enumerate(self.processes):
            seen = self.shared | (phase == OPENING) | (phase == own)
            process.receive(point[seen], outcome[seen])

    def _advance(self) -> None:
        if self.phase != OPENING:
            best = self._places[self._arms(self.processes[self.phase])[self._objective().argmin()]]
            if self.phase == REWARD:
                self.splitting.x = best
            else:
                self.splitting.z[self.phase - 1] = best
        self.phase += 1
        if self.phase > self.setting.num_constraints:
            self.stopped = self.splitting.close()
            self.phase, self.sweep = REWARD, self.sweep + 1
        self._left = self.steps[min(self.phase, 1)][min(self.sweep, 1)]
        self.surrogates.standardise(self.surrogates.outcome)
        if self.phase == REWARD:
            process = self.processes[REWARD]
            process.standardise(process.outcome)

    def _objective(self) -> Floats:
        """The phase's subproblem at the evaluated points, under the current splitting, (n,)."""
        process = self.processes[self.phase]
        observed = process.outcome[:, self.phase]
        value = -observed / self.model.deviation if self.phase == REWARD else (observed > 0.0).astype(float)
        return value + self._distance(self._arms(process))

    def _distance(self, arms: Ints) -> Floats:
        places = self._places[arms]
        if self.phase == REWARD:
            return self.splitting.reward_distance(places)
        return self.splitting.cost_distance(places, self.phase - 1)

    def _arms(self, told: Surrogates) -> Ints:
        return told.point % self.setting.decisions.num_arms


@handles("delay", "constraint", "availability")
def admmbo(
    setting: Setting,
    *,
    rho: float = RHO,
    initial: int = INITIAL,
    reward_steps: Pair | None = None,
    cost_steps: Pair | None = None,
    shared: bool = False,
    constraint_noise_std: PerCost | None = None,
    noise_variance: PerTrial | str | None = None,
    num_trials: int | None = None,
    **options: Unpack[SharedOptions],
) -> ADMMBO | SideBySide:
    """ADMMBO with its authors' constants (Ariafar et al. 2019); kernel Matern 5/2 where none is published.

    Every constraint has a subproblem, with plays of its own: one more, even if it is never active or is there
    twice, changes 63 to 78 % of the plays (50 arms, T = 120).

    Args:
        setting: what is published of the problem.
        rho: weight of the distances, on a box whose widest side has length 6, the authors'.
        initial: uniform plays before the first subproblem.
        reward_steps: plays of an x-step, in the first sweep and in later ones; default (10, 5), and (20, 2)
            from 4 dimensions on.
        cost_steps: the same for a z-step; default (50, 5) and (20, 2).
        shared: let every process learn from all plays, which show reward and costs here.
        constraint_noise_std: deviation of the noise on costs; default the setting's, else as much of
            a cost's prior variance as the reward's is of its own.
        noise_variance: lambda of the reward, see `ModelOptions`; in units of the first plays it counts as at
            least 1e-6 of the prior variance.
        num_trials: None, or B.
        **options: of the model: kernel, length_scale, noise_std, form; see `SharedOptions`.
    """
    if setting.continuous:
        raise ValueError(
            "ADMMBO looks for its incumbent and its z among arms: setting must have arms, got a box; use "
            "'constrained-ei'"
        )
    several = setting.dim >= 4
    steps = (
        _pair("reward_steps", reward_steps, STEPS_FROM_4D if several else REWARD_STEPS),
        _pair("cost_steps", cost_steps, STEPS_FROM_4D if several else COST_STEPS),
    )
    require_positive("rho", rho, "it weighs the distances")
    require_integer("initial", initial, 1, "improvement needs a play to improve on")
    if setting.kernel is None or is_found(setting.kernel) or "length_scale" in options:
        options = {"kernel": "matern52", **options}
    model = unlearnt_model(setting, initial=initial, noise_variance=noise_variance, **options)
    noise = noise_variances(model, constraint_noise_std, num_trials or 1)
    return each_trial(lambda i: ADMMBO(model, noise[i], rho, steps, shared), num_trials)


def _pair(name: str, given: Pair | None, default: Pair) -> Pair:
    pair = default if given is None else given
    if np.shape(pair) != (2,) or min(pair) < 1 or any(plays % 1 for plays in pair):
        raise ValueError(f"{name} must be two positive integers, (first sweep, later sweeps); got {pair!r}")
    return pair
