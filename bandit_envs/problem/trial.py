"""A trial is one draw of everything random."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from bandit_envs.basics.types import Floats, Ints
from bandit_envs.laws.drawn import Drawn
from bandit_envs.problem.setting import Setting
from bandit_envs.problem.volatile import Bits


class Trial(NamedTuple):
    """Everything random about one run, drawn before it starts; playing it is looking it up."""

    means: Any  # (V, 1 + C, N) reward, then costs (feasible when <= 0), of each version, by its index
    between: list[list[Callable[[Floats], Floats]]]  # the same functions on a box; empty on a finite set
    optimum: Floats  # (T,) largest mean reward of what may be played and is feasible in the round
    worst: Floats  # (T,) smallest mean reward of what may be played
    segment: Ints  # (T,) how many changes there were so far
    version: Ints  # (T,) which functions hold: those of the segment or, with drift, of the round
    context: Ints  # (T + 1,)
    noise: Floats  # (T, 1 + C)
    attack: Floats  # (T,) what would be added to each reward while the budget lasts, if the play is struck
    bits: Bits  # (T + 1, ...) which arms may be played, see `volatile.mask_of`; (T + 1, 0) where all may
    wait: Floats  # (T,) for feedback, infinite if it never arrives, before the played arm stretches it
    play_costs: Drawn  # of each point, the same in all rounds
    cost_noise: Floats  # (T,) standard normals
    rate: Floats  # (T,) largest mean reward a unit of cost of the same, 0 if that is negative
    setting: Setting
