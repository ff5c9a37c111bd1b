"""The reward weighed against modelled costs: by multipliers, by charges a round, or by feasibility."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Unpack

import numpy as np

from bandit_envs.basics.arguments import ArgumentError
from bandit_envs.basics.options import Checked, not_negative, one_of, positive
from bandit_envs.basics.types import Bools, Floats, Ints
from bandit_envs.problem.setting import Setting

from ..beliefs.points import Arms, Pairs, Points
from ..beliefs.safety import INFEASIBLE, log_feasibility, log_feasibility_slopes
from ..beliefs.surface import ONLY, Surface
from ..model.defaults import NOISE_FLOOR
from ..model.model import Model
from .base import Band
from .parts import CostModelOptions, PenalisedParts, model_and_costs
from .penalties import Schedule
from .separate_models import CostModelSpec, SeparateModels

Estimate = Annotated[str, one_of("ucb", "ts", "random")]
Clip = Annotated[float, positive("it bounds estimates")] | None
CAP = 5.0
ON_BOX, TOLERANCE = 1e9, 1e-6  # on boxes: a finite substitute of an infinite penalty, and its tolerance


@dataclass(frozen=True)
class Dual(Checked):
    """phi <- min([phi + step c]^+, cap), phi_1 = 0, in prior stds.

    Of estimate "random" one Z ~ N(0, 1) is drawn a round and cost, from memory of RandGP-UCB.
    """

    step: Annotated[float, not_negative("it moves the multipliers")] | None = 1.0  # eta; None is 1 / sqrt(T)
    cap: Annotated[float, not_negative("it is the largest multiplier", infinite=True)] = np.inf  # rho
    observed: bool = True  # True: c are the delivered costs of the round; False: estimates at the play
    estimate: Estimate = "ucb"  # "ucb" (lg), "ts" (a joint sample of N(mu, w^2 k)) or "random" (mu + w Z sd)
    clip: Clip = None  # bound of estimates around prior means, in prior stds, by the theory [memory]

    def moved(self, phi: Floats, cost: Floats) -> Floats:
        """Return the next multipliers, (B, C)."""
        assert self.step is not None
        return np.clip(phi + self.step * cost, 0.0, self.cap)

    def clipped(self, values: Floats, centre: Floats) -> Floats:
        """Return estimates, (B, A), clipped around their centre, (B, 1)."""
        return values if self.clip is None else centre + np.clip(values - centre, -self.clip, self.clip)


class PrimalDual(SeparateModels):
    r"""argmax fhat - sum_j phi_j ghat_j, where `dual` defines how the multipliers move.

    With observed costs and no cap, phi bounds the delivered costs: on every path sum_t c_t <= (phi_{T+1} -
    phi_1) / step. A restart of a trial resets phi, which is our reading, and the observed costs of plays that
    are kept then move it at once, together with those of the next round.
    """

    def __init__(
        self,
        model: Model,
        num_trials: int,
        *,
        assumed: CostModelSpec,
        dual: Dual,
        rngs: Sequence[np.random.Generator],
    ):
        super().__init__(model, num_trials, assumed)
        self.dual, self._rngs = dual, rngs
        self.phi = np.zeros((len(rngs), len(self.costs)))
        self._delivered_cost = np.zeros_like(self.phi)
        self._draw()

    def observe(self, trial: Ints, cost: Floats) -> None:
        if self.dual.observed:
            np.add.at(self._delivered_cost, trial, cost)

    def band(self, j: int, points: Points) -> Band:
        """Return mu_j and v of an estimate mu_j - w_j v, (B, n) each: a sample or a std times Z."""
        mean, std = super().band(j, points)
        return mean, self._sample(j, points) if self.dual.estimate == "ts" else self._stretched(j, std)

    def _sample(self, j: int, points: Points) -> Floats:
        assert isinstance(points, Arms)
        rngs = [np.random.default_rng(word) for word in self._words[:, j].tolist()]
        return self.costs[j].centred_sample(points.context, rngs)

    def _stretched(self, j: int, std: Floats) -> Floats:
        return self._z[:, j, None] * std if self.dual.estimate == "random" else std

    def combined(self, scores: Floats, bands: Iterable[Band], t: Ints) -> Floats:
        worth = self.dual.clipped(scores, self._unknown.centre[:, :1]).copy()
        for j, band in enumerate(bands):
            worth -= self.phi[:, j, None] * self._estimate(j, band, t)
        return worth

    def played(self, point: Ints, t: Ints) -> None:
        """Move the multipliers by the estimates at the plays, before new feedback is learnt."""
        if not self.dual.observed:
            estimates = [self._estimate(j, self._band_at(j, point), t)[:, 0] for j in range(len(self.costs))]
            self._delivered_cost += np.stack(estimates, axis=1) if estimates else 0.0
        super().played(point, t)

    def move(self, rounds: int) -> bool:
        self.phi = self.dual.moved(self.phi, self._delivered_cost)
        self._delivered_cost[:] = 0.0
        self._draw()
        return self.looks(rounds)

    def forget(self, trial: Ints, rounds: int) -> None:
        super().forget(trial, rounds)
        self.phi[trial] = self._delivered_cost[trial] = 0.0

    def _estimate(self, j: int, band: Band, t: Ints) -> Floats:
        return self.dual.clipped(self.lower(j, band, t), self._unknown.centre[:, 1 + j, None])

    def _band_at(self, j: int, point: Ints) -> Band:
        belief, rows = self.costs[j], np.arange(len(point))
        mean = belief.mean_posterior.mean_of(rows, point) + belief.prior_mean[rows, point]
        if self.dual.estimate == "ts":
            context, arm = np.divmod(point, belief.decisions.num_arms)
            return mean[:, None], self._sample(j, Arms(context, belief.decisions))[rows, arm, None]
        std = np.sqrt(np.maximum(belief.std_posterior.variance_of(rows, point), 0.0))
        return mean[:, None], self._stretched(j, std[:, None])

    def _draw(self) -> None:
        """Draw the variates of a round, which all calls in the round share."""
        shape = len(self.costs)
        self._z = np.array([rng.standard_normal(shape) for rng in self._rngs])
        self._words = np.array([rng.integers(2**63, size=shape) for rng in self._rngs])


def primal_dual_parts(
    setting: Setting, dual: Dual, *, delta: float = 0.1, **options: Unpack[CostModelOptions]
) -> PenalisedParts:
    """Return what models reward and costs, and balances the costs; see `model_and_costs`."""
    if dual.estimate == "ts" and setting.continuous:
        raise ArgumentError("estimate", 'must not be "ts" on a box, got "ts"; take "ucb" or "random"')
    step = setting.horizon**-0.5 if dual.step is None else dual.step
    model, assumed = model_and_costs(setting, delta=delta, **options)
    made = partial(PrimalDual, assumed=assumed, dual=replace(dual, step=step))
    return PenalisedParts(model, made, assumed.delta, separate=True)


class Rectified(SeparateModels):
    r"""argmax uf - sum_j Q_j [lg_j]^+, and where all are minus infinity argmin sum_j [lg_j]^+.

    With bands that hold lg_j(x*) <= 0, so that uf(x_t) - sum_j Q_j [lg_j(x_t)]^+ >= f(x*) whatever Q >= 0:

        f(x*) - f(x_t) <= 2 w_f sd_f(x_t)
        [g_j(x_t)]^+ <= 2 w_j sd_j(x_t) + (2 w_f sd_f(x_t) + f(x_t) - f(x*)) / Q_j

    in every round, and so against a comparator that changes with contexts, segments and the available arms;
    scores of unavailable arms are minus infinity. The play where no arm may be feasible is our reading, and
    `infeasible` marks it. On a box an infinite penalty is 1e9 and costs up to 1e-6 count as feasible: the
    search compares points there and needs no slopes. A round is infeasible there if no candidate of the
    search may be feasible.

    A restart of a trial resets Q, the `schedule`, too; the violations of plays that are kept then move it at
    once, with the next round, and t counts from the first of them.
    """

    def __init__(self, model: Model, num_trials: int, *, assumed: CostModelSpec, schedule: Schedule):
        super().__init__(model, num_trials, assumed)
        self.schedule, shape = schedule, (num_trials, len(self.costs))
        most, self._forgiven = (ON_BOX, TOLERANCE) if model.setting.continuous else (np.inf, 0.0)
        self._first = min(float(schedule.first), most)
        self.charge = np.full(shape, self._first)  # Q of this round, (B, C)
        self._violation = np.zeros(shape)  # [c]^+ delivered in this round
        self._since = np.zeros((num_trials, 1), dtype=np.int64)

    def observe(self, trial: Ints, cost: Floats) -> None:
        np.add.at(self._violation, trial, np.maximum(cost, 0.0))

    def combined(self, scores: Floats, bands: Iterable[Band], t: Ints) -> Floats:
        total = np.zeros_like(scores)  # of the violations
        worth = scores.copy()
        for j, band in enumerate(bands):
            over = np.maximum(self.lower(j, band, t) - self._forgiven, 0.0)
            total += over
            worth -= np.multiply(self.charge[:, j, None], over, out=np.zeros_like(over), where=over > 0)
        found: Bools = np.logical_and.reduce((total > 0) | (scores == -np.inf), axis=1)
        self.infeasible = found if self.infeasible is None else self.infeasible & found
        lost = (worth == -np.inf).all(axis=1)
        return np.where(lost[:, None], -total, worth)

    def move(self, rounds: int) -> bool:
        self.charge = self.schedule.moved(self.charge, self._violation, rounds - self._since)
        self._violation[:] = 0.0
        return self.looks(rounds)

    def forget(self, trial: Ints, rounds: int) -> None:
        super().forget(trial, rounds)
        self.charge[trial], self._since[trial] = self._first, rounds


def rectified_parts(
    setting: Setting, schedule: Schedule, *, delta: float = 0.1, **options: Unpack[CostModelOptions]
) -> PenalisedParts:
    """Return what models reward and costs, and charges violations by a schedule; see `model_and_costs`."""
    model, assumed = model_and_costs(setting, delta=delta, **options)
    made = partial(Rectified, assumed=assumed, schedule=schedule)
    return PenalisedParts(model, made, assumed.delta, separate=True)


class Feasible(SeparateModels):
    r"""log EI_f + sum_j log Phi(-mu_j / sigma_j), from scores log EI_f (Gardner et al. 2014, equation 6).

    The worth of an arm is mu_f where all mu_j <= 0, and -1e9 + sum_j log Phi(-mu_j / sigma_j) elsewhere.
    Improvement is measured from the largest worth of the plays: while none is believed feasible log EI_f is
    the same of all arms, up to 1e-9 a prior std of mu_f, and the sum decides.

    Scales are estimated again whenever one of the first plays is delivered. Where pending plays count in the
    stds none of them is repeated. The costs share the kernel of the reward's model, which has lambda at a
    scale of 1. Without `weighs` scores stay as they are, for rules that read the beliefs about costs.
    """

    resumes = True

    def __init__(self, model: Model, num_trials: int, assumed: CostModelSpec, weighs: bool = True):
        super().__init__(model, num_trials, assumed)
        self._weighs = weighs
        self._delivered = self.first_plays.delivered

    def reward_noise_at(self, scale: Floats) -> Floats:
        """Return lambda of the reward under the scales of all, (B, 1 + C) -> (B,)."""
        return np.maximum(self._model.noise_variance / scale[:, 0] ** 2, NOISE_FLOOR)

    def given_models(self, scale: Floats) -> list[Model]:
        reward = replace(self._model, noise_variance=self.reward_noise_at(scale))
        return self._assumed.models(reward, scale)

    def move(self, rounds: int) -> Bools:
        before, self._delivered = self._delivered, self.first_plays.delivered
        return self._delivered > before

    def penalised(self, scores: Floats, points: Points, t: Ints) -> Floats:
        """Return log EI_f plus the log probability of feasibility, (B, n); -inf at pending plays."""
        together = super().penalised(scores, points, t) if self._weighs else scores
        if all(belief.std_posterior is belief.mean_posterior for belief in self.costs):
            return together
        pending = points.pending(self.costs[0])
        return np.where(pending & (t[:, None] > self.first_plays.count), -np.inf, together)

    def climb(self, scores: Floats, slopes: Floats, points: Pairs, t: Ints) -> tuple[Floats, Floats]:
        for j, belief in enumerate(self.costs if self._weighs else ()):
            local, scale = Surface.of(belief).local(points.features), self.scale[ONLY, 1 + j]
            mean, std = self.in_units(j, local.mean, local.std[None])
            of_mean, of_std = log_feasibility_slopes(mean, std)
            scores = scores + log_feasibility(mean, std)[0]
            slopes = slopes + local.gradient(scale * of_mean, scale * of_std[0])
        return scores, slopes

    def worth(self, mean: Floats, points: Points, t: Ints) -> Floats:
        chance, kept = np.zeros_like(mean), np.ones(mean.shape, dtype=bool)
        for j, belief in enumerate(self.costs):
            cost = self.in_units(j, *points.band(belief))
            chance, kept = chance + log_feasibility(*cost), kept & (cost[0] <= 0.0)
        return np.where(kept, mean, INFEASIBLE + chance)

    def combined(self, scores: Floats, bands: Iterable[Band], t: Ints) -> Floats:
        return sum((log_feasibility(*self.in_units(j, *band)) for j, band in enumerate(bands)), scores)

    def in_units(self, j: int, mean: Floats, std: Floats) -> Band:
        """Return mean and std of a cost in prior stds from the scaled ones, (B, A) each."""
        scale = self.scale[:, 1 + j, None]
        return self.centre[:, 1 + j, None] + scale * mean, scale * std

    def _after_first(self, scores: Floats, bands: Iterable[Band], t: Ints) -> Floats:
        return np.where(t[:, None] <= self.first_plays.count, scores, self.combined(scores, bands, t))
