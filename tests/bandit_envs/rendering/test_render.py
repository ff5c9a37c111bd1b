"""Pictures and text of environments."""

import numpy as np
import pytest
from gymnasium.vector import SyncVectorEnv
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import QuadMesh
from matplotlib.figure import Figure
from sklearn.gaussian_process.kernels import RBF

import agents
from bandit_envs import BanditEnv, BanditVectorEnv, Decisions, Problem
from bandit_envs.laws import GPSample, KnownFunction, RKHSFunction, SegmentMeans, changes, delays
from bandit_envs.problem.decisions import unit_grid
from bandit_envs.rendering.panels import draw_time, draw_values
from bandit_envs.rendering.picture import draw
from bandit_envs.rendering.scene import COLUMNS, Limits, Scene

HORIZON = 12


def composite(dim: int, continuous: bool = False) -> Problem:
    """Contexts, delays and a change-point; on a finite set a constraint too."""
    return Problem(
        Decisions(unit_grid(49, dim), contexts=np.array([[0.0], [1.0]]), continuous=continuous),
        RKHSFunction() if continuous else GPSample(),
        RBF(0.3),
        constraints=() if continuous else (KnownFunction(lambda x: np.cos(9 * x[:, 1])),),
        delay=delays.Constant(3),
        changes=changes.AtRounds((7,)),
        horizon=HORIZON,
    )


KINDS = {"set": False, "box": True}
CASES = {f"{kind} of {dim}": composite(dim, box) for kind, box in KINDS.items() for dim in (1, 2, 3)}


def started(problem: Problem, rounds: int, mode: str = "rgb_array") -> BanditEnv:
    env = BanditEnv(problem, render_mode=mode)
    env.reset(seed=0)
    env.action_space.seed(0)
    for _ in range(rounds):
        env.step(env.action_space.sample())
    return env


@pytest.mark.sampled(1)
@pytest.mark.parametrize("problem", CASES.values(), ids=CASES)
def test_a_picture_is_an_rgb_array_and_shows_the_plays(problem):
    pictures = [started(problem, rounds).render() for rounds in (0, 5)]
    for picture in pictures:
        assert picture.dtype == np.uint8
        assert picture.shape == (480, 640, 3)
        assert np.ptp(picture) > 200  # not an empty frame
    assert not np.array_equal(pictures[0], pictures[1])


@pytest.mark.parametrize("problem", CASES.values(), ids=CASES)
@pytest.mark.parametrize("rounds", [0, 5, HORIZON])
def test_text_has_a_line_of_blocks_and_marks_the_last_play_of_this_context(problem, rounds):
    env = started(problem, rounds, "ansi")
    head, news, line, *mark = env.render().splitlines()
    assert head.startswith(f"custom: {rounds} of {HORIZON} rounds, regret")
    assert news.startswith("delivered in the last round:")
    assert 0 < len(line) <= COLUMNS
    assert bool(mark) == bool(len(Scene.of(env.simulator).plays))
    if mark:
        assert 0 <= mark[0].index("^") < len(line)


def test_a_scene_holds_the_plays_of_the_current_context_and_segment_and_whether_they_arrived():
    env = started(composite(1), 11)
    scene, trial = Scene.of(env.simulator), env.simulator.trials[0]
    assert trial is not None
    here = (trial.segment[:11] == trial.segment[11]) & (trial.context[:11] == trial.context[11])
    assert len(scene.plays) == here.sum() > 0
    np.testing.assert_array_equal(scene.arrived, (np.arange(11) + 3 < 11)[here])
    at = int(trial.context[11]) * 49
    np.testing.assert_array_equal(scene.truth, trial.means[1, 0, at : at + 49])
    assert scene.truth[scene.best] == scene.optimum == trial.optimum[11]
    assert scene.feasible[scene.best]


def test_text_tells_the_regret_and_the_reward_that_arrived():
    env = BanditEnv("gp", num_arms=30, horizon=5, render_mode="ansi")
    env.reset(seed=3)
    regret = 0.0
    for arm in (4, 20):
        _, reward, _, _, info = env.step(arm)
        regret += info["oracle"]["regret"]
    head, news, _, mark = env.render().splitlines()
    assert head == f"gp: 2 of 5 rounds, regret {regret:.4g}"
    assert news == f"delivered in the last round: 1, reward {reward:.4g}"
    assert mark.index("^") == 20


def test_a_constant_truth_and_a_single_arm_can_be_drawn():
    single = Problem(Decisions(np.zeros((1, 1))), KnownFunction(lambda x: x[:, 0]), RBF(1.0), horizon=3)
    assert started(single, 2, "ansi").render().splitlines()[2] == "▁"
    assert started(single, 2).render().shape == (480, 640, 3)


@pytest.mark.parametrize("mode", ["ansi", "rgb_array"])
def test_rendering_before_the_first_reset_is_one_clear_error(mode):
    with pytest.raises(RuntimeError, match="render was called before reset"):
        BanditEnv("gp", num_arms=10, render_mode=mode).render()


def test_an_unknown_render_mode_is_refused_when_the_environment_is_made():
    for make in (BanditEnv, BanditVectorEnv):
        with pytest.raises(
            ValueError, match="render_mode must be None or one of rgb_array, ansi, got 'human'"
        ):
            make("gp", num_arms=10, render_mode="human")


