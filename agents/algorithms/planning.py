"""Agents that plan several plays, for one trial: RGP-PE and RAHBO.

RGP-PE is elimination that is robust to an attacker, for teaching rather than use (Bogunovic et al. 2022): its
allowance for corruption lets no arm go in thousands of rounds, and plain GP-UCB, whose band is invalid here,
earns more. RAHBO finds arms of a large mean and little noise (Makarova et al. 2021).
"""

from __future__ import annotations

import math
from typing import Annotated, Unpack

import numpy as np

from bandit_envs.basics.options import not_negative, number, one_of, whole
from bandit_envs.basics.types import Floats, Ints
from bandit_envs.problem.setting import Setting

from ..acquisition.robust import CorruptedRewards
from ..agent.assembly import TrialList, each_model
from ..agent.gp_agent import TIE
from ..agent.single_trial import HERE, PlanningAgent, plain_model
from ..beliefs.base import make_posterior
from ..beliefs.delivered import Delivered, EquallyWeighted
from ..beliefs.points import Arms
from ..model.choice import argmax_with_ties
from ..model.defaults import ModelOptions
from ..model.model import Model
from ..model.rounds import Delivery
from ..options import Delta
from ..protocol import handles
from ..widths.by_name import make_gamma

FIRST = 2  # l_0, planned points of the first epoch
EXTRAS = ("sharp", "tight", "paper", "heuristic")


class RGPPE(PlanningAgent):
    """Agent that plays the epochs of Algorithm 1 in one trial: plan, play each planned point, eliminate."""

    def __init__(self, model: Model, budget: float, eta: float, psi: float, extra: str, delta: float):
        super().__init__(model)
        self.budget, self.eta, self.psi, self.extra, self.delta = budget, eta, psi, extra, delta

    @property
    def assumes_bound(self) -> bool:
        """True where B was neither given nor published."""
        return not self.model.bound_is_known

    def begin(self) -> None:
        self.active = np.ones(self.setting.decisions.num_arms, dtype=bool)
        self.epoch, self.size = -1, 0  # h, and u, the plays of the epoch
        self._epochs = EquallyWeighted(self.model, 1)

    def plan(self, uniform: Floats) -> list[int]:
        """Eliminate arms by the last epoch; plan u(x) = ceil(l max(count(x) / l, psi)) plays of each x."""
        if self.size:
            mean, half = self._epochs.mean(HERE)[0], self.half_width
            self.active &= mean + half >= np.where(self.active, mean - half, -np.inf).max()
        self.epoch += 1
        length = FIRST * 2**self.epoch
        seed = int(uniform.item() * 2**53)
        order = np.random.default_rng(seed).permutation(len(self.active))  # else listing would matter
        count = self._planned(length, order)
        point = order[count[order] > 0.0]  # in this order, because the horizon may cut an epoch short
        times = np.ceil(np.maximum(count[point], length * self.psi) - TIE)
        left = max(self.setting.horizon - self.round, 1)  # plays beyond the horizon would be lost
        times = np.minimum(times, left).astype(np.int64)
        self.size = int(times.sum())
        self._epochs = EquallyWeighted(self.model, 1)
        return np.repeat(point, times).tolist()

    def learn(self, arm: Ints, value: Floats) -> None:
        self._epochs.receive(Delivery.of_values(np.zeros_like(arm), arm, value))

    @property
    def half_width(self) -> Floats:
        """W = (B + R / sqrt(lambda) sqrt(2 log(2 N (h + 1)^2 pi^2 / (6 delta)))) sigma + extra, (A,)."""
        model, arms = self.model, len(self.active)
        level = 2.0 * arms * (self.epoch + 1) ** 2 * np.pi**2 / (6.0 * self.delta)
        noise = model.noise_std / np.sqrt(model.noise_variance) * math.sqrt(2.0 * math.log(level))
        std = self._epochs.std(HERE)[0]
        clean = (model.rkhs_bound + noise) * std
        if self.extra == "sharp":
            weights = Arms(HERE, self._epochs.decisions).observation_weights(self._epochs)
            return clean + CorruptedRewards(self.budget)(weights)[0]
        variance, least = float(np.max(model.noise_variance)), FIRST * 2**self.epoch * self.psi
        factor = {
            "tight": 1.0 / math.sqrt(least * variance),
            "paper": math.sqrt(self.size / variance) / least,
            "heuristic": 1.0 / math.sqrt(self.size),
        }
        return clean + self.budget * factor[self.extra] * std

    def _planned(self, length: int, order: Ints) -> Floats:
        """Return how often each arm is the most uncertain in a plan of `length` points, (A,).

        Variances are updated only when det(I + K / lambda) has grown by more than eta, so an arm is planned
        until 1 + n sigma^2 / lambda > eta. Ties go to the first in `order`, (A,).
        """
        known, left = make_posterior(self.model, 1), length
        count, noise = np.zeros(len(self.active)), known.noise.item()
        while left:
            variance = np.where(self.active, known.variance_at(None)[0], -np.inf)
            tied = variance >= variance.max() - TIE * self.model.prior_std**2
            x = int(order[tied[order].argmax()])
            enough = noise * (self.eta - 1.0) / max(variance[x], noise * (self.eta - 1.0) / left)
            plays = min(int(enough + TIE) + 1, left)
            known.observe_sums(HERE, np.array([x]), np.array([float(plays)]), np.zeros(1))
            count[x] += plays
            left -= plays
        return count


