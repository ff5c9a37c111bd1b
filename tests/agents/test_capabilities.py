"""Every agent runs with all features that it says it handles, and uses each of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from agent_cases import OF_ARMS, of_each_shape, seed_for, told_for
from cases import FEATURES, SUBSETS

import agents
from agents.protocol import handles
from gpbandits import Result, evaluate
from gpbandits.evaluation.statistics import paired_difference

COMPOSITE = "GPBandit-Composite-v0"
OFF = dict.fromkeys(FEATURES)
FEATURE = {"delay": "delay", "context": "context", "changes": "change", "constraints": "constraint"}
LATE = {"law": "poisson", "mean": 5}
HANDLED = {name: agents.features(name) for name in OF_ARMS}
LEARNERS = [name for name in HANDLED if name != "random"]  # which looks at nothing
Alter = Callable[[Any], Any]


def handlers(feature: str) -> list[str]:
    return [name for name in LEARNERS if getattr(HANDLED[name], feature)]


def each_handler(feature: str) -> Any:
    return pytest.mark.parametrize("name", of_each_shape(handlers(feature)))


def handled(name: str, off: dict[str, None]) -> bool:
    return all(getattr(HANDLED[name], FEATURE[key]) for key in FEATURES if key not in off)


def bold(name: str) -> dict[str, Any]:
    """Options with which an agent leaves its safe seed within a few rounds."""
    return {"cost_width": 1.0, **told_for(name, 1.0)} if HANDLED[name].seed else {}


def played(specs: Any, trials: int = 2, **keywords: Any) -> Result:
    keywords = {"num_arms": 15, "horizon": 24, **keywords}
    return evaluate(COMPOSITE, specs, trials=trials, env_kwargs=keywords)


# Each with all features that it handles, and one with every subset of them.
RICHEST = [(name, min((off for off in SUBSETS if handled(name, off)), key=len)) for name in HANDLED]
EVERY_SUBSET = [("gp-agent", off) for off in SUBSETS if off]


@pytest.mark.sampled(24)
@pytest.mark.parametrize(
    ("name", "off"),
    of_each_shape(RICHEST + EVERY_SUBSET),
    ids=lambda case: case if isinstance(case, str) else f"without {', '.join(case) or 'nothing'}",
)
def test_every_agent_runs_with_all_features_that_it_handles(name, off):
    seed = {} if "constraints" in off else seed_for(name)
    result = played({name: (name, bold(name))}, **off, **seed)
    actions = result.actions[name]
    assert actions.shape == (2, 24)
    assert actions.dtype.kind == "i"
    assert set(np.unique(actions)) <= set(range(15))
    assert (actions != actions[:, :1]).any()
    assert np.isfinite(result.regret[name]).all()
    assert result.num_constraints == ("constraints" not in off)
    assert result.segments[:, -1].tolist() == ([0, 0] if "changes" in off else [2, 2])
    assert (name in result.privileged) == HANDLED[name].privileged


class Altered:
    """An agent that is shown something else."""

    def __init__(self, agent: Any, observation: Alter | None, reward: Alter | None, info: Alter | None):
        self.agent, self.alter = agent, [alter or _as_is for alter in (observation, reward, info)]
        self.privileged = getattr(agent, "privileged", False)

    def reset(self, seed: int) -> None:
        self.agent.reset(seed)

    def act(self, observation: Any) -> Any:
        return self.agent.act(self.alter[0](observation))

    def update(self, observation: Any, action: Any, reward: float, info: dict[str, Any]) -> None:
        see, earn, learn = self.alter
        self.agent.update(see(observation), action, earn(reward), learn(info))


def both(
    name: str,
    *,
    observation: Alter | None = None,
    reward: Alter | None = None,
    info: Alter | None = None,
    **keywords: Any,
) -> tuple[Any, Any]:
    """Actions of an agent as it is, and of one that is shown something else."""
    specs = {
        "as it is": lambda setting: agents.make(name, setting, **bold(name)),
        "altered": lambda setting: Altered(
            agents.make(name, setting, **bold(name)), observation, reward, info
        ),
    }
    actions = played(specs, **{**OFF, **keywords}).actions
    return actions["as it is"], actions["altered"]


def looks_at_no_value(name: str) -> bool:
    """Whether its plays are a design, and values are for what it recommends."""
    seen, blind = both(name, info=_negated)
    return bool((seen == blind).all())


@each_handler("context")
def test_an_agent_that_handles_contexts_plays_otherwise_if_it_is_shown_one_alone(name):
    seen, blind = both(name, observation=np.zeros_like, num_contexts=3, context={"law": "uniform"})
    assert (seen != blind).any()


@pytest.mark.sampled(2)
@each_handler("constraint")
def test_an_agent_that_handles_constraints_plays_otherwise_if_no_play_costs_anything(name):
    few = {"num_arms": 25, "horizon": 80}  # some begin to look at costs late
    costs = {"constraints": {"law": "gp", "quantile": 0.2}, **seed_for(name)}
    seen, blind = both(name, info=_free, **costs, **few)
    assert (seen != blind).any()


@each_handler("delay")
def test_an_agent_that_handles_delays_learns_from_late_feedback(name):
    seen, blind = both(name, info=_prompt, delay=LATE)
    assert (seen != blind).any() or looks_at_no_value(name)


@each_handler("delay")
def test_an_agent_that_handles_delays_does_not_take_the_sum_of_what_arrives_for_a_reward(name):
    seen, misled = both(name, reward=lambda reward: 3.0 - reward, delay=LATE)
    np.testing.assert_array_equal(seen, misled)


@pytest.mark.long
def test_agents_that_handle_changes_regret_less_after_one():
    # Defaults of tv-gp-ucb are for slow drifts; this is a jump.
    quick = {"eps": 0.03, "width": "experiments"}
    swift = [name for name in handlers("change") if not agents.features(name).seed]  # ise explores for long
    options = {name: quick if name == "tv-gp-ucb" else {} for name in swift}
    keywords = {**OFF, "num_arms": 60, "horizon": 400, "changes": {"law": "at", "rounds": [200]}}
    result = played({"igp-ucb": "igp-ucb", **{n: (n, given) for n, given in options.items()}}, 16, **keywords)
    late = {name: regret[:, -1] - regret[:, 199] for name, regret in result.regret.items()}
    for name in options:
        assert paired_difference(late["igp-ucb"], late[name]).low > 0, name


def _as_is(shown: Any) -> Any:
    return shown


def _free(info: dict[str, Any]) -> dict[str, Any]:
    return {**info, "cost": 0.0, "feedback_cost": np.zeros_like(info["feedback_cost"])}


def _negated(info: dict[str, Any]) -> dict[str, Any]:
    return info | {"feedback_reward": -info["feedback_reward"]}


def _prompt(info: dict[str, Any]) -> dict[str, Any]:
    """Without the feedback of earlier rounds, which never arrives."""
    late = np.arange(len(info["feedback_mask"])) > 0
    step = np.where(late, -1, info["feedback_step"])
    return {
        **info,
        "feedback_mask": info["feedback_mask"] & ~late,
        "feedback_step": step,
        "feedback_reward": np.where(late, 0.0, info["feedback_reward"]),
    }


def test_a_feature_that_there_is_not_is_refused_with_those_there_are():
    with pytest.raises(ValueError, match=r"must be among delay, .*, outcome, got \('delays',\)"):
        handles("delays")
