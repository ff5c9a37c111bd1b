"""Define a problem whose plays have costs, and whose episodes end with the budget."""

from __future__ import annotations

from typing import Any

from bandit_envs.problem.problem import Problem
from bandit_envs.problems.features import play_costs_of, with_defaults
from bandit_envs.problems.synthetic import synthetic

DEFAULT = {"law": "gp", "budget": 50}
LONGEST = 10_000  # rounds, even if cheap plays allow more


def budgeted(**keywords: Any) -> Problem:
    """Maximise a GP sample on 100 points of [0, 1] under a budget of 50; plays cost between 0.2 and 1.2.

    SE kernel of length-scale 0.2, rewards rescaled to [0, 1], so that none is negative; the published prior
    is 0.5 +- 0.25. Action: `Discrete(num_arms)`, or a box with `continuous=True`. Observation: a constant 0.
    Reward: f(arm) + noise. Info: as everywhere, see the README; "feedback_spent" is the cost of plays with
    delivered feedback, and "played" is false in the step that ends the episode: its play exceeded the budget
    and was not made. Regret: max f - f(arm), noiseless; against the budget it is rho* k(arm) - f(arm),
    rho* = max f / k, see `result.budget_regret`. The horizon is the number of cheapest plays that the budget
    allows, so that the budget alone ends an episode. The setting is ours.

    Args:
        **keywords: see `synthetic`; `budget={"law": "log-gp", "budget": 50}` is another law of the costs.

    Example:
        >>> env = gym.make("GPBandit-Budget-v0", budget={"law": "gp", "budget": 20, "noise_std": 0.1})
    """
    law = play_costs_of(keywords.get("budget", DEFAULT))
    horizon = LONGEST if law.is_free else min(1 + int(law.budget / law.least), LONGEST)
    defaults = {"num_arms": 100, "normalize": True, "noise_std": 0.05, "horizon": horizon}
    return synthetic(**with_defaults({**keywords, "budget": law}, name="budget", **defaults))
