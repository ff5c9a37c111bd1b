"""Which parts of the agent for real problems a setting calls for, and why; and what it does not play.

| setting | part | reason |
|---|---|---|
| no published model | usual prior, three chains | one estimate from few values misleads |
| published kernel | prior around it, mean and noise too | fitted to other problems, or the law's own |
| contexts | one model, data sets share what they share; no chains | levels differ between data sets |
| changes | alarm by log-likelihoods, hyperparameters stay | a kernel outlives a change of the function |
| limits, budget | a model of each cost, `costs` | what is not kept, or dear, is to be played least |
| delays | pending plays count in the std, fewer rounds to use | a play teaches only after its delay |
| | plays at random until 3 are delivered | quick results are often the bad ones |

Actions that are duels, outcomes that are clicks or counts, sums of rewards, moves with a price, costs that
must be kept in every round from a safe seed, published noise profiles and kernels of another kind than a
stationary one are played by the composed agent; boxes too.
"""

from __future__ import annotations

from typing import Any

from bandit_envs.problem.setting import Setting

from ..agent.assembly import PER_TRIAL, TrialList, each_trial
from ..model.model import Model
from ..validation import require_one_a_trial
from .agent import RealAgent
from .earlier import EarlierTasks
from .parts import RealParts
from .priors import understood

MOST_ROUNDS = 2000  # a round of the composed agent takes a hundredth of the time
USUAL = RealParts()
OF_THE_MODEL = frozenset(("kernel", "length_scale", "noise_std", "noise_variance", "prior_mean"))


def suited(setting: Setting, options: dict[str, Any]) -> Model | None:
    """Return the model with which the agent plays a setting, by some options; None if it does not play it."""
    other = (
        setting.continuous,
        setting.horizon > MOST_ROUNDS,
        setting.duel,
        setting.aggregated,
        setting.outcome is not None,
        setting.movement is not None,
        setting.noise_profile is not None,
        setting.safe_seed is not None,
        callable(setting.known_costs),
    )
    if any(other) or not set(options) <= OF_THE_MODEL:
        return None
    if not publishes(setting, options):
        return None if options else Model.of(setting)
    model = Model.of(setting, **options)
    return None if understood(model.kernel, setting) is None else model


def publishes(setting: Setting, options: dict[str, Any]) -> bool:
    """Return whether a model is published, or given by the user's options."""
    return setting.kernel is not None or any(
        options.get(name) is not None for name in ("kernel", "length_scale")
    )


def real_agent(
    model: Model,
    published: bool,
    num_trials: int | None = None,
    parts: RealParts = USUAL,
    earlier: EarlierTasks | None = None,
) -> RealAgent | TrialList:
    """Return the agent of one trial, or a batch of B, with a model that is published or the default."""
    for name in PER_TRIAL:
        require_one_a_trial(name, getattr(model, name), num_trials or 1)

    def make(trial: int) -> RealAgent:
        return RealAgent(model.of_trial(trial), published, parts, earlier)

    return each_trial(make, num_trials)
