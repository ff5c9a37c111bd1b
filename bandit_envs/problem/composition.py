"""Compose a problem of a decision set, a model, and a law for each of its random parts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bandit_envs.basics.types import Floats
from bandit_envs.kernels.gram import Gram
from bandit_envs.laws import changes, contexts, delays
from bandit_envs.laws.availability import EVERY_ARM, Availability
from bandit_envs.laws.corruption import UNTOUCHED, Corruption
from bandit_envs.laws.derived import AS_DRAWN, Feasibility
from bandit_envs.laws.drift import STILL, Drift
from bandit_envs.laws.functions import FunctionLaw
from bandit_envs.laws.movement import FREE_MOVES, Movement
from bandit_envs.laws.noise import Gaussian, Noise, NoNoise
from bandit_envs.laws.play_costs import FREE, PlayCosts
from bandit_envs.problem.decisions import Decisions


@dataclass(frozen=True, eq=False)
class Composition:
    """Hold the laws of a problem; `Problem` documents the arguments."""

    decisions: Decisions
    reward: FunctionLaw
    kernel: Any
    noise: Noise = Gaussian(0.1)
    constraints: tuple[FunctionLaw, ...] = ()
    feasibility: Feasibility = AS_DRAWN
    constraint_noise: Noise = NoNoise()
    delay: delays.Delay = delays.Immediate()
    max_delay: int | None = None
    aggregated: bool = False
    context: contexts.Context = contexts.UniformContexts()
    changes: changes.Changes = changes.Stationary()
    drift: Drift = STILL
    corruption: Corruption = UNTOUCHED
    availability: Availability = EVERY_ARM
    play_costs: PlayCosts = FREE
    movement: Movement = FREE_MOVES
    horizon: int = 1000
    prior_mean: Floats | float = 0.0
    rkhs_bound: str | float | None = "true"
    publish_model: bool = True
    function_seed: int | None = None
    safe_seed: bool | str = False
    long_term: bool = False
    name: str = "custom"

    @cached_property
    def gram(self) -> Gram:
        """Return the kernel on the points, factorised once a problem."""
        return Gram(self.kernel, self.decisions.points)

    @cached_property
    def constraint_prior_std(self) -> Floats:
        """Prior std of each cost's law, (C,)."""
        return np.array([law.prior_std(self.gram) for law in self.constraints], dtype=np.float64)

    @cached_property
    def is_fixed(self) -> bool:
        """Return whether all trials have the same functions."""
        return not self.drifts and all(law.is_fixed for law in (self.reward, *self.constraints))

    @property
    def drifts(self) -> bool:
        """Return whether each round has functions of its own."""
        return not self.drift.is_still

    @property
    def drifts_within_segments(self) -> bool:
        """Return whether functions differ within a segment, so that values of two rounds do not compare."""
        return self.drift.within_segments

    @property
    def volatile(self) -> bool:
        """Return whether arms may be unavailable in a round."""
        return self.availability != EVERY_ARM

    @property
    def slots(self) -> int:
        """Return the number K of feedback slots in `info`: one a delay, or one for the delivered sum."""
        return 1 if self.aggregated else self.window + 1

    @cached_property
    def window(self) -> int:
        """Return the largest delay at which feedback is delivered."""
        return self.delay.window(self.horizon) if self.max_delay is None else int(self.max_delay)
