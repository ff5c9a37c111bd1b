"""Calls that make no sense are refused where they are made: the argument as written, the value, the remedy.

A call that once failed deep inside, or was taken for another, becomes a row of `REFUSED`. `NONSENSE` is tried
on every argument of every problem and every agent: each value is taken, or refused by the argument's name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import partial
from inspect import Parameter, signature
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
import pytest
from agent_cases import DUELLING
from sklearn.gaussian_process.kernels import RBF

import agents
from agents.acquisition.by_name import RULES
from agents.algorithms.composed import IMPROVING
from agents.model.model import Model
from agents.registry import resolve_agent
from bandit_envs import BanditEnv, Decisions, Problem, Setting
from bandit_envs.data import find
from bandit_envs.kernels.kernels import TableKernel
from bandit_envs.laws import GPSample, RecordedValues
from bandit_envs.laws.delays import PoissonDelay
from bandit_envs.problems import FACTORIES, PRESET_OF, build, data_files, keywords_of
from bandit_envs.problems.features import FEATURES

ARMS = np.linspace(0.0, 1.0, 5)[:, None]
DECISIONS = Decisions(ARMS)
ROUNDS = 20


class Odd:
    def __repr__(self) -> str:
        return "Odd()"


NONSENSE: list[Any] = [
    *("no", "", b"x", 0, -1, 2.5, True, False, None, float("nan"), float("inf"), 10**400, 1e300, 1j),
    *([], {}, (), [1, 2, 3], [[]], {1, 2}, {1: 2}, {"law": None}, {"law": "nope"}, Odd(), int, lambda: 0),
    *(np.ones(2), np.ones((2, 2)), np.array("x"), np.float64(2.0), np.bool_(True)),
]


def problem(name: str = "gp", **keywords: Any) -> Problem:
    return build(name, keywords)


def by_hand(**keywords: Any) -> Problem:
    given = {"decisions": DECISIONS, "reward": GPSample(), "kernel": RBF(0.2), "horizon": ROUNDS}
    return Problem(**{**given, **keywords})


def setting(**keywords: Any) -> Setting:
    return Setting(**{"arms": ARMS, "horizon": ROUNDS, "kernel": RBF(0.2), **keywords})


def decisions(**keywords: Any) -> Decisions:
    return Decisions(**{"arms": ARMS, **keywords})


def agent(name: str = "gp-ucb", **options: Any) -> Any:
    asked_for = {"max_delay": 2, "delay": PoissonDelay(1.0), "num_constraints": 1}  # by some
    asked_for |= {"safe_seed": [3], "lipschitz": [9.0], "constraint_prior_std": 1.0}
    asked_for = {"duel": True} if name in DUELLING else asked_for
    return agents.make(name, setting(**asked_for), **options)


def made_for(setting: Any) -> Any:
    return agents.make("gp-ucb", setting)


def table(covariance: Any) -> TableKernel:
    return TableKernel(covariance)


class Call(NamedTuple):
    entry: Callable[..., Any]
    keywords: dict[str, Any]
    says: tuple[str, ...]


def call(entry: Callable[..., Any], *says: str, **keywords: Any) -> Call:
    return Call(entry, keywords, says)


SWITCH = "must be True or False"
REFUSED = [
    # Text for a switch: "no" would be yes.
    call(problem, "intel-temperature", SWITCH, name="intel-temperature", standardize="no"),
    call(problem, "cmu-light", SWITCH, name="cmu-light", standardize="no"),
    call(problem, "'gp'", "True, False or a number", prior_mean="no"),
    call(problem, SWITCH, normalize="no"),
    call(problem, SWITCH, publish_model="no"),
    call(problem, 'True, False or "safest"', constraints="gp", safe_seed="no"),
    call(problem, SWITCH, "svm-tuning", name="svm-tuning", train="no"),
    call(problem, 'drift["costs"]', SWITCH, drift={"law": "ornstein-uhlenbeck", "costs": "no"}),
    call(by_hand, SWITCH, publish_model="no"),
    call(setting, SWITCH, may_change="no"),
    call(decisions, SWITCH, continuous="no"),
    # Nothing is None; what is merely false is not.
    *(call(problem, "must be a dict such as", delay=empty) for empty in (0, True)),
    *(call(problem, 'delay["law"]', "must be one of immediate, ", delay=empty) for empty in ({}, "")),
    *(call(problem, f"{name} must be a dict", **{name: 0}) for name in ("context", "changes", "drift")),
    # What belongs to another switch.
    call(problem, "left out, or 1, where replay is False", name="intel-temperature", hold=2),
    call(problem, "a positive integer", name="intel-temperature", replay=True, hold=0),
    call(problem, 'None where function is "gp"', rkhs_norm=1.0),
    # Where things are.
    call(
        decisions, "in the box from array([0.]) to array([0.5])", "widen low and high", low=[0.0], high=[0.5]
    ),
    call(setting, "in the box", "widen low and high", low=[0.5], high=[1.0]),
    call(decisions, "at most high", low=[1.0], high=[0.0]),
    call(decisions, "finite numbers", arms="no"),
    call(decisions, "finite numbers", arms=[[10**400]]),
    call(decisions, "(count, features)", "(1, 0)", arms=[[]]),
    call(decisions, "finite numbers", contexts=[[1.0], [1.0, 2.0]]),
    # Tables.
    call(table, "must be symmetric", "give (c + c.T) / 2", covariance=np.array([[1.0, 0.5], [0.2, 1.0]])),
    call(table, "must be finite", "leave out", covariance=np.array([[1.0, np.nan], [np.nan, 1.0]])),
    call(RecordedValues, "must be finite", values=np.array([[1.0, np.nan]])),
    # Laws of one's own.
    call(by_hand, "a law such as PoissonDelay(10)", delay=3),
    call(by_hand, "a law such as UniformContexts()", context=None),
    call(by_hand, "a law such as AtRounds", changes=[300]),
    call(by_hand, "a law such as FeasibleShare", feasibility=0.3),
    call(by_hand, "a tuple of laws", constraints=0),
    call(by_hand, '"true", "paper", None', rkhs_bound=np.ones(2)),
    call(by_hand, "must be text", name=3),
    # Numbers that no computation survives.
    call(problem, "must be positive", "one a feature", length_scale=[]),
    call(problem, "must be a positive integer", horizon=10**400),
    call(problem, "must be a positive number", side=10**400),
    call(problem, "noise_std must be 0 or positive", noise_std=10**400),
    call(problem, "in 0..1000", num_constraints=10**9),
    call(problem, 'delay["mean"]', "at most 1e+09", delay={"law": "poisson", "mean": 1e13}),
    call(problem, 'delay["sigma"]', delay={"law": "log-normal", "sigma": 1e300}),
    call(problem, 'delay["base"]["mean"]', delay={"law": "by-arm", "base": {"law": "poisson", "mean": -1}}),
    call(problem, "ascending rounds above 0, such as", change_points={300, 900}),
    # The argument as it was written.
    call(problem, "noise_std must be 0 or", noise_std=-1),
    call(problem, 'noise["std"] must be 0 or', noise={"law": "gaussian", "std": -1}),
    call(problem, "constraint_noise_std must be 0 or", constraint_noise_std="x"),
    call(problem, "rkhs_norm must be", function="rkhs", rkhs_norm=-1),
    call(problem, 'constraints["quantile"] must be', constraints={"law": "gp", "quantile": 2}),
    call(problem, 'constraints["length_scale"] must', constraints={"law": "gp", "length_scale": -1}),
    call(problem, 'context_kernel["combine"]', num_contexts=2, context_kernel={"combine": 1}),
    *(call(problem, 'constraints["kernel"]', constraints={"law": "gp", "kernel": k}) for k in (0, "nope")),
    *(
        call(problem, 'context_kernel["kernel"]', num_contexts=2, context_kernel={"kernel": kernel})
        for kernel in (0, "nope")
    ),
    call(problem, '"grid" or "uniform"', points=np.ones(2)),
    # Agents.
    *(
        call(agent, f"agent {name!r}", SWITCH, "by default it is False", name=name, **{switch: "no"})
        for name, switch in (
            ("gp-ucb", "fit_mean"),
            ("constrained-ei", "hallucinate"),
            ("admmbo", "shared"),
            ("gp-ucb-sdf", "noisy"),
        )
    ),
    call(agent, SWITCH, name="gp-agent", context="no"),
    call(agent, SWITCH, name="gp-ucb-noisy-constraints", standardize="no"),
    call(agent, "an array of numbers or a number or None", prior_mean="no"),
    call(agent, "must be an integer or None", refit_every=2.5),
    call(agent, "must be an integer or None", refit_every=False),
    call(agent, "must be an integer", fit_restarts=2.5),
    call(agent, "beta_scale must be positive", "1 for the theorems", beta_scale=-1),
    call(agent, "width must be 0 or positive", width=-1),
    call(agent, "gamma must be 0 or positive", name="igp-ucb", gamma=-1),
    call(agent, "scale must be 0 or positive", name="gp-bts", scale=-1),
    call(agent, "false_alarm_rate must be in (0, 1)", name="gp-ucb-cpd", false_alarm_rate=2),
    call(agent, 'psi_options["c"] must be', name="gp-ucb-noiseless-constraints", psi_options={"c": -1}),
    call(agent, "options of 'ei' (xi)", name="gp-agent", rule="ei", rule_options={"law": 1}),
    call(agent, "options of 'dual'", name="gp-agent", constraint="dual", constraint_options={"law": 1}),
    # What would have no effect.
    *(
        call(agent, "must be left out without refit_every", "give refit_every", **{option: value})
        for option, value in (
            ("fit_on", "all"),
            ("fit_restarts", 0),
            ("fit_mean", True),
            ("fit_spread", 1.0),
            ("fit_most", 50),
            ("fit_amplitude_spread", 1.0),
            ("fit_noise_spread", 1.0),
        )
    ),
    call(agent, "left out on a finite set", "low and high", search={"candidates": 8}),
    *(
        call(agent, "improves on nothing", 'rule="ei"', name="gp-agent", rule=rule, incumbent="max_mean")
        for rule in sorted({*RULES} - {*IMPROVING})
    ),
    *(
        call(agent, "left out", remedy, name=name, **given, **{option: False})
        for name in ("gp-ucb-noisy-constraints", "gp-ucb-noiseless-constraints")
        for remedy, option, given in (
            ('models="penalised"', "reuse", {"models": "separate"}),
            ("take reuse=False", "incumbent_first", {"models": "separate", "reading": "paper"}),
            ("take reuse=False", "incumbent_first", {}),
        )
    ),
    call(agent, "a number or an array of one a trial", noise_std=[0.1]),
    call(agent, "a number, got array", delta=np.full(3, 0.1)),
    call(agent, "a number or 1 of them, one a trial", noise_std=np.full(3, 0.1)),
    call(agent, "at most 1e+150", noise_std=1e300),
    call(agent, "called with rounds and gains", width=lambda: 0),
    call(made_for, "noise_std", "call env.reset(seed=...) first", setting=gym.make("GPBandit-RKHS-v0")),
    call(
        made_for, "noise_std", "call env.reset(seed=...) first", setting=gym.make_vec("GPBandit-RKHS-v0", 2)
    ),
    call(made_for, "Setting(arms=..., horizon=...)", setting=gym.make("CartPole-v1")),
    call(made_for, "Setting(arms=..., horizon=...)", setting="GPBandit-RKHS-v0"),
    call(problem, '"uniform" or "log"', name="svm-tuning", grid=[]),
]


def _is_here(entry: Call) -> bool:
    name = entry.keywords.get("name", "gp")
    return entry.entry is not problem or all(map(find, data_files(name)))


def _id(refused):
    """The call in short, without the addresses of objects, which differ between processes."""
    return re.sub(r" at 0x\w+", "", f"{refused.entry.__name__}-{refused.keywords}")[:80]


@pytest.mark.parametrize("refused", REFUSED, ids=_id)
def test_a_call_that_makes_no_sense_is_refused_with_its_argument_value_and_remedy(refused):
    if not _is_here(refused):
        pytest.skip("needs data that are not here")
    with pytest.raises(ValueError, match="got") as raised:
        refused.entry(**refused.keywords)
    message = str(raised.value)
    argument = list(refused.keywords)[-1]
    assert all(part in message for part in (argument, "got", *refused.says)), message
    assert len(message) < 1000


def wrong(argument: str, made: Callable[[], Any]) -> str | None:
    """What is wrong with how a call ends: it must return, or say what is wrong with this argument."""
    try:
        made()
    except ValueError as error:
        return None if argument in str(error) else f"{argument} is not named in: {error}"
    except Exception as error:
        return f"{argument}: {error!r}"
    return None


def each_keyword() -> list[tuple[str, str]]:
    """Every keyword of every problem, those that several share once."""
    here = [name for name in FACTORIES if all(map(find, data_files(name)))]
    first = {PRESET_OF.get(FACTORIES[name], FACTORIES[name]): name for name in reversed(here)}.values()
    return [(name, key) for name in first for key in keywords_of(name) if name == "gp" or key not in FEATURES]


def complaints(calls: Iterable[tuple[Callable[..., Any], str]]) -> list[str]:
    """What is wrong with calls that are given nonsense as one of their keywords, (call, keyword) each."""
    tried = [wrong(name, partial(called, **{name: value})) for called, name in calls for value in NONSENSE]
    return [complaint for complaint in tried if complaint]


def played(name: str, /, **keywords: Any) -> None:
    small = {"num_arms": 6} if name == "gp" else {}
    env = BanditEnv(build(name, {**small, "horizon": ROUNDS, **keywords}))
    env.reset(seed=0)
    env.action_space.seed(0)
    env.step(env.action_space.sample())


@pytest.mark.long
def test_a_keyword_of_a_problem_is_taken_or_refused_by_its_name():
    named = (each for each in each_keyword() if each[1] != "train")  # which takes minutes if it is true
    assert complaints((partial(played, name), key) for name, key in named) == []


@pytest.mark.parametrize("entry", [by_hand, setting, decisions])
def test_an_argument_of_a_class_is_taken_or_refused_by_its_name(entry):
    kind = {by_hand: Problem, setting: Setting, decisions: Decisions}[entry]
    assert complaints((entry, name) for name in signature(kind).parameters) == []


def each_option() -> list[tuple[str, str]]:
    """Every option of every agent, those of the model once."""
    named = [name for name in agents.names() if resolve_agent(name).batched]
    own = [(name, option) for name in named for option in _options(resolve_agent(name).make)]
    return [*own, *(("gp-ei", option) for option in _options(Model.of))]


def _options(make: Callable[..., Any]) -> list[str]:
    taken = signature(make).parameters.values()
    return [each.name for each in taken if each.kind is Parameter.KEYWORD_ONLY and each.name != "num_trials"]


def made_and_asked(name: str, /, **options: Any) -> None:
    made = agent(name, **options)
    made.reset(0)
    made.act(np.zeros(1, dtype=np.float32))


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
def test_an_option_of_an_agent_is_taken_or_refused_by_its_name():
    assert complaints((partial(made_and_asked, name), option) for name, option in each_option()) == []
