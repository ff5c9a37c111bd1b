"""How probable a choice was, of an agent whose rule draws samples."""

from __future__ import annotations

from typing import Any

import numpy as np

from bandit_envs.basics.types import Floats, Ints

from ..model.choice import argmax_with_ties
from .candidate_views import ArmsView

REDRAWN = 1000  # further draws of a choice
Playing = Any  # a `GPAgent`, whose module imports this one


def chances(agent: Playing, context: Ints, arm: Ints) -> Floats:
    """Return the share of so many further draws of the round that choose the arms, (B,) each.

    The draws are of generators of their own, so that later choices are the same. The choice itself counts as
    one of them, so that no share is 0.
    """
    rngs, count = agent.streams.of_round("propensities", agent.round), np.ones(len(arm))
    for _ in range(REDRAWN):
        scores = agent.rule(ArmsView(agent, agent.belief, context, agent.offered).drawn_by(rngs))
        if (exploring := agent.restart.exploring) is not None:
            scores[exploring] = 0.0
        uniform = np.array([rng.random() for rng in rngs])
        count += argmax_with_ties(scores, agent._tie, uniform, agent.offered) == arm
    return count / (1.0 + REDRAWN)
