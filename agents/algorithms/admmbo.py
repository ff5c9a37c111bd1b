"""ADMMBO: Bayesian optimisation with unknown constraints by ADMM (Ariafar et al. 2019)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Unpack

import numpy as np
from scipy.special import ndtr

from bandit_envs.basics.arguments import require_integer, require_positive
from bandit_envs.basics.types import Bools, Floats, Ints
from bandit_envs.problem.feedback import Feedback
from bandit_envs.problem.setting import Setting

from ..acquisition.improvement import log_expected_improvement
from ..agent.assembly import TrialList, each_model
from ..agent.assumptions import FORM
from ..agent.gp_agent import TIE
from ..agent.single_trial import ArmAgent
from ..beliefs.safety import log_feasibility, stds_below
from ..kernels.amplitude import is_found
from ..model.choice import argmax_with_ties
from ..model.defaults import SharedOptions
from ..model.model import Model
from ..model.units import PerCost, once_model
from ..objectives.parts import each_with_own_noise, require_own_means
from ..objectives.separate_models import CostModelSpec
from ..options import PerTrial, require_arms, require_costs
from ..protocol import handles
from .subproblems import OutcomeProcess, Splitting, log_expected_decrease

RHO = 0.1
INITIAL = 2
SLACK = 0.01  # prior stds of theirs: costs up to it count as feasible when the answer is chosen
WIDTH = 6.0  # of the authors' box, in whose units distances are weighed
STEPS_FROM_4D = (20, 2)  # of every subproblem
REWARD_STEPS, COST_STEPS = (10, 5), (50, 5)  # in fewer dimensions
Pair = Sequence[int]  # plays of a subproblem, in the first sweep and in later ones
OPENING, REWARD = -1, 0  # phases; 1, ..., C are those of the costs


class ADMMBO(ArmAgent):
    """One trial: expected improvement on one subproblem after the other, until they agree.

    A sweep is an x-step, min -f + q, and for each cost a z-step, min 1[c_i > 0] + distance; each is so many
    plays, after which the best evaluated arm is x or z_i. When the splitting has converged the best f among
    the plays with all costs <= 0.01 is played for ever (if there is none, the least infeasible). Rewards and
    costs are in prior stds, and the widest side of the box has length 6, whatever their units.
    As in the authors' code a subproblem's process has the first plays and its own; a cost has mean 0, and
    centre and scale of the reward are taken from its values when an x-step starts. In a z-step it may be that
    no arm can improve, for the nearest feasible one is known: then the arm of the least expected objective is
    played. A tie broken at random among all arms would be random search. Contexts enter the processes alone.

    The authors learn length-scales, amplitudes and noise anew before every play, from two values on, and
    divide by the variance in theta. Here these are the published ones; with a `learning` every process learns
    its own every so many rounds, from its own values in its centre and scale. `steps` are the plays of the
    reward's and of the costs' subproblems.
    """

    def __init__(
        self, model: Model, assumed: CostModelSpec, rho: float, steps: Sequence[Pair], shared: bool = False
    ):
        super().__init__(model)
        self.rho, self.steps, self.shared, self._prior = rho, steps, shared, assumed.prior
        self._models = [model, *assumed.models(model, np.ones((1, 1 + self.setting.num_constraints)))]
        low, high = np.asarray(self.setting.low), np.asarray(self.setting.high)
        width = float((high - low).max()) or 1.0
        self._corner = WIDTH / width * high
        self._places = WIDTH / width * self.setting.decisions.arms

    def begin(self) -> None:
        self.splitting = Splitting(self._corner, self.setting.num_constraints, self.rho)
        self.phase, self.sweep, self.stopped = OPENING, 0, False
        self._left = self.model.initial
        self._phases: list[int] = []  # of each round
        self.failed_fits = 0
        self.processes, self.everything = (
            [*map(OutcomeProcess, self._models, self._prior.centres)] for _ in range(2)
        )

    def act(self, observation: Floats) -> int:
        scores = self.scores(self.context(observation))
        return int(argmax_with_ties(scores[None], TIE, self.tie_breaker(), self.available())[0])

    def update(self, observation: Floats, action: Any, reward: Any, info: dict[str, Any]) -> None:
        require_costs(Feedback.arrived(info).cost, self.setting.num_constraints)
        super().update(observation, action, reward, info)

    def noted(self, point: Ints, played: Ints, news: Feedback) -> None:
        """Go over to the next subproblem when the plays of this one are over and something was delivered."""
        self._phases.append(self.phase)
        self._learn(news.round, played, np.column_stack([news.reward, news.cost]) / self._prior.each)
        self._left -= 1
        if self._left <= 0 and len(self.everything[REWARD].point) and not self.stopped:
            self._advance()
        learning = self.model.learning
        if learning is not None and len(self._phases) % learning.every == 0:
            (rng,) = self.streams.of("fits")
            self.failed_fits += sum(each.learn(rng) for each in (*self.processes, *self.everything))

    def scores(self, context: Ints) -> Floats:
        """Expected improvement of the phase's subproblem, (A,); equal scores for the first plays."""
        arms = np.arange(len(self._places))
        if self.stopped:
            eligible = self.available()[0, self._arms(self.everything[REWARD])]
            return (arms == self.incumbent(eligible)).astype(np.float64)
        if self.phase == OPENING:
            return np.zeros(len(arms))
        mean, std = self.processes[self.phase].believed(context)
        smallest, distance = self._objective().min(), self._distance(arms)
        if self.phase == REWARD:
            return log_expected_improvement(smallest + mean - distance, std)
        decrease = log_expected_decrease(mean, std, distance, smallest)
        if np.isfinite(decrease).any():
            return decrease
        return -(ndtr(-stds_below(mean, std)) + distance)  # E[h]

    def known_at(self, context: Ints) -> tuple[Floats, Floats]:
        return self._all_believed(context)[REWARD]

    def beliefs(self, observation: Floats) -> list[tuple[Floats, Floats]]:
        return self._all_believed(self.context(observation))

    def best(self, context: Ints, mean: Floats, arms: Ints) -> int:
        """Return the incumbent; where none of the arms was observed, the one most likely feasible."""
        told = np.isin(self._arms(self.everything[REWARD]), arms)
        if told.any():
            return self.incumbent(told)
        costs = (log_feasibility(*process.believed(context)) for process in self.everything[1:])
        return int(arms[sum(costs, np.zeros_like(mean))[arms].argmax()])

    def incumbent(self, eligible: Bools | None = None) -> int:
        """Return the arm of the best observed reward among eligible plays with all costs <= 0.01."""
        reward, *cost = (process.value for process in self.everything)
        excess = np.maximum(np.array(cost) - SLACK, 0.0).max(axis=0, initial=0.0)
        excess = excess if eligible is None else np.where(eligible, excess, np.inf)
        least = excess == excess.min()
        return int(self._arms(self.everything[REWARD])[np.where(least, reward, -np.inf).argmax()])

    def _all_believed(self, context: Ints) -> list[tuple[Floats, Floats]]:
        each = zip(self._prior.each, self.everything, strict=True)
        return [tuple(unit * part for part in process.believed(context)) for unit, process in each]

    def _learn(self, rounds: Ints, point: Ints, outcome: Floats) -> None:
        """Let each process learn what was observed, (n, 1 + C), in the first plays and in its own."""
        phase = np.array([self._phases[t] for t in rounds.tolist()], dtype=np.int64)
        for own, value in enumerate(outcome.T):
            seen = self.shared | (phase == OPENING) | (phase == own)
            self.everything[own].add(point, value)
            self.processes[own].add(point[seen], value[seen])

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
        for process in self.everything:
            process.standardise()
        if self.phase == REWARD:
            self.processes[REWARD].standardise()

    def _objective(self) -> Floats:
        """The phase's subproblem at the evaluated points, under the current splitting, (n,)."""
        process = self.processes[self.phase]
        value = -process.value if self.phase == REWARD else (process.value > 0.0).astype(float)
        return value + self._distance(self._arms(process))

    def _distance(self, arms: Ints) -> Floats:
        places = self._places[arms]
        if self.phase == REWARD:
            return self.splitting.reward_distance(places)
        return self.splitting.cost_distance(places, self.phase - 1)

    def _arms(self, process: OutcomeProcess) -> Ints:
        return process.point % self.setting.decisions.num_arms


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
) -> ADMMBO | TrialList:
    """ADMMBO with its authors' constants (Ariafar et al. 2019); kernel Matern 5/2 where none is published.

    Every constraint has a subproblem, with plays of its own: one more, even if it is never active or is there
    twice, changes the plays.

    Args:
        rho: weight of the distances, on a box whose widest side has length 6, the authors'.
        initial: uniform plays before the first subproblem.
        reward_steps: plays of an x-step, in the first sweep and in later ones; default (10, 5), and (20, 2)
            from 4 dimensions on.
        cost_steps: the same for a z-step; default (50, 5) and (20, 2).
        shared: let every process learn from all plays, which show reward and costs here.
        constraint_noise_std: std of the noise on costs; default the setting's, else as much of a cost's
            prior std as the reward's is of its own.
        noise_variance: lambda of the reward, see `ModelOptions`; in units of the first plays it counts as at
            least 1e-6 of the prior variance.
        **options: with `refit_every` every subproblem's process learns a kernel and a noise of its own; the
            authors' do so in every round.
    """
    require_arms(setting, 'ADMMBO looks for its incumbent and its z among them; take "constrained-ei"')
    several = setting.dim >= 4
    steps = (
        _pair("reward_steps", reward_steps, STEPS_FROM_4D if several else REWARD_STEPS),
        _pair("cost_steps", cost_steps, STEPS_FROM_4D if several else COST_STEPS),
    )
    require_positive("rho", rho, "it weighs the distances")
    require_integer("initial", initial, 1, "improvement needs a play to improve on")
    if setting.kernel is None or is_found(setting.kernel) or "length_scale" in options:
        options = {"kernel": "matern52", **options}
    require_own_means(options)
    of_reward = once_model(setting, initial=initial, noise_variance=noise_variance, **options)
    model, assumed = each_with_own_noise(of_reward, constraint_noise_std, standardize=False)
    if model.learning is not None:
        model = replace(model, form=model.form or FORM)
    return each_model(model, lambda each: ADMMBO(each, assumed, rho, steps, shared), num_trials)


def _pair(name: str, given: Pair | None, default: Pair) -> Pair:
    pair = default if given is None else given
    if np.shape(pair) != (2,) or min(pair) < 1 or any(plays % 1 for plays in pair):
        raise ValueError(f"{name} must be two positive integers, (first sweep, later sweeps); got {pair!r}")
    return pair