@handles("horizon")
def rgp_pe(
    setting: Setting,
    *,
    budget: Annotated[float, not_negative("it bounds the corruption of all rewards")] | None = None,
    eta: Annotated[float, number("above 1, by which determinants grow", lambda eta: eta > 1.0)] = 2.0,
    extra: Annotated[str, one_of(*EXTRAS)] = "sharp",
    delta: Delta = 0.1,
    num_trials: int | None = None,
    **options: Unpack[ModelOptions],
) -> RGPPE | TrialList:
    """RGP-PE: phased elimination under corrupted rewards, for teaching (Bogunovic et al. 2022, Algorithm 1).

    With probability 1 - delta R_T = O*(sqrt(T gamma_T) + C gamma_T^(3/2)). psi = log(eta) / (2 gamma_T).
    The allowance for corruption requires that each planned arm is played often enough in an epoch, and that
    epochs are complete: where arms may be missing neither holds.

    Contexts are ignored.

    Args:
        budget: C; default the published corruption, else 0.
        eta: above 1.
        extra: "sharp", the exact worst case; "tight", C sigma / sqrt(l psi lambda); "paper", C sqrt(u) sigma
            / (l psi sqrt(lambda)), where lambda is printed for its root, which fails for lambda > 1;
            "heuristic", C sigma / sqrt(u) of the experiments, which loses the theorem.
    """
    most = (setting.corruption or 0.0) if budget is None else budget
    model = plain_model(setting, **options)
    gain = np.max(make_gamma("bound", model)(np.array([model.setting.horizon]), np.zeros(1)))
    given = most, eta, math.log(eta) / (2.0 * gain), extra, delta
    return each_model(model, lambda each: RGPPE(each, *given), num_trials)


WIDTH = 2.0**0.5  # b of the authors' experiments
REPEATS = 10
LEAST_SHARE = 1e-3  # of R^2: a few plays cannot show that the noise is smaller
READINGS = ("paper", "code")
GUESS = 0.5  # prior mean of rho^2 / R^2, which lies in (0, 1]


