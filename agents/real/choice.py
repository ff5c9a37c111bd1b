"""Which parts of the agent for real problems a setting calls for, and why: for regret, and for the best.

For regret:

| setting | part | reason |
|---|---|---|
| no published model | usual prior; half the likeliest, half three chains | either alone misleads |
| published kernel | prior around it, mean and noise too | fitted to other problems, or the law's own |
| a product of two | the roughest of their shapes, the lengths of each | lengths tell more than smoothness |
| contexts | one model, data sets share what they share; no chains | levels differ between data sets |
| changes | alarm by log-likelihoods, hyperparameters stay | a kernel outlives a change of the function |
| | half of a usual segment counts as left | so much is left on average |
| limits, budget | a model of each cost, `rules` | what is not kept, or dear, is to be played least |
| delays | pending plays count in the std, fewer rounds to use | a play teaches only after its delay |
| | plays at random until 3 are delivered | quick results are often the bad ones |
| time is paid for | a running play costs at least its time so far | dear plays come last, see `running` |
| a box | Sobol's points and the best plays, then ever closer | a choice is as fine as the box, see `spaces` |

Actions that are duels, outcomes that are clicks or counts, sums of rewards, moves with a price, costs that
must be kept in every round from a safe seed, published noise profiles, noise of a larger std than the
published prior's (no few hundred values refute that model, so its width explores) and kernels of another kind
than stationary ones and their products are played by the composed agent. Boxes of a published model too:
there its width has less regret (docs/did-not-help.md).

Where the best at the end counts, for `Tuner`, the searches of scikit-learn and Optuna, and `optimise`:

| part | choice | reason |
|---|---|---|
| kernel | Matern 5/2, a length-scale a parameter, learnt | one for all parameters fits few functions |
| prior | log l ~ N(log .5 sqrt P, 1), mean learnt | few values do not tell; see `priors` |
| with noise | log l ~ N(log .2 sqrt P, 1) | too long a length is sure of the first peak |
| values | in turn `Converging` and `HalfRank` | no penalty sets the unit; each misleads somewhere |
| rule | log EI over the best posterior mean seen | the best point counts, not the sum of the plays |
| with noise | augmented EI (Huang et al. 2006) | EI alone plays the best point again and again |
| exact values | asked for once while another point is left | a second time they say nothing |
| first points | 5 different ones at random | values that a fit needs |
| exact, on a box | d + 2 of them, from 5 to 10 | a model of fewer soon is sure of a peak |
| sure, on a box | the search begins anew, on values of its own | the peak may be a second one |
| at a known peak, on a box | likewise, without waiting | an earlier search has been there |
| stuck, on a set | every third point at random | its model is sure of what it knows |
| pending | count in the std alone | a copy of a running experiment says little |
| contexts, a clock | UCB of width 2, learnt | values of contexts have levels of their own |
| limits | constrained EI, learnt | EI where all costs are probably kept |
| a budget of costs | EI per cost, learnt | dear experiments must promise more |

`gpbandits exam` measures it. Transforms were compared on half of its tables, when a search begins anew and
its first points on other seeds of its boxes. What belongs to noise was chosen on other seeds of the functions
of `benchmarks/tuning.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bandit_envs.problem.setting import Setting

from ..agent.assembly import TrialList, each_model
from ..model.model import Model
from .agent import MOST_FIRST, RealAgent
from .earlier import EarlierTasks
from .priors import understood
from .quantities import RealParts

MOST_ROUNDS = 2000  # a round of the composed agent takes a hundredth of the time
USUAL = RealParts()
OF_THE_MODEL = frozenset(("kernel", "length_scale", "noise_std", "noise_variance", "prior_mean"))


def suited(setting: Setting, options: dict[str, Any]) -> Model | None:
    """Return the model with which the agent plays a setting, by some options; None if it does not play it."""
    other = (
        setting.continuous and publishes(setting, options),
        setting.horizon > MOST_ROUNDS,
        setting.duel,
        setting.aggregated,
        setting.outcome is not None,
        setting.movement is not None,
        setting.noise_profile is not None,
        setting.safe_seed is not None,
    )
    if any(other) or not set(options) <= OF_THE_MODEL:
        return None
    if not publishes(setting, options):
        return None if options else Model.of(setting)
    model = Model.of(setting, **options)
    drowned = float(np.mean(model.noise_std)) > model.prior_std
    return None if drowned or understood(model.kernel, setting) is None else model


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
    return each_model(model, lambda each: RealAgent(each, published, parts, earlier), num_trials)


MOST = 200  # latest results that a kernel, or a chance of success, is learnt from: a fit of n takes O(n^3)
LEARNING: dict[str, Any] = {"refit_every": 5, "fit_most": MOST, "fit_spread": 3**0.5}
# Without priors five values, or more of a flat function, are explained by a kernel alone.
LEARNING |= {"fit_amplitude_spread": 1.0, "fit_noise_spread": 2.0}
FIRST = 5  # first plays at random
Spec = tuple[str, dict[str, Any]]
BEST: Spec = ("gp-agent", {"goal": "best"})
# A width of 1 stops at a local maximum where there are many.
IN_CONTEXTS = ("gp-bucb", {"width": 2.0, "initial": FIRST, **LEARNING})
UNDER_LIMITS = ("constrained-ei", {"hallucinate": True, **LEARNING})
UNDER_A_BUDGET = ("ei-per-cost", {"initial": FIRST, **LEARNING})


def first_of_exact(dim: int) -> int:
    """Return how many points are at random before a model chooses exact values of a box."""
    return min(MOST_FIRST, max(FIRST, dim + 2))


def default_agent(contexts: bool, limits: bool, budget: bool, noise_std: float | None) -> Spec:
    """Return the agent, with its options, for what is to be tuned; a known noise is not learnt."""
    if limits:
        return UNDER_LIMITS
    if not (contexts or budget):
        return BEST
    return known_noise(UNDER_A_BUDGET if budget else IN_CONTEXTS, noise_std)


def model_of_values(agent: Any, noise_std: float | None) -> Any:
    """Return an agent whose model is of the values themselves, in whose unit stopping rules count."""
    return known_noise(IN_CONTEXTS, noise_std) if agent == BEST else agent


def known_noise(agent: Spec, noise_std: float | None) -> Spec:
    """Return an agent that learns a kernel and the noise, but keeps a known noise."""
    name, options = agent
    return name, options if noise_std is None else {**options, "fit_noise_spread": 0.0}


def refused(setting: Setting) -> list[str]:
    """Return what of a setting the agent of this goal does not play."""
    has = {
        "contexts": setting.has_contexts,
        "costs": setting.num_constraints > 0,
        "a budget": setting.budget is not None,
        "changes": setting.may_change,
        "duels": setting.duel,
        "clicks or counts": setting.outcome is not None,
        "sums of rewards": setting.aggregated,
    }
    return [name for name, there in has.items() if there]
