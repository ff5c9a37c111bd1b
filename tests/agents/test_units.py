"""What an agent plays does not depend on the units in which values and points are written down."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from agent_cases import BATCHED, LEARNING, REPEATING, in_turn, of_each_shape, seed_for, takes, told_for
from players import each_round, started
from sklearn.base import clone
from sklearn.gaussian_process.kernels import ConstantKernel, Kernel

import agents
from agents.kernels.amplitude import AMPLITUDE_BOUNDS
from agents.model.units import mean_and_std
from agents.objectives.by_name import CONSTRAINTS
from agents.restarts.by_name import RESTARTS
from bandit_envs import BanditVectorEnv, Setting
from bandit_envs.problems import build
from gpbandits.evaluation.rehearsal import SMALL, stages

POINTS = ("arms", "low", "high", "contexts")
LIGHT = {"search": {"candidates": 32, "starts": 1, "steps": 3}}


EACH_CONSTRAINT = [{"constraint": name} for name in CONSTRAINTS if name != "none"]
EVERY = {"restart_options": {"every": 10}}
EACH_RESTART = [{"restart": name} | (EVERY if name == "periodic" else {}) for name in RESTARTS]
PSI = "ignore:psi of noisy costs is biased"


@dataclass(frozen=True)
class Units:
    """Values y as scale y + shift, costs as scale g, for they have no zero to move; points as length x.

    Each cost can have a factor of its own beside the scale.
    """

    scale: float = 1.0
    shift: float = 0.0
    length: float = 1.0
    costs: float | tuple[float, ...] = 1.0

    def setting(self, setting: Setting) -> Setting:
        """What is published, in these units."""
        factors = {"noise_std": self.scale, "noise_bound": self.scale, **dict.fromkeys(POINTS, self.length)}
        given = {name: (getattr(setting, name), factor) for name, factor in factors.items()}
        scaled = {name: None if each is None else factor * each for name, (each, factor) in given.items()}
        untold = setting.kernel is None and not np.any(setting.prior_mean)  # 0 beside no kernel is none
        slopes = setting.lipschitz
        return replace(
            setting,
            **scaled,
            kernel=None if setting.kernel is None else self.kernel(setting.kernel),
            prior_mean=setting.prior_mean if untold else self.value(setting.prior_mean),
            reward_lower_bound=self.value(setting.reward_lower_bound),
            constraint_prior_std=self.cost(setting.constraint_prior_std),
            constraint_noise_std=self.cost(setting.constraint_noise_std),
            constraint_noise_bound=self.cost(setting.constraint_noise_bound),
            lipschitz=self.cost(None if slopes is None else slopes / self.length),
        )

    def kernel(self, kernel: Kernel) -> Kernel:
        """With an amplitude, which may be learnt, whatever the units."""
        square = self.scale**2
        lengths = {
            name: np.multiply(self.length, value)
            for name, value in kernel.get_params().items()
            if name.endswith(("length_scale", "length_scale_bounds"))
        }
        kernel = clone(kernel).set_params(**lengths)
        return ConstantKernel(square, tuple(np.multiply(AMPLITUDE_BOUNDS, square))) * kernel

    def info(self, info: dict[str, Any]) -> dict[str, Any]:
        """What an agent is told, in these units."""
        mask = info["feedback_mask"]
        told = info | {"feedback_reward": np.where(mask, self.value(info["feedback_reward"]), 0.0)}
        costs = {name: self.cost(info[name]) for name in ("cost", "feedback_cost") if name in info}
        return told | costs

    def value(self, y: Any) -> Any:
        return None if y is None else self.scale * np.asarray(y) + self.shift

    def cost(self, g: Any) -> Any:
        return None if g is None else self.scale * np.multiply(g, self.costs)


def played(name: str, problem: Any, units: Units, **options: Any) -> np.ndarray:
    """What an agent plays in two trials, (T, 2, ...)."""
    env = BanditVectorEnv(problem, 2, autoreset_mode="Disabled")
    observation, info = env.reset(seed=[1, 2])
    agent = started(agents.make(name, units.setting(env.setting), 2, **options), [3, 4])
    if "action_mask" in info:
        agent.start(info)
    rounds = each_round(env, agent, observation, problem.horizon, units.info)
    return np.stack([np.array(action) for action, *_ in rounds])


VIEW = Units(1e3, 7e3, 20.0)
# Powers of 2 round nothing: where an acquisition on a box is flat, its search stops elsewhere for a last bit,
# which later rounds amplify.
EXACT_VIEWS = (Units(scale=2.0**10), Units(scale=2.0**-10), Units(length=0.125))
MORE_VIEWS = (Units(1e3), Units(1e-3, 7e-3), Units(length=0.125))


@pytest.fixture(autouse=True)
def _short(monkeypatch):
    monkeypatch.setitem(SMALL, "horizon", 16)


def assert_same(name: str, label: str, problem: Any, *views: Units, **options: Any) -> None:
    more = options | (LIGHT if label == "box" and takes(name, **LIGHT) else {})
    plain = played(name, problem, Units(), **more)
    for units in views:
        seen = played(name, problem, units, **more)
        np.testing.assert_allclose(seen, plain, atol=1e-6, err_msg=f"{label} in {units}")


def everything(name: str) -> dict[str, Any]:
    """All that an agent handles at once, and a box."""
    handled = stages(agents.features(name))
    whole = {"composite": build("composite", SMALL | seed_for(name))} if "finite" in handled else {}
    return whole | {label: handled[label] for label in handled if label == "box"}


@pytest.mark.parametrize("name", of_each_shape(name for name in BATCHED if agents.features(name).finite))
def test_actions_do_not_depend_on_the_units_of_values_and_points(name):
    assert_same(name, "everything", build("composite", SMALL | seed_for(name)), VIEW)


# But for those that keep costs in every round, which are refused where no kernel is told.
UNTOLD = [name for name in BATCHED if agents.features(name).finite and not agents.features(name).seed]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", of_each_shape(UNTOLD))
def test_nor_where_no_kernel_is_told(name):
    withheld = build("composite", SMALL | {"publish_model": False, "horizon": 32})
    assert_same(name, "everything untold", withheld, VIEW, **told_for(name))


def law_in(unit: float) -> dict[str, Any]:
    """Delays of six rounds in the mean, whatever the unit of time."""
    return {"law": "log-normal", "mean": 6.0 * unit, "interval": unit}


@pytest.mark.parametrize(
    ("name", "options"),
    of_each_shape(
        [
            *((name, {}) for name in BATCHED if agents.features(name).delay),
            ("gp-agent", {"belief": "censored"}),
        ]
    ),
)
def test_nor_on_the_unit_of_time(name, options):
    hours, seconds, years = (build("gp", SMALL | {"delay": law_in(unit)}) for unit in (1.0, 3600.0, 1e-4 / 3))
    plain = played(name, hours, Units(), **options)
    for problem in (seconds, years):
        np.testing.assert_array_equal(played(name, problem, Units(), **options), plain)


@pytest.mark.parametrize("name", of_each_shape(REPEATING))
def test_nor_where_arms_are_held(name):
    assert_same(name, "finite", stages()["finite"], VIEW, repeat=2.0)


@pytest.mark.long
@pytest.mark.parametrize("name", of_each_shape(BATCHED))
def test_nor_with_one_feature_after_the_other(name):
    for label, problem in stages(agents.features(name)).items():
        assert_same(name, label, problem, *(EXACT_VIEWS if label == "box" else MORE_VIEWS))


@pytest.mark.parametrize("name", of_each_shape(name for name in LEARNING if takes(name, epoch=4)))
def test_nor_where_the_hyperparameters_of_epochs_are_learnt(name):
    assert_same(name, "everything", build("composite", SMALL), Units(2.0**12), refit_every=3, epoch=4)


@pytest.mark.long
@pytest.mark.parametrize("name", of_each_shape(LEARNING))
def test_nor_where_hyperparameters_are_learnt(name):
    for label, problem in everything(name).items():
        assert_same(name, label, problem, VIEW, refit_every=6)


CONSTRAINED = [name for name in BATCHED if agents.features(name).constraint]
OF_EACH = Units(costs=(2.0**10, 2.0**-6))  # powers of 2, so that nothing is rounded
TWO = {"num_constraints": 2, "constraint_noise_std": 0.1, "horizon": 40}


@pytest.mark.sampled(6)
@pytest.mark.filterwarnings(PSI)
@pytest.mark.parametrize(("name", "kind"), in_turn(CONSTRAINED, ["constrained", "composite"]))
def test_nor_on_the_unit_of_each_cost(name, kind):
    assert_same(name, kind, build(kind, SMALL | TWO | seed_for(name)), OF_EACH)


@pytest.mark.sampled(6)
@pytest.mark.filterwarnings(PSI)
@pytest.mark.parametrize("name", of_each_shape(name for name in CONSTRAINED if name in LEARNING))
def test_nor_on_the_unit_of_each_cost_where_hyperparameters_are_learnt(name):
    problem = build("constrained", SMALL | TWO | seed_for(name))
    assert_same(name, "learnt", problem, OF_EACH, refit_every=8)


@pytest.mark.sampled(1)
@pytest.mark.filterwarnings(PSI)
@pytest.mark.parametrize("name", of_each_shape(name for name in CONSTRAINED if agents.features(name).box))
def test_nor_on_the_unit_of_each_cost_on_a_box(name):
    assert_same(name, "box", build("constrained", SMALL | TWO | {"continuous": True, "horizon": 12}), OF_EACH)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("options", EACH_CONSTRAINT + EACH_RESTART, ids=str)
def test_nor_on_the_unit_of_each_cost_with_named_parts(options):
    changing = build(
        "constrained", SMALL | TWO | {"safe_seed": True, "changes": {"law": "at", "rounds": [20]}}
    )
    assert_same("gp-agent", str(options), changing, OF_EACH, **options)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", of_each_shape(name for name in CONSTRAINED if name in UNTOLD))
def test_nor_on_the_unit_of_each_cost_where_no_model_is_told(name):
    withheld = build("constrained", SMALL | TWO | {"publish_model": False})
    assert_same(name, "untold", withheld, OF_EACH, **told_for(name))


@pytest.mark.parametrize("name", of_each_shape(name for name in CONSTRAINED if agents.features(name).seed))
def test_nobody_plays_safely_by_the_reward_s_unit(name):
    setting = replace(
        build("constrained", SMALL | {"safe_seed": True}).draw(1).setting, constraint_prior_std=None
    )
    with pytest.raises(ValueError, match=r"constraint_prior_std must be known.*constraint_prior_std=\[2.0\]"):
        agents.make(name, setting)
    agents.make(name, setting, constraint_prior_std=[1.0])


@pytest.mark.parametrize("count", range(3, 12))
def test_equal_values_have_no_deviation_that_would_hide_later_ones(count):
    """The computed one of 0.1 seven times is 1e-17, in units of which 0.4 more is no surprise."""
    mean, deviation = mean_and_std(np.full((count, 1), 0.1), 3)
    assert deviation.tolist() == [0.0]
    assert mean == pytest.approx([0.1])