class RAHBO(PlanningAgent):
    """Agent of one trial that plays k times argmax mu_f + b sigma_f - alpha [mu_v - b sigma_v]^+.

    The paper has no positive part; a variance is never below 0.

    The sample variance s^2 of the k values is an observation of rho^2: s^2 / R^2 observes rho^2 / R^2 with
    noise 2 / (k - 1). Their mean observes f with noise min(mu_v + b sigma_v, R^2) / k once s^2 is learnt
    (Algorithm 1, "paper"), or s^2 / k ("code", as in the authors' code). With few plays s^2 may be small by
    chance, and "code" then trusts such a mean for good. Where the setting publishes rho it is taken as known.
    The paper leaves the prior of the variance open: here rho^2 / R^2 is a GP of the reward's kernel, scaled
    to a largest std of 1, around a prior mean of 1/2, the middle of (0, 1]. That of f is the model's. `alpha`
    is in prior stds, f - (alpha / s) rho^2.
    """

    def __init__(self, model: Model, alpha: float, repeats: int, explore: int, reading: str):
        super().__init__(model)
        self.alpha, self.repeats, self.explore = alpha / model.prior_std, repeats, explore
        self.reading = reading
        self.unit = max(float(model.noise_std) ** 2, 1e-12 * model.prior_std**2)  # R^2
        profile = model.setting.noise_profile
        self.known = None if profile is None else self.unit * profile**2  # (A,) rho^2

    def begin(self) -> None:
        self.reward = Delivered(self.model, 1)
        noise = 2.0 / (self.repeats - 1) * self.model.prior_std**2
        self.variance = make_posterior(self.model, 1, np.array([noise]))  # of rho^2 / R^2 times s
        self.choices = 0
        self._delivered: dict[int, list[float]] = {}

    def plan(self, uniform: Floats) -> list[int]:
        for arm, values in self._delivered.items():
            if len(values) > 1:
                self._observe(arm, np.array(values))
        self._delivered = {}
        self.choices += 1
        arm = int(argmax_with_ties(self.scores[None], TIE * self.model.prior_std, uniform)[0])
        return [arm] * self.repeats

    def learn(self, arm: Ints, value: Floats) -> None:
        for x, y in zip(arm.tolist(), value.tolist(), strict=True):
            self._delivered.setdefault(x, []).append(y)

    @property
    def scores(self) -> Floats:
        """Return the acquisition score of each arm, (A,)."""
        mean, std = self._risk  # of rho^2, (A,) each
        if self.choices <= self.explore:
            return self.model.prior_std * std / self.unit
        reward = self.reward.mean(HERE)[0] + WIDTH * self.reward.std(HERE)[0]
        return reward - self.alpha * np.maximum(mean - WIDTH * std, 0.0)

    def worth(self, mean: Floats) -> Floats:
        """Return mu_f - alpha mu_v, (A,)."""
        return self.reward.mean(HERE)[0] - self.alpha * self._risk[0]

    @property
    def _risk(self) -> tuple[Floats, Floats]:
        if self.known is not None:
            return self.known, np.zeros_like(self.known)
        mean, variance = self.variance.mean_at(None)[0], self.variance.variance_at(None)[0]
        std = np.sqrt(np.maximum(variance, 0.0))
        unit = self.unit / self.model.prior_std
        return GUESS * self.unit + unit * mean, unit * std

    def _observe(self, arm: int, values: Floats) -> None:
        point, share = np.array([arm]), values.var(ddof=1) / self.unit
        if self.known is None:
            self.variance.observe(HERE, point, self.model.prior_std * np.array([share - GUESS]))
        if self.known is not None:
            noise = self.known.item(arm)
        elif self.reading == "code":
            noise = self.unit * max(share, LEAST_SHARE)
        else:
            mean, std = self._risk
            noise = min(max(mean.item(arm) + WIDTH * std.item(arm), LEAST_SHARE * self.unit), self.unit)
        weight = np.array([len(values) * self.unit / noise])
        self.reward.receive(Delivery.of_values(HERE, point, values.mean(keepdims=True), weight))


@handles()
def rahbo(
    setting: Setting,
    *,
    alpha: Annotated[float, not_negative("it is the price of variance")] = 1.0,
    repeats: Annotated[int, whole(2, "a sample variance needs two values")] = REPEATS,
    explore: Annotated[int, whole(0, "it is a number of choices")] = 0,
    reading: Annotated[str, one_of(*READINGS)] = "paper",
    num_trials: int | None = None,
    **options: Unpack[ModelOptions],
) -> RAHBO | TrialList:
    """RAHBO: maximise f - alpha rho^2, with k plays of each arm that is chosen (Makarova et al. 2021).

    Its regret is `gpbandits.evaluation.risk_averse_regret`. A chosen arm is played k times in a row, so it
    must not be missing from any of these rounds. Before an arm was played its rho^2 is taken as half the
    noise's R^2, with a prior std of R^2; see `RAHBO`. Contexts are ignored.

    Args:
        alpha: price of variance, in prior stds; the authors try 0.5, 1, 2 and 5.
        repeats: k, at least 2.
        explore: choices by the deviation of the variance alone, before the others ("-US").
        reading: what is taken for the noise of f: the upper bound of rho^2 as in Algorithm 1 ("paper"), or
            the sample variance of the k values, as in the authors' code ("code").
    """
    model = plain_model(setting, **options)
    return each_model(model, lambda each: RAHBO(each, alpha, repeats, explore, reading), num_trials)
