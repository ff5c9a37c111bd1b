"""Each part of the agent for real problems can be left out alone, and the agent then plays otherwise."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from real_cases import SEEN, hyperparameters, line, surrogate, values

import agents
from agents.model.model import Model
from agents.real.choice import publishes, real_agent
from agents.real.quantities import RealParts
from agents.real.surrogate import Surrogate
from bandit_envs.kernels.kernels import make_kernel
from bandit_envs.laws.delays import PoissonDelay
from bandit_envs.problem.feedback import delivery

PUBLISHED = {"kernel": make_kernel("rbf", 0.5), "noise_std": 0.1}
LATE = {"max_delay": 9, "delay": PoissonDelay(4.0)}
LIMITED = {"num_constraints": 1}
CHANGING = {"may_change": True, **PUBLISHED}
# Another value of each part, and what a setting must publish to call for it.
REPLACED: dict[str, tuple[Any, dict[str, Any]]] = {
    "score": ("ucb", {}),
    "alphas": ([0.0], {}),
    "noise_weight": (1e6, {}),
    "chains": (0, {}),
    "refuted": (-math.inf, PUBLISHED),
    "pending": (False, LATE),
    "limits_share": (1.0, LIMITED),
    "alarm": (math.inf, CHANGING),
    "first": (1, {}),
}
PARTS = [each.name for each in fields(RealParts)]


def law(arm: int, t: int) -> float:
    """A steep lower half, and noise that differs between arms."""
    height = np.sin(0.4 * arm)
    return float(height if height > 0.0 else -math.expm1(-4.0 * height)) + 0.5 * (arm % 3) * (-1.0) ** t


def turned(arm: int, t: int) -> float:
    """A function that turns upside down after 20 rounds."""
    return float(np.sin(0.3 * arm) * (1.0 if t < 20 else -3.0))


def made(published: dict[str, Any], parts: dict[str, Any]) -> Any:
    agent = agents.make("gp-agent", line(num_arms=25, horizon=60, **published), parts=parts)
    agent.reset(0)
    return agent


def play(agent: Any, rounds: int = 40, before: list[int] | None = None, law=law) -> list[int]:
    """Play some rounds after others, and return all plays."""
    setting, plays = agent.setting, [*(before or [])]
    for t in range(len(plays), len(plays) + rounds):
        plays.append(agent.act(SEEN))
        due = np.array([t - setting.max_delay] if t >= setting.max_delay else [], dtype=np.int64)
        rewards = np.array([law(plays[each], each) for each in due])
        agent.update(
            SEEN, plays[-1], 0.0, delivery(t, due, rewards, costs_of(plays, due, setting), setting.max_delay)
        )
    return plays


def costs_of(plays: list[int], due: Any, setting: Any) -> Any:
    """Costs of which those of the arms in the second half break the limit, (n, C)."""
    costs = [[plays[each] / 12.0 - 1.0] * setting.num_constraints for each in due]
    return np.array(costs).reshape(len(due), setting.num_constraints)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("part", PARTS)
def test_a_part_is_replaced_by_its_name_changes_plays_and_is_saved(part, tmp_path):
    value, published = REPLACED[part]
    of = turned if "may_change" in published else law
    agent = made(published, {part: value})
    setting, begun = agent.setting, play(agent, 20, law=of)
    agent.save(tmp_path / "agent.json")
    loaded = agents.load(tmp_path / "agent.json")
    plays = play(agent, 20, begun, of)
    assert play(loaded, 20, begun, of) == plays
    direct = real_agent(Model.of(setting), publishes(setting, {}), parts=RealParts(**{part: value}))
    direct.reset(0)
    assert play(direct, law=of) == plays
    assert play(made(published, {}), law=of) != plays


@pytest.mark.parametrize("part", PARTS)
def test_a_wrong_value_is_refused_by_the_name_of_its_part(part):
    with pytest.raises(ValueError, match=rf'parts\["{part}"\] must .* got \'nonsense\''):
        made({}, {part: "nonsense"})


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"parts": {"chain": 0}}, "parts must be options of 'gp-agent' .*did you mean 'chains'"),
        ({"parts": {"chains": 0}, "rule": "ucb"}, "parts must be left out where the agent is composed"),
        ({"parts": {"chains": 0}, "goal": "best"}, "parts must be left out for the best at the end"),
        ({"parts": {"alphas": [-1.0]}}, r'parts\["alphas"\] must be 0 or positive'),
        ({"parts": {"score": lambda mean: mean}}, r'parts\["score"\] must be one of'),
    ],
)
def test_parts_that_do_not_exist_or_are_not_called_for_are_refused(options, words):
    with pytest.raises(ValueError, match=words):
        agents.make("gp-agent", line(), **options)


def test_a_score_may_be_a_function():
    found = [
        play(made({}, {"score": score})) for score in ("ucb", lambda v, mean, var, s, h: mean + var**0.5)
    ]
    assert found[0] == found[1]


def test_a_published_model_is_kept_as_long_as_asked():
    """Values of another kernel refute it."""
    kept = []
    for refuted in (-math.inf, 3.0, math.inf):
        agent = made(PUBLISHED, {"refuted": refuted})
        play(agent, law=lambda arm, t: 9.0 * (-1.0) ** arm)
        kept.append(agent.learners[0].values.trusted)
    assert kept == [False, False, True]


def test_without_an_alarm_no_change_is_detected():
    found = {}
    for alarm in (4.0, math.inf):
        agent = made(CHANGING, {"alarm": alarm})
        play(agent, law=turned)
        found[alarm] = len(agent.alarms)
    assert found[4.0] > 0
    assert found[math.inf] == 0


def test_of_a_large_weight_the_noise_is_that_of_all_arms():
    of = surrogate()
    common, theta = Surrogate(of.parameters, of.prior, 1e9), hyperparameters(of)
    np.testing.assert_allclose(common.noises(theta, values()), of.noise(theta), rtol=1e-6)


@pytest.mark.parametrize("weight", [1.0, 50.0])
def test_slopes_of_the_loss_are_those_of_differences_whatever_the_weight(weight):
    of = surrogate()
    of = Surrogate(of.parameters, of.prior, weight)
    theta, seen, step = hyperparameters(of), values(), 1e-5
    _, slopes = of.loss(theta, seen)
    for i in range(len(theta)):
        moved = step * np.eye(len(theta))[i]
        rise = of.loss(theta + moved, seen)[0] - of.loss(theta - moved, seen)[0]
        assert slopes[i] == pytest.approx(rise / (2.0 * step), abs=1e-4)
