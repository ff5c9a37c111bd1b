"""Problems of functions drawn from a Gaussian process or from its RKHS, one a feature and all at once."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bandit_envs.basics import arguments
from bandit_envs.basics.types import Floats
from bandit_envs.kernels.kernels import LengthScale, make_kernel
from bandit_envs.kernels.random_features import RandomFeatures
from bandit_envs.laws.functions import FunctionLaw, GPSample, RKHSFunction
from bandit_envs.laws.tabulated import SegmentMeans
from bandit_envs.problem.decisions import Decisions, uniform_points, unit_grid
from bandit_envs.problem.problem import Problem
from bandit_envs.problems.features import compose, of_outcomes, with_defaults
from bandit_envs.problems.parts import joint_kernel, play_costs_of

DEFAULT = {"law": "gp", "budget": 50}
LONGEST = 10_000  # rounds, even if cheap plays allow more


def budgeted(**keywords: Any) -> Problem:
    """Maximise a GP sample on 100 points of [0, 1] under a budget of 50; plays cost between 0.2 and 1.2.

    SE kernel of length-scale 0.2, rewards rescaled to [0, 1], so that none is negative; the published prior
    is 0.5 +- 0.25. Action: `Discrete(num_arms)`, or a box with `continuous=True`. Observation: a constant 0.
    Reward: f(arm) + noise. Info: see docs/environments.md; "feedback_spent" is the cost of plays with
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


def synthetic(
    *,
    function: str = "gp",
    kernel: Any = "rbf",
    length_scale: LengthScale = 0.2,
    random_features: int | None = None,
    rkhs_norm: float | None = None,
    num_arms: int = 1000,
    dim: int = 1,
    side: float = 1.0,
    points: str = "grid",
    points_seed: int = 0,
    continuous: bool = False,
    num_contexts: int = 1,
    context_dim: int = 1,
    context_kernel: Mapping[str, Any] | None = None,
    outcome: str | Mapping[str, Any] | None = None,
    means: Sequence[Sequence[float]] | None = None,
    name: str = "synthetic",
    **features: Any,
) -> Problem:
    """Maximise a random function on a decision set in [0, side]^dim.

    Args:
        function: "gp" (f ~ GP(0, k)) or "rkhs" (a member of the kernel's RKHS of known norm).
        kernel: a name of `bandit_envs.kernels.kernels.NAMED`, or a scikit-learn kernel.
        length_scale: of a kernel that is given by its name, in the units of the box.
        random_features: declare a kernel of this many random features of `kernel` to be the problem's, drawn
            with `points_seed`: functions are drawn from it and it is published. An even number; for more
            than 5000 points that are no grid, and 512 at most for the fastest posterior.
        rkhs_norm: with function="rkhs", scale each function to exactly this norm.
        num_arms: in total, also where `dim` > 1.
        dim: number of features of an arm.
        side: length of each side of the box, in the units of `length_scale`.
        points: "grid" (evenly spread) or "uniform" (drawn once, with `points_seed`).
        points_seed: seed from which points and random features are drawn, once an environment.
        continuous: play the whole box; a "gp" sample is continued between the points, see `GPSample`.
        num_contexts: evenly spread in [0, 1]^context_dim; 1 is none. Their sequence is `context`.
        context_dim: features of a context.
        context_kernel: {"combine": "product" | "sum", "kernel": "rbf", "length_scale": 0.5}; joined
            with `kernel` on the arms to one over (context, arm) pairs, which functions are drawn from.
        outcome: {"law": "bernoulli" | "poisson", "base": 0, ...}: rewards are clicks or counts, whose mean is
            a link of the function, see `bandit_envs.laws.outcomes`; `signal_variance` is then that of the
            latent function. It takes the place of `noise`. None is off.
        means: mean rewards, a row a segment in their order, over contexts x arms, in place of functions
            that are drawn; the change-points are the other keywords', see `bandit_envs.laws.SegmentMeans`.
            Kernel and prior stay as they are given. None is off.
        name: of the problem, for tables.
        **features: see `bandit_envs.problems.features.compose`.
    """
    arguments.require_choice("function", function, ("gp", "rkhs"))
    usable = rkhs_norm is None or function == "rkhs"
    arguments.require(usable, "rkhs_norm", 'None where function is "gp"', rkhs_norm)
    arguments.require(arguments.is_number(side) and side > 0, "side", "a positive number", side)
    arguments.require_size("num_contexts", num_contexts)
    arguments.require_size("context_dim", context_dim, num_contexts)
    contexts = None if num_contexts == 1 else unit_grid(num_contexts, context_dim)
    decisions = unit_box(points, num_arms, dim, points_seed, continuous, contexts).scaled(side)
    over_arms = make_kernel(kernel, length_scale)
    if random_features is not None:
        over_arms = RandomFeatures(over_arms, random_features, points_seed)
    model = joint_kernel(over_arms, context_kernel, 0 if contexts is None else context_dim, dim)
    with arguments.written_as({"norm": "rkhs_norm"}):
        reward: FunctionLaw = GPSample() if function == "gp" else RKHSFunction(norm=rkhs_norm)
    if means is not None:
        given = {"function": function if function != "gp" else None, "outcome": outcome}
        reward = _stated(means, len(decisions.points), given)
    if outcome is None:
        return compose(decisions, reward, model, name=name, **features)
    return of_outcomes(decisions, reward, model, outcome, name, features)


