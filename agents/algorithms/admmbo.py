"""ADMMBO: Bayesian optimisation with unknown constraints by ADMM (Ariafar et al. 2019)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

import numpy as np

from bandit_envs.basics.arguments import require_integer, require_positive
from bandit_envs.basics.types import Bools, Floats, Ints
from bandit_envs.problem.setting import Setting

from ..acquisition.feasible_improvement import log_feasibility
from ..acquisition.improvement import log_expected_improvement
from ..agent.batching import SideBySide
from ..agent.surrogate_agent import (
    ArmsSurrogateAgent,
    each_trial,
    noise_variances,
)
from ..beliefs.surrogates import Prediction, Surrogates
from ..capabilities import handles
from ..kernels.found import is_found
from ..model.centred import unlearnt_model
from ..model.model import Model
from ..model.options import SharedOptions
from ..model.units import PerCost, PriorUnits
from ..validation import PerTrial
from .admm import Splitting, expected_value, log_expected_decrease

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
