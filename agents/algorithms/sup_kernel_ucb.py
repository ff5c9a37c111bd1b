"""SupKernelUCB: stages of ever narrower bands, each of plays that are independent of their own values.

Readable form: tests/references/elimination.py.
"""

from __future__ import annotations

import math
from typing import Any, Unpack

import numpy as np

from bandit_envs.basics.arguments import require_positive, require_probability
from bandit_envs.basics.types import Bools, Floats, Ints
from bandit_envs.problem.feedback import Feedback
from bandit_envs.problem.setting import Setting

from ..agent.assembly import TrialList, each_trial
from ..agent.single_trial import ArmAgent
from ..beliefs.base import Belief
from ..beliefs.delivered import Delivered
from ..beliefs.imputed import Hallucinated
from ..model.choice import argmax_with_ties, arms_of, offered_in
from ..model.defaults import ModelOptions, rests_on_default
from ..model.model import Model
from ..model.rounds import Delivery
from ..options import require_absent, require_arms, require_once
from ..protocol import handles
from ..widths.bounded_norm import ConstantBand, PlainBand

TIE = 1e-9  # in prior stds
HERE = np.zeros(1, dtype=np.int64)  # index of the single trial
NO_STAGE = -1  # the stage of plays that belong to none


class SupKernelUCB(ArmAgent):
    r"""Agent of S = ceil(log2 sqrt T) + 1 stages, each with the posterior of its own plays Psi_s.

    In a round, from s = 1 and all available arms A:
    (i) where w sigma_s <= 1 / sqrt T on A, play argmax mu_s + w sigma_s, and keep it in no stage;
    (ii) else where w sigma_s > 2^-s somewhere on A, play the arm of the widest band and keep it in Psi_s;
    (iii) else A <- {mu_s + w sigma_s >= max_A (mu_s + w sigma_s) - 2^(1-s)}, and s <- s + 1.

    Thresholds are in prior stds. The order is from memory; the widest band in (ii), in place of any, and the
    play as in (i) past the last stage, are our readings. Pending plays count in sigma_s, which needs no
    value, so that a stage's design stays independent of its noise under delay.

    Args:
        model: of a finite set and a single trial.
        band: w sigma from sigma and |a_x|, (1, A) each.
    """

    def __init__(self, model: Model, band: PlainBand | ConstantBand):
        super().__init__(model)
        self.band = band
        self.stages = math.ceil(math.log2(math.sqrt(self.setting.horizon))) + 1

    @property
    def assumes_bound(self) -> bool:
        """True where the band uses a default for B."""
        return rests_on_default(self.band)

    @property
    def processes(self) -> list[Belief]:
        """Beliefs of the stages, which record plays in addition to `belief`."""
        return self.psi

    def begin(self) -> None:
        self.psi: list[Belief] = [Hallucinated(self.model, 1) for _ in range(self.stages)]
        self.belief = Delivered(self.model, 1)  # of all values, for recommendations
        self.stage_of: list[int] = []  # of each play
        self._asked = NO_STAGE, NO_STAGE  # the chosen arm and its stage

    def act(self, observation: Floats) -> int:
        """Choose an arm for the observed context."""
        self._asked = self._chosen(self.context(observation), self.tie_breaker())
        return self._asked[0]

    def update(self, observation: Floats, action: Any, reward: Any, info: dict[str, Any]) -> None:
        """Learn from a round: the observation before it, the action and the `info` it returned."""
        arm, context = arms_of(action, 1, self.setting.decisions.num_arms), self.context(observation)
        point = self.setting.decisions.point_index(context, arm)
        trial, rounds, value, _ = Feedback.arrived(info)
        offered = offered_in(info, self.setting, None)
        played = self.book.record_round(point, trial, rounds)  # validates last, before any change
        self.offered = offered
        asked, stage = self._asked
        stage = stage if asked == int(arm[0]) else NO_STAGE  # the caller played another arm
        self.stage_of.append(stage)
        if stage != NO_STAGE:
            self.psi[stage].play(point)
        for x, s, y in zip(played[:, None], rounds.tolist(), value[:, None], strict=True):
            self.belief.receive(Delivery.of_values(HERE, x, y))
            if self.stage_of[s] != NO_STAGE:
                self.psi[self.stage_of[s]].receive(Delivery.of_values(HERE, x, y))
        self.round += 1

    def dropped(self, rounds: Ints, point: Ints) -> None:
        for s, x in zip(rounds.tolist(), point[:, None], strict=True):
            if self.stage_of[s] != NO_STAGE:
                self.psi[self.stage_of[s]].drop(HERE, x, np.array([self.round - s]))

    def _chosen(self, context: Ints, uniform: Floats) -> tuple[int, int]:
        """Return the arm and the stage that keeps its play."""
        active, narrowest = self.available().copy(), self.model.prior_std / math.sqrt(self.setting.horizon)
        for s, belief in enumerate(self.psi):
            std = belief.std(context)
            half = self.band(std, std)
            upper = belief.mean(context) + half
            if (half[active] > narrowest).any():
                if (half[active] > self._threshold(s)).any():
                    return self._best(half, active, uniform), s
                if s + 1 < self.stages:
                    active &= upper >= upper[active].max() - 2.0 * self._threshold(s)
                    continue
            return self._best(upper, active, uniform), NO_STAGE
        raise AssertionError("there is at least one stage")

    def _best(self, scores: Floats, active: Bools, uniform: Floats) -> int:
        among = np.where(active, scores, -np.inf)
        return int(argmax_with_ties(among, TIE * self.model.prior_std, uniform, active)[0])

    def _threshold(self, stage: int) -> float:
        """2^-s, s = stage + 1."""
        return self.model.prior_std * 2.0 ** -(stage + 1)


@handles("delay", "context", "availability", "horizon")
def sup_kernel_ucb(
    setting: Setting,
    *,
    band: float | None = None,
    delta: float = 0.1,
    num_trials: int | None = None,
    **options: Unpack[ModelOptions],
) -> SupKernelUCB | TrialList:
    """SupKernelUCB: R_T = O~(sqrt(gamma_T T)), for theory rather than use (Valko et al. 2013).

    Args:
        band: w of w sigma, without a proof; default B + (R / sqrt(lambda)) sqrt(2 log(2 T N / delta)).
    """
    require_arms(setting, "they are left out by stages")
    require_absent(options, ("initial", "refit_every"), "stages choose plays")
    require_once(options, "stages choose plays")
    require_probability("delta", delta)
    if band is not None:
        require_positive("band", band, "it multiplies a standard deviation")
    model = Model.of(setting, **options)

    def of_trial(trial: int) -> SupKernelUCB:
        own = model.of_trial(trial)
        plain = PlainBand.of(own, delta, own.gram.size * own.setting.horizon)
        return SupKernelUCB(own, plain if band is None else ConstantBand(band))

    return each_trial(of_trial, num_trials)