def _stated(means: Any, num_points: int, given: Mapping[str, Any]) -> SegmentMeans:
    """Return the law of stated means, of all points, where nothing else is given of the functions."""
    for name, value in given.items():
        arguments.require(value is None, name, "left out where means are given", value)
    law = SegmentMeans(means)
    size = law.values.shape[1]
    rows = f"rows of {num_points} numbers, contexts x arms; num_arms is the number of arms"
    arguments.require(size == num_points, "means", rows, f"rows of {size}")
    return law


def clicks(**keywords: Any) -> Problem:
    """Maximise the probability of a click on 100 arms of [0, 1], each play of which is clicked or not.

    P(y = 1) = s(base + f(arm)), s(z) = 1 / (1 + exp(-z)), with f ~ GP(0, k) in logits, k the SE kernel of
    length-scale 0.2. Action: `Discrete(num_arms)`, or a box with `continuous=True`. Observation: a constant
    0. Reward: 0 or 1; with `outcome={"law": "poisson", "base": 0, "exposure": 5}` a count of mean
    exposure exp(base + f(arm)). Info: see docs/environments.md. Regret: max p - p(arm), in probability or
    events a round, noiseless. The setting publishes the law of outcomes and the latent kernel; kernel, prior
    mean and noise std are the exact moments of the means, for agents that assume Gaussian noise. Costs that
    are drawn share that kernel unless they have one. The setting is ours.

    Args:
        **keywords: see `synthetic`; `function="rkhs", rkhs_norm=4` bounds the norm of f, and
            `delay={"law": "geometric", "mean": 20, "lost": 0.3}` delivers feedback late or never, and
            `{"law": "conversions", "base": ...}` clicks alone.

    Example:
        >>> env = gym.make("GPBandit-Clicks-v0", outcome={"law": "bernoulli", "base": -3}, horizon=200)
    """
    defaults = {"outcome": {"law": "bernoulli"}, "num_arms": 100, "horizon": 500}
    return synthetic(**with_defaults(keywords, name="clicks", **defaults))


def gp(**keywords: Any) -> Problem:
    """Maximise a GP sample on 1000 points of [0, 1], noise variance 0.025 (Srinivas et al. 2010, Section 6).

    Action: `Discrete(num_arms)`, or a box with `continuous=True`. Observation: a constant 0. Reward:
    f(arm) + noise, f ~ GP(0, k), k the SE kernel.
    Info: see docs/environments.md. Regret: max f - f(arm), noiseless, charged at play time.
    The paper's noise is "0.025 or 5 % of the signal variance", which agree at signal_variance=0.5.
    Keywords: see `synthetic`.

    Example:
        >>> env = gym.make("GPBandit-GP-v0", length_scale=0.1, horizon=200)
    """
    return synthetic(**with_defaults(keywords, name="gp", noise_std=0.025**0.5))


def rkhs(**keywords: Any) -> Problem:
    """Maximise an RKHS function of known norm on 100 uniform points (Chowdhury & Gopalan 2017, Section 6).

    Action: `Discrete(num_arms)` in [0, 1], or the box with `continuous=True`. Observation: a constant 0.
    Reward: f(arm) + noise, whose variance is 1 % of the range of f; f is the posterior mean given y ~ N(0, K)
    with ridge 1 % of the range of y. Info: see docs/environments.md. Regret: max f - f(arm),
    noiseless, charged at play time. T = 30,000. `function="gp"` draws f ~ GP(0, K) on the same points,
    which is the paper's Figure 2. Keywords: see `synthetic`.

    Example:
        >>> env = gym.make("GPBandit-RKHS-v0", kernel="matern52", rkhs_norm=1.0, horizon=1000)
    """
    noise = {"law": "gaussian", "share": 0.01}
    defaults = {"function": "rkhs", "points": "uniform", "num_arms": 100, "horizon": 30_000, "noise": noise}
    return synthetic(**with_defaults(keywords, name="rkhs", **defaults))