@pytest.mark.long
@pytest.mark.parametrize("mode", ["ansi", "rgb_array"])
def test_a_vector_environment_renders_what_its_copies_would(mode):
    problem = composite(1)
    vector = BanditVectorEnv(problem, 2, render_mode=mode)
    sync = SyncVectorEnv([lambda: BanditEnv(problem, render_mode=mode)] * 2)
    for env in (vector, sync):
        env.reset(seed=5)
        env.step(np.array([3, 40]))
    for ours, theirs in zip(vector.render(), sync.render(), strict=True):
        assert type(ours) is type(theirs)
        np.testing.assert_array_equal(ours, theirs)


def test_the_regret_of_a_picture_begins_with_round_1():
    scene, axes = Scene.of(started(composite(1), HORIZON).simulator), Figure().subplots()
    draw_time(axes, scene, Limits.of([scene]))
    (steps,) = axes.patches
    np.testing.assert_array_equal(steps.get_data().edges, np.arange(HORIZON + 1) + 0.5)
    assert axes.get_xlim() == (0.5, HORIZON + 0.5)
    (change,) = axes.lines
    assert set(change.get_xdata()) == {7.5}  # between rounds 7 and 8, the first round of the new function


class Oracle:
    def __init__(self, env):
        self.env = env

    def posterior(self, observation):
        scene = Scene.of(self.env.simulator)
        return scene.truth, np.zeros(len(scene.truth))


def test_a_scene_tells_pending_from_lost_and_where_changes_are():
    env = started(composite(1), 5)
    env.simulator.due[0, 1] = -1
    scene = Scene.of(env.simulator)
    here = env.simulator.context[0, :5] == env.simulator.context[0, 5]
    np.testing.assert_array_equal(scene.lost, (np.arange(5) == 1)[here])
    np.testing.assert_array_equal(scene.arrived, np.array([True, False, False, False, False])[here])
    np.testing.assert_array_equal(scene.changes, [7])
    assert len(scene.regrets) == 5
    assert scene.regret == pytest.approx(scene.regrets.sum())


@pytest.mark.sampled(1)
@pytest.mark.parametrize("problem", CASES.values(), ids=CASES)
def test_the_belief_of_a_watched_agent_is_drawn(problem):
    env = started(problem, 4)
    before = env.render()
    env.watched = Oracle(env)
    assert env.render().shape == before.shape
    assert not np.array_equal(env.render(), before)


def test_a_play_lies_at_its_own_arm_also_among_arms_of_the_same_mean():
    step = KnownFunction(lambda x: (x[:, 0] > 0.4) * 1.0)
    steps = Problem(Decisions(unit_grid(9, 3)), step, RBF(1.0), horizon=9)
    scene = Scene.of(started(steps, 8).simulator)
    arms = [int(np.flatnonzero((scene.features == play).all(axis=1))[0]) for play in scene.plays]
    np.testing.assert_array_equal(scene.places, scene.order[arms])
    assert set(scene.means) == {0.0, 1.0}
    assert len(set(scene.places)) == len(set(arms)) > 2


def test_tiles_of_a_grid_cover_the_plane_and_other_points_are_dots():
    figure = Figure()
    of_grid, of_dots = figure.subplots(1, 2)
    narrow = np.array([(x, y) for x in (0.0, 1.0, 3.0) for y in range(5)])
    values = np.arange(15.0)
    draw_values(of_grid, narrow, values, "", (0.0, 14.0))
    draw_values(of_dots, narrow[:-1], values[:-1], "", (0.0, 14.0))
    (tiles,) = of_grid.collections
    assert isinstance(tiles, QuadMesh)
    np.testing.assert_array_equal(tiles.get_array(), values.reshape(3, 5).T)
    np.testing.assert_allclose(tiles.get_coordinates()[0, :, 0], [-0.5, 0.5, 2.0, 4.0])
    assert not isinstance(of_dots.collections[0], QuadMesh)


UNITS = (1e-12, 1e-6, 1e-3, 1.0, 1e3, 1e6, 1e12)


def scene(unit: float, dim: int, watched: bool) -> Scene:
    angle = 5 * unit_grid(49, dim).sum(axis=1)
    problem = Problem(
        Decisions(unit_grid(49, dim)),
        SegmentMeans(-unit * (5.0 + np.stack([np.sin(angle), np.cos(angle)]))),
        unit**2 * RBF(0.3),
        changes=changes.AtRounds((7,)),
        horizon=12,
    )
    env = BanditEnv(problem)
    env.reset(seed=0)
    agent = agents.make("gp-ucb", env) if watched else None
    if agent is not None:
        agent.reset(0)
    for arm in range(5):
        seen, reward, *_, info = env.step(arm)
        if agent is not None:
            agent.update(seen, arm, reward, info)
    return Scene.of(env.simulator, agent)


@pytest.mark.long
@pytest.mark.parametrize("watched", [False, True], ids=["truth", "belief"])
@pytest.mark.parametrize("dim", [1, 2])
@pytest.mark.parametrize("unit", UNITS)
def test_everything_that_is_written_is_inside_the_picture(unit, dim, watched, monkeypatch):
    drawn, original = [], FigureCanvasAgg.draw
    monkeypatch.setattr(FigureCanvasAgg, "draw", lambda canvas: drawn.append(canvas) or original(canvas))
    picture = draw(scene(unit, dim, watched))
    canvas = drawn[-1]
    used = canvas.figure.get_tightbbox(canvas.get_renderer())  # of what is drawn, in inches
    height, width = (pixels / canvas.figure.dpi for pixels in picture.shape[:2])
    assert min(used.x0, used.y0) >= 0
    assert used.x1 <= width
    assert used.y1 <= height
