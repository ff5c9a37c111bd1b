"""Hold one draw of everything random."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from bandit_envs.basics.types import Floats, Ints
from bandit_envs.laws.drawn import Drawn
from bandit_envs.problem.setting import Setting
from bandit_envs.problem.volatile import Bits


class Trial(NamedTuple):
    """Hold everything random about one run, drawn before it starts; playing only looks it up."""

    means: Any  # (V, 1 + C, N) reward, then costs (feasible when <= 0), of each version, by its index
    between: list[list[Callable[[Floats], Floats]]]  # the same functions on a box; empty on a finite set
    optimum: Floats  # (T,) largest mean reward of an available feasible arm in the round
    worst: Floats  # (T,) smallest mean reward of an available arm
    segment: Ints  # (T,) number of changes so far
    version: Ints  # (T,) index of the functions: of the segment or, with drift, of the round
    context: Ints  # (T + 1,)
    noise: Floats  # (T, 1 + C)
    attack: Floats  # (T,) intended change of each reward, within the budget and if the play is attacked
    bits: Bits  # (T + 1, ...) arms that may be played, see `volatile.mask_of`; (T + 1, 0) for all
    wait: Floats  # (T,) for feedback, infinite if never delivered, before the arm's slowdown
    play_costs: Drawn  # of each point, the same in all rounds
    cost_noise: Floats  # (T,) standard normals
    rate: Floats  # (T,) largest mean reward a unit of cost of the same, 0 if that is negative
    setting: Setting