def delayed(**keywords: Any) -> Problem:
    """Maximise a GP sample on 1000 points of [0, 1], ten rounds late (Verma et al. 2022, Section 6.1).

    SE kernel of length-scale 0.02, functions rescaled to [0, 1] with the published prior 0.5 +- 0.25;
    Poisson delays of mean 10. Action: `Discrete(num_arms)`, or a box. Observation: a constant 0. Reward: the
    sum of delivered rewards; that of round t is in the `info` of round t + delay. Info:
    see docs/environments.md. Regret: max f - f(arm), noiseless, charged at play time. The paper states
    neither noise nor horizon: a noise std of 0.02 and 500 rounds are our reading.

    Args:
        **keywords: see `synthetic`; `signal_variance=1, prior_mean=False` publishes the prior of functions
            that are not rescaled.

    Example:
        >>> env = gym.make("GPBandit-Delayed-v0", delay={"law": "geometric", "mean": 5}, horizon=200)
    """
    defaults = {"length_scale": 0.02, "normalize": True, "horizon": 500, "noise_std": 0.02}
    delay = {"law": "poisson", "mean": 10}
    return synthetic(**with_defaults(keywords, name="delayed", delay=delay, **defaults))


def contextual(**keywords: Any) -> Problem:
    """Maximise a GP sample over 10 contexts x 100 arms, three rounds late (after Verma et al. 2022, 5).

    SE kernels on contexts and arms, multiplied; uniform contexts; Poisson delays of mean 3. Action:
    `Discrete(num_arms)`, or a box. Observation: the context in [0, 1]. Reward: the delivered sum; functions
    are rescaled to [0, 1]. Info: see docs/environments.md. Regret: max over arms of g(context, arm) -
    g(context, arm played), noiseless, charged at play time. The setting is ours; the paper's own are
    `GPBandit-MultiTaskSVM-v0` and `GPBandit-GrowingDataSVM-v0`.

    Args:
        **keywords: see `synthetic`; `context={"law": "walk"}` changes their sequence.

    Example:
        >>> env = gym.make("GPBandit-Contextual-v0", context_kernel={"combine": "sum"}, horizon=200)
    """
    defaults = {"num_contexts": 10, "num_arms": 100, "normalize": True, "horizon": 500, "noise_std": 0.02}
    delay = {"law": "poisson", "mean": 3}
    return synthetic(**with_defaults(keywords, name="contextual", delay=delay, **defaults))


def constrained(**keywords: Any) -> Problem:
    """Maximise a GP sample on 1000 points of [0, 1] under a cost that 30 % of the arms satisfy.

    Action: `Discrete(num_arms)`, or a box with `continuous=True`. Observation: a constant 0. Reward:
    f(arm) + noise, f ~ GP(0, k). Info: see docs/environments.md; "feedback_cost" are the costs g(arm)
    of plays with delivered feedback, feasible where <= 0, exact unless `constraint_noise` is given;
    g ~ GP(0, k) less its 30 % quantile over the arms.
    Regret: f of the best feasible arm - f(arm), noiseless, negative while violating; read it with
    `result.violation`. The problem is ours, in the setting of Shi & Eryilmaz (2022).
    Keywords: see `synthetic`.

    Example:
        >>> env = gym.make("GPBandit-Constrained-v0", num_constraints=3, constraint_noise_std=0.1)
    """
    defaults = {"constraints": {"law": "gp", "quantile": 0.3}, "horizon": 500, "noise_std": 0.1}
    return synthetic(**with_defaults(keywords, name="constrained", **defaults))


def duel(**keywords: Any) -> Problem:
    """Find the best of 30 arms of [0, 1] by duels: an action is a pair of arms, the feedback who won.

    Utilities are a GP sample of unit variance in log odds, SE kernel of length-scale 0.2: arm x beats x' with
    probability s(f(x) - f(x')), s the logistic function (Pasztor et al. 2024). Action:
    `MultiDiscrete([num_arms, num_arms])`. Observation: a constant 0. Reward: the number of delivered duels
    that the *first* arm won. It is feedback and no aim: the best arm against the worst would maximise it, and
    teach nothing. Info: see docs/environments.md; "feedback_reward" is 1 where the first arm won and 0 where
    the second did. Regret: (s(f* - f(x)) + s(f* - f(x')) - 1) / 2, the average of both arms, charged at play
    time; "strong_regret" and "weak_regret" in `oracle` are the worse and the better arm's alone. The setting
    is ours.

    Args:
        **keywords: see `synthetic`; noise and costs are left out. `num_contexts=5` adds contexts.

    Example:
        >>> env = gym.make("GPBandit-Duel-v0", delay={"law": "poisson", "mean": 5}, horizon=200)
    """
    return synthetic(**with_defaults(keywords, name="duel", duel=True, num_arms=30, horizon=300))


