"""The parts of the agent for real problems that can be replaced one by one, with those that it is made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bandit_envs.basics.types import Floats

from .changes import ALARM
from .costs import SHARE_UNDER_LIMITS
from .fits import NUM_CHAINS
from .horizon import knowledge_gradient
from .learner import REFUTED
from .surrogate import WEIGHT
from .values import ALPHAS

Score = Callable[[Floats, Floats, Floats, Floats, float], Floats]  # as `knowledge_gradient`


@dataclass(frozen=True)
class RealParts:
    """What the agent is made of; `gp-agent` has the defaults; see `benchmarks/real_ablation.py`."""

    score: Score = knowledge_gradient  # where nothing has a cost
    alphas: Sequence[float] = ALPHAS  # transforms of rewards that are tried; (0,) leaves them as they are
    noise_weight: float = WEIGHT  # plays that the common noise counts as; 1e6: it is that of every arm
    chains: int = NUM_CHAINS  # of hyperparameters without a published model; 0: the likeliest ones alone
    refuted: float = REFUTED  # nats; a published model is always kept with inf, and only a prior with -inf
    pending: bool = True  # whether pending plays lower the std
    limits_share: float = SHARE_UNDER_LIMITS  # how much of what is learnt is used where there are limits
    alarm: float = ALARM  # nats; no change is detected with inf
    first: int | None = None  # plays before a model chooses; None: as many as there are parameters, or 1
