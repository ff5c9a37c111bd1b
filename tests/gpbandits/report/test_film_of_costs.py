"""Under constraints a film shows what is believed of the reward and of each cost, and no penalised sum."""

import numpy as np
import pytest
from agent_cases import BATCHED, WITH_ALL, of_each_shape
from matplotlib.figure import Figure
from scipy.spatial.distance import cdist

import agents
from agents.agent.reference_agent import ReferenceAgent
from agents.registry import resolve_agent
from bandit_envs.environment.envs import make
from bandit_envs.rendering.picture import draw, draw_cost_plane
from bandit_envs.rendering.scene import Scene
from gpbandits.report.film import FilmedTrial, moments

KWARGS = {"num_arms": 20, "horizon": 60, "safe_seed": True}

# They have a model of a penalised sum, or none.
SILENT = {"bandit-oco", "gp-ucb-noiseless-constraints", "gp-ucb-noisy-constraints", "random"}
KEEPING = [name for name in BATCHED if agents.features(name).constraint]
SILENT |= {name for name in KEEPING if isinstance(resolve_agent(name)(WITH_ALL), ReferenceAgent)}


def last_scene(name, **options):
    *_, (env, player, *_) = moments(FilmedTrial("GPBandit-Constrained-v0", 0, 2, KWARGS), (name, options))
    return Scene.of(env.unwrapped.simulator, player), player


@pytest.mark.parametrize("name", of_each_shape(KEEPING))
def test_the_posteriors_of_reward_and_costs_come_near_both_truths_where_it_was_played(name):
    scene, _ = last_scene(name)
    if name in SILENT:
        assert scene.cost_beliefs == ()
        return
    assert scene.belief is not None
    assert len(scene.cost_beliefs) == len(scene.costs) == 1
    played = np.unique(np.searchsorted(scene.features[:, 0], scene.plays[:, 0]))
    for truth, (mean, std) in zip(
        [scene.truth, *scene.costs], [scene.belief, *scene.cost_beliefs], strict=True
    ):
        assert mean.shape == std.shape == truth.shape
        # Deviations from a posterior of the right quantity are of its own size: 5 of them are far too many.
        assert np.all(np.abs(mean - truth)[played] < 5 * std[played] + 1e-9)


def test_a_model_of_a_penalised_sum_is_not_drawn_as_the_reward():
    scene, player = last_scene("gp-ucb-noisy-constraints")
    assert scene.belief is None
    assert scene.cost_beliefs == ()
    with pytest.raises(ValueError, match="no model of the reward itself"):
        player.posterior(np.zeros(1))


def test_a_picture_has_a_panel_a_cost():
    scene, _ = last_scene("config")
    with_costs, without = draw(scene), draw(scene._replace(cost_beliefs=()))
    assert with_costs.shape == without.shape == (480, 640, 3)
    assert not np.array_equal(with_costs, without)


def test_on_a_plane_a_cost_is_a_map_with_a_line_around_the_feasible_points():
    env = make("GPBandit-SmallFeasibleRegion-v0").unwrapped
    env.reset(seed=0)
    scene = Scene.of(env.simulator)
    axes = Figure().subplots()
    draw_cost_plane(axes, scene, 0, (scene.costs[0], np.zeros(len(scene.truth))))
    tiles, line = axes.collections
    np.testing.assert_array_equal(np.sort(tiles.get_array(), axis=None), np.sort(scene.costs[0]))
    bends = np.concatenate([path.vertices for path in line.get_paths()])
    spacing = np.diff(np.unique(scene.features[:, 0])).max()
    for side in (scene.feasible, ~scene.feasible):
        assert cdist(bends, scene.features[side]).min(axis=1).max() <= spacing