def unit_box(
    points: str, num_arms: int, dim: int, points_seed: int, continuous: bool, contexts: Floats | None = None
) -> Decisions:
    """Return `num_arms` points of [0, 1]^dim, or that box with these points as anchors, in some contexts."""
    arguments.require_size("num_arms", num_arms)
    arguments.require_size("dim", dim, num_arms)
    arguments.require_seed("points_seed", points_seed)
    arguments.require_choice("points", points, ("grid", "uniform"))
    grid = points == "grid"
    arms: Floats = unit_grid(num_arms, dim) if grid else uniform_points(num_arms, dim, points_seed)
    return Decisions(arms, contexts, low=np.zeros(dim), high=np.ones(dim), continuous=continuous)


def piecewise_stationary(**keywords: Any) -> Problem:
    """Track GP samples on 1000 points of [0, 5] that change three times in 1200 rounds (Avanesov 2020).

    Matern 5/2 kernel of length-scale 1, noise std 0.05; segment i = 1..4 ends after round(i T / 4)
    rounds, and each has a function of its own, f ~ GP(0, k). Action: `Discrete(num_arms)`. Observation: a
    constant 0; changes are not announced. Reward: f(arm) + noise. Info: see docs/environments.md;
    "segment" in `oracle` counts the changes so far. Regret: max f - f(arm) of the segment's function,
    noiseless, which is dynamic regret. The paper's other experiments are `num_segments=3` with horizons 900
    to 2400, and `num_segments` 3 to 9 with horizon 2700.

    Args:
        **keywords: see `synthetic`. `num_segments=K`, `change_points=[300, 900]` or `changes={...}` sets
            the change-points. `means=[[0.9, 0.5, 0.1], [0.1, 0.5, 0.9]]` states the mean reward of each arm
            in each segment; the numbers of arms and segments are then those of the table.

    Example:
        >>> env = gym.make("GPBandit-PiecewiseStationary-v0", num_segments=3, horizon=900)
    """
    defaults: dict[str, Any] = {"kernel": "matern52", "length_scale": 1.0, "side": 5.0, "num_segments": 4}
    if keywords.get("means") is not None:
        segments, size = SegmentMeans(keywords["means"]).values.shape
        contexts = keywords.get("num_contexts", 1)
        arguments.require_size("num_contexts", contexts)
        defaults |= {"num_segments": segments, "num_arms": max(size // contexts, 1)}
    defaults |= {"horizon": 1200, "noise_std": 0.05}
    return synthetic(**with_defaults(keywords, name="piecewise-stationary", **defaults))


def composite(**keywords: Any) -> Problem:
    """Maximise GP samples with delays, constraints, contexts and change-points, each of which can be off.

    100 arms of [0, 1] in 5 contexts; three segments of 200 rounds with functions of their own; one cost that
    30 % of the arms satisfy in the tightest context; feedback is about 5 rounds late. SE kernels on contexts
    and arms, multiplied. `delay=None`, `context=None`, `changes=None` and `constraints=None` (or False, as in
    TOML) each switch a feature off, so that any of the 16 subsets takes one call. Action:
    `Discrete(num_arms)`. Observation: the context in [0, 1], without contexts a constant 0. With
    `continuous=True` the arms are all of [0, 1], and a reset takes seconds to find the optimum of every
    segment and context. Reward: the delivered sum.
    Info: see docs/environments.md. Regret: to the best feasible arm in the round's segment and context,
    noiseless, charged at play time, negative while violating. The setting is ours. Keywords: see `synthetic`.

    Example:
        >>> env = gym.make("GPBandit-Composite-v0", delay=None, num_constraints=2)
    """
    defaults = {
        "num_arms": 100,
        "horizon": 600,
        "noise_std": 0.1,
        "delay": {"law": "poisson", "mean": 5},
        "num_contexts": 5 if keywords.get("context", "on") is not None else 1,
        "num_segments": 3,
        "constraints": {"law": "gp", "quantile": 0.3},
    }
    return synthetic(**with_defaults(keywords, name="composite", **defaults))
