"""Define problems whose functions are hard for every algorithm."""

from typing import Any

from bandit_envs.basics import arguments
from bandit_envs.kernels.kernels import LengthScale, make_kernel
from bandit_envs.laws.functions import FunctionLaw
from bandit_envs.laws.hard import Bumps, HardFunctions
from bandit_envs.problem.problem import Problem
from bandit_envs.problems.features import compose, with_defaults
from bandit_envs.problems.parts import noise_law
from bandit_envs.problems.synthetic import unit_box

LAWS: dict[str, type[FunctionLaw]] = {"hard": HardFunctions, "bumps": Bumps}
EPS = 0.1
# Functions hard for all of 1000 rounds have height .0026 at most under noise .1, and no agent differs from
# random play. Made for 25 rounds they have .0145: in 1000 rounds random play has regret 12.7, gp-ucb
# 11.4 (paired t 6.6, 16 trials) and gp-ei 6.1 (6.3), and at 25 the bound is .29 of random play's regret.
HARD_FOR = 25


def hard(
    *,
    function: str = "hard",
    kernel: Any = "rbf",
    length_scale: LengthScale = 0.2,
    rkhs_norm: float = 2.0,
    hard_for: int | None = None,
    rescaled: bool = False,
    eps: float | None = None,
    num_arms: int = 100,
    dim: int = 1,
    points: str = "grid",
    points_seed: int = 0,
    continuous: bool = False,
    name: str = "hard",
    **features: Any,
) -> Problem:
    """Maximise a function on which every algorithm has regret, with the exact lower bound (Ma & Scarlett).

    Action: `Discrete(num_arms)`. Observation: a constant 0. Reward: f(arm) + noise, f one of a family that
    is made for this kernel, set, norm B and noise R so that its members are hard to distinguish in
    T = `hard_for` rounds; later they can be distinguished.
    Info: see docs/environments.md. Regret: max f - f(arm), noiseless, charged at play time; averaged
    over the family no algorithm's is below (R / 16) sqrt(T d_T), which `bound("hard", problem)` of
    `gpbandits.theory.overlays` draws. The class of functions is published, no prior: its kernel and B, which
    does not reveal a function's own norm.

    Args:
        function: "hard", see `bandit_envs.laws.hard.HardFunctions`, or "bumps" of height 2 eps and of norm
            exactly B, see `bandit_envs.laws.hard.Bumps`, for which there is no bound with constants.
        kernel, length_scale: see `synthetic`; "bumps" take "rbf" and the Matern kernels.
        rkhs_norm: B.
        hard_for: with "hard", T: the rounds in which no algorithm does well; default 25, at most the horizon.
        rescaled: with "hard", scale each function from B / 4 at most to the norm B, without the bound.
        eps: with "bumps", half their height; default 0.1.
        num_arms, dim, points, points_seed: see `synthetic`.
        continuous: play the whole box, with "bumps".
        name: of the problem, for tables.
        **features: see `bandit_envs.problems.features.compose`; the functions depend on `noise_std`.

    Example:
        >>> env = gym.make("GPBandit-Hard-v0", kernel="matern52", horizon=1000)
    """
    arguments.require_choice("function", function, LAWS)
    positive = arguments.is_number(rkhs_norm) and rkhs_norm > 0
    arguments.require(positive, "rkhs_norm", "a positive number", rkhs_norm)
    keywords = with_defaults(features, horizon=1000, noise_std=0.1, rkhs_bound=rkhs_norm)
    others = {"eps": eps} if function == "hard" else {"rescaled": rescaled or None, "hard_for": hard_for}
    for option, value in others.items():
        arguments.require(value is None, option, f'left out with function="{function}"', value)
    with arguments.written_as({"bound": "rkhs_norm"}):
        if function == "hard":
            reward = _hard_functions(rkhs_norm, hard_for, rescaled, keywords)
        else:
            reward = Bumps(rkhs_norm, EPS if eps is None else eps)
    decisions = unit_box(points, num_arms, dim, points_seed, continuous)
    return compose(decisions, reward, make_kernel(kernel, length_scale), name=name, **keywords)


def _hard_functions(
    rkhs_norm: float, hard_for: int | None, rescaled: bool, keywords: dict[str, Any]
) -> HardFunctions:
    horizon = keywords["horizon"]
    arguments.require_size("horizon", horizon)
    rounds = min(HARD_FOR, horizon) if hard_for is None else hard_for
    usable = arguments.is_count(rounds) and rounds <= horizon
    arguments.require(usable, "hard_for", f"None or an integer in 1..{horizon}, the horizon", hard_for)
    std = noise_law(keywords.get("noise"), keywords.get("noise_std")).stated_std
    if std is None:
        complaint = 'must have a "std" and no "share": the functions are made for it'
        raise arguments.ArgumentError("noise", f"{complaint}, got {arguments.shown(keywords['noise'])}")
    return HardFunctions(rkhs_norm, std, rounds, rescaled)
