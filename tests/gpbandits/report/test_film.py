"""Films of agents at play, on arms and on boxes, and strips of a film for print, by the command too."""

import json
from io import BytesIO

import numpy as np
import pytest
from agent_cases import BATCHED, WITH_ALL, of_each_shape
from matplotlib.figure import Figure
from PIL import Image
from players import UniformArms
from scipy.spatial.distance import cdist
from study_cases import called

import agents
from agents.agent.reference_agent import ReferenceAgent
from agents.registry import resolve_agent
from bandit_envs.environment.envs import make
from bandit_envs.rendering.panels import draw_cost_plane
from bandit_envs.rendering.picture import draw
from bandit_envs.rendering.scene import Limits, Scene, shared_limits
from gpbandits import evaluate, watch
from gpbandits.report.film import FilmedTrial, frames, moments, scenes

KWARGS = {"num_arms": 20, "horizon": 8}


def shown_of(agent, count, environment="GPBandit-GP-v0", seed=0, **keywords):
    return scenes(FilmedTrial(environment, seed, count, keywords or KWARGS), agent)


@pytest.mark.long
def test_a_film_has_the_first_and_the_last_round_and_no_more_pictures_than_asked():
    assert len(list(frames("GPBandit-GP-v0", "gp-ucb", count=100, env_kwargs=KWARGS))) == 9
    pictures = list(frames("GPBandit-GP-v0", "gp-ucb", count=3, env_kwargs=KWARGS))
    assert len(pictures) == 3
    assert all(picture.shape == (480, 640, 3) for picture in pictures)
    assert not np.array_equal(pictures[0], pictures[-1])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--gif", "out.png"], "must end in .gif"),
        (["--gif", "out.gif", "--kwargs", "[1]"], "--kwargs must be a JSON object"),
        (["--gif", "out.gif", "--options", "{"], "--options must be a JSON object"),
        (["--gif", "out.gif", "--options", "{}", "--options", "{}"], "--options must be given once an agent"),
        (["--gif", "out.gif", "--fps", "0"], "fps must be a positive number"),
        (["--gif", "out.gif", "--strip", "a.pdf"], "--strip needs the rounds to show, each as --round"),
        (["--gif", "out.gif", "--round", "1"], "--round needs a --strip"),
        pytest.param(
            ["--gif", "out.gif", "--strip", "a.pdf", "--round", "10", "--kwargs", json.dumps(KWARGS)],
            "rounds must be a list of some of 1..9, got [10]",
            marks=pytest.mark.long,
        ),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(arguments, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, _, err = called(capsys, "watch", "GPBandit-GP-v0", "gp-ucb", *arguments)
    assert code == 2
    assert message in " ".join(err.split())
    assert list(tmp_path.iterdir()) == []


def test_an_agent_that_cannot_be_made_ends_a_command_in_one_line(tmp_path, monkeypatch, capsys):
    (tmp_path / "unmakeable.py").write_text("def agent(setting):\n    raise KeyError('boo')\n")
    monkeypatch.chdir(tmp_path)
    code, _, err = called(capsys, "watch", "GPBandit-GP-v0", "unmakeable:agent", "--gif", "a.gif")
    assert code == 2
    assert err.splitlines() == [
        "gpbandits: agent 'unmakeable:agent' for 'GPBandit-GP-v0' cannot be made: KeyError: 'boo' "
        "(--debug shows where)"
    ]


class Blind(UniformArms):
    def update(self, observation, action, reward, info):
        assert "feedback_mask" in info
        assert "oracle" not in info


def test_an_agent_that_is_filmed_sees_no_oracle():
    assert len(shown_of(Blind, 2)) == 2


def test_a_scene_has_the_agents_own_band_its_scores_and_the_action_that_is_played():
    agent = ("gp-ucb", {"width": 3.0})
    shown = shown_of(agent, 9, seed=4)
    played = evaluate("GPBandit-GP-v0", {"it": agent}, trials=1, seed=4, env_kwargs=KWARGS)
    for scene, action in zip(shown[:-1], played.actions["it"][0], strict=True):
        mean, std = scene.belief
        np.testing.assert_allclose(scene.half, 3.0 * std)
        np.testing.assert_allclose(scene.scores, mean + 3.0 * std)
        assert scene.scores[action] >= scene.scores.max() - 1e-9
        np.testing.assert_array_equal(scene.following, scene.features[action])
        assert scene.title == "gp-ucb, width=3.0 on GPBandit-GP-v0"
    assert shown[-1].following is None
    assert shown[-1].scores is None


@pytest.mark.parametrize("name", ["laplace-ucb", "laplace-ts"])
def test_a_film_of_clicks_has_beliefs_about_probabilities_and_no_band_of_log_odds(name):
    """What lies in [0, 1] has a std of 1/2 at most; that of log-odds is 1 before the first play."""
    for scene in shown_of(name, 3, "GPBandit-Clicks-v0", num_arms=12, horizon=8):
        mean, std = scene.belief
        assert ((mean > 0.0) & (mean < 1.0) & (std <= 0.5)).all()
        assert scene.half is None


def test_all_pictures_of_a_film_have_the_same_axes():
    shown = shown_of("gp-ucb", 9)
    of_all, of_first = Limits.of(shown), Limits.of(shown[:1])
    for low, high in (of_all.reward, of_all.scores, of_all.regret):
        assert low < high
    assert of_all.regret[1] > of_first.regret[1]


def test_the_axis_of_rewards_is_that_of_the_data_however_wide_the_band_of_a_prior():
    shown = shown_of(("gp-ucb", {"width": 100.0}), 9)
    rewards = np.concatenate([each for scene in shown for each in (scene.truth, scene.observed)])
    low, high = Limits.of(shown).reward
    assert low < rewards.min()
    assert high > rewards.max()
    assert high - low < 2.5 * np.ptp(rewards)
    assert shown[0].half.max() > 10 * np.ptp(rewards)


@pytest.mark.long
def test_agents_side_by_side_play_one_trial_with_axes_in_common_but_for_their_scores():
    both = {"one": "gp-ucb", "other": ("gp-ei", {})}
    film = watch("GPBandit-GP-v0", both, count=3, env_kwargs=KWARGS)
    with Image.open(BytesIO(film.gif)) as picture:
        assert picture.size == (1280, 480)
    assert [row[0].title for row in film.rows] == ["one on GPBandit-GP-v0", "other on GPBandit-GP-v0"]
    for row, agent in zip(film.rows, both.values(), strict=True):
        alone = shown_of(agent, 3)
        for scene, same in zip(row, alone, strict=True):
            np.testing.assert_array_equal(scene.truth, film.rows[0][0].truth)
            np.testing.assert_array_equal(scene.plays, same.plays)
    one, other = shared_limits(film.rows)
    assert one.reward == other.reward
    assert one.regret == other.regret
    assert one.scores != other.scores
    figure = film.strip([2, 5])
    rows = ["one\nreward", "", "acquisition", "", "other\nreward", "", "acquisition", ""]
    assert [axes.get_ylabel() for axes in figure.axes] == rows


def test_a_list_is_several_agents_and_a_pair_one_with_options():
    sizes = {}
    for name, given in {"list": ["random", "random"], "pair": ("random", {}), "one": ["random"]}.items():
        sizes[name] = next(frames("GPBandit-GP-v0", given, count=2, env_kwargs=KWARGS)).shape
    assert sizes == {"list": (480, 1280, 3), "pair": (480, 640, 3), "one": (480, 640, 3)}
    with pytest.raises(ValueError, match="agent must be an agent, or several"):
        watch("GPBandit-GP-v0", [], env_kwargs=KWARGS)


def test_an_agent_that_spends_its_budget_earlier_keeps_its_last_picture():
    keywords = {"num_arms": 10, "horizon": 30, "budget": 3.0}
    film = watch("GPBandit-Budget-v0", ["gp-ucb", "random"], count=100, env_kwargs=keywords)
    assert len({len(row) for row in film.rows}) == 2
    assert film.length == max(map(len, film.rows))


def test_a_strip_of_rounds_without_a_frame_is_that_of_a_film_that_shows_them():
    few = watch("GPBandit-GP-v0", "gp-ucb", count=2, env_kwargs={"horizon": 6, "num_arms": 20})
    all_of_them = watch("GPBandit-GP-v0", "gp-ucb", count=7, env_kwargs={"horizon": 6, "num_arms": 20})
    assert len(few.scenes) == 2
    drawn = [film.strip([2, 3, 5]) for film in (few, all_of_them)]
    for one, other in zip(*(figure.axes for figure in drawn), strict=True):
        assert one.get_title() == other.get_title()
        for line, same in zip(one.lines, other.lines, strict=True):
            np.testing.assert_array_equal(line.get_xydata(), same.get_xydata())


@pytest.mark.long
def test_a_strip_of_two_features_has_maps_and_one_of_contexts_names_them():
    film = watch("GPBandit-Rosenbrock-v0", "gp-ucb", count=2, env_kwargs={"horizon": 5})
    figure = film.strip([2, 5])
    assert [axes.get_title() for axes in figure.axes] == ["round 2", "round 5", *[""] * 4]
    assert [axes.get_ylabel() for axes in figure.axes[::2]] == [
        "true function",
        "posterior mean",
        "posterior std",
    ]
    assert all(axes.collections for axes in figure.axes)
    blind = watch("GPBandit-Rosenbrock-v0", "random", count=2, env_kwargs={"horizon": 5})
    assert len(blind.strip([2, 5]).axes) == 2
    film = watch("GPBandit-Contextual-v0", "gp-ucb", count=9, env_kwargs={"num_arms": 20, "horizon": 8})
    labels = [axes.get_xlabel() for axes in film.strip([2, 5]).axes[2:]]
    assert labels == [f"x\n{film.scenes[i].context}" for i in (1, 4)]
    assert all(label.endswith(" of 10") for label in labels)


def test_arms_that_cannot_be_played_have_no_acquisition():
    kwargs = KWARGS | {"availability": {"law": "bernoulli", "p": 0.5}}
    film = watch("GPBandit-GP-v0", "gp-ucb", count=2, env_kwargs=kwargs)
    scores = film.strip([5]).axes[1].lines[0].get_ydata()
    assert 0 < np.isfinite(scores).sum() < 20
    assert film.strip([5]).axes[1].lines[0].get_marker() == "o"  # no line joins one that stands by itself


@pytest.mark.long
@pytest.mark.parametrize("suffix", [".gif", ".html"])
def test_the_command_films_two_agents_side_by_side_and_writes_their_strip(suffix, tmp_path, capsys):
    path, strip = tmp_path / f"two{suffix}", tmp_path / "two.png"
    command = ["watch", "GPBandit-GP-v0", "gp-ucb", "gp-ei", "--out", str(path), "--frames", "3"]
    command += ["--options", '{"width": 2.0}', "--options", "{}", "--strip", str(strip), "--round", "2"]
    code, out, _ = called(capsys, *command, "--kwargs", '{"num_arms": 20, "horizon": 8}')
    assert code == 0
    assert "3 pictures" in out
    assert path.stat().st_size > 1000
    with Image.open(strip) as picture:
        assert picture.width > 1000


@pytest.mark.parametrize("agent", ["gp-agent", "gp-ucb"])
def test_the_legend_of_a_picture_ends_before_its_edges(agent):
    picture, _ = frames("GPBandit-Composite-v0", agent, count=2, env_kwargs={"horizon": 6})
    assert picture[-60:].min() < 100
    assert (picture[:, :4] == 255).all()
    assert (picture[:, -4:] == 255).all()


def test_more_pictures_than_rounds_are_a_picture_of_each_round():
    assert len(shown_of("random", 10**12, num_arms=5, horizon=4)) == 5


def test_on_a_box_the_band_and_the_acquisition_are_those_of_the_agent_too():
    keywords = {"continuous": True, "horizon": 5}
    light = {"width": 3.0, "search": {"candidates": 64, "starts": 2, "steps": 5}}
    shown = shown_of(("gp-ucb", light), 6, **keywords)
    follow = []
    for scene in shown[:-1]:
        assert scene.belief is not None
        assert scene.scores is not None
        assert scene.following is not None
        assert scene.half is not None
        np.testing.assert_allclose(scene.half, 3.0 * scene.belief[1])
        nearest = np.abs(scene.features - scene.following).argmin()
        assert scene.scores[nearest] >= scene.scores.max() - 0.05
        follow.append(2.0 * scene.following - 1.0)
    assert shown[-1].scores is None
    assert shown[-1].belief is not None
    assert np.ptp(shown[-1].belief[1]) > 0.1  # it has learnt somewhere
    played = evaluate("GPBandit-GP-v0", {"it": ("gp-ucb", light)}, trials=1, env_kwargs=keywords)
    np.testing.assert_allclose(played.actions["it"][0], follow, atol=1e-6)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("agent", ["config", "constrained-ei", "gp-ucb"])
def test_on_a_box_with_costs_the_beliefs_are_of_the_reward_and_of_each_modelled_cost(agent):
    shown = shown_of(agent, 9, "GPBandit-SmallFeasibleRegion-v0", horizon=8, continuous=True)
    last = shown[-1]
    assert last.belief is not None
    assert len(last.cost_beliefs) == (0 if agent == "gp-ucb" else len(last.costs))
    nearest = [np.square(last.features - play).sum(axis=1).argmin() for play in last.plays]
    values = [last.truth, *last.costs][: 1 + len(last.cost_beliefs)]
    for (mean, std), truth in zip([last.belief, *last.cost_beliefs], values, strict=True):
        assert mean.shape == std.shape == truth.shape
        assert np.ptp(std) > 0.1 * std.max()
        error = np.abs(mean - truth)[nearest]
        assert (error < 0.5 * np.ptp(truth)).all()
    assert last.half is None  # the picture says that the band is of 2 std


@pytest.mark.long
def test_the_command_writes_a_gif_and_a_strip_of_the_named_rounds(tmp_path, capsys):
    strip = tmp_path / "new" / "strip.pdf"
    command = ["watch", "GPBandit-GP-v0", "gp-ucb", "--gif", tmp_path / "it.gif", "--frames", "5"]
    command += ["--strip", strip, "--round", "1", "--round", "3", "--kwargs", json.dumps(KWARGS)]
    code, out, _ = called(capsys, *command)
    assert code == 0
    assert "5 pictures" in out
    assert strip.read_bytes().startswith(b"%PDF")
    with Image.open(tmp_path / "it.gif") as film:
        assert (film.n_frames, film.size) == (5, (640, 480))


@pytest.fixture(scope="module")
def short_film():
    return watch("GPBandit-GP-v0", "random", count=3, env_kwargs={"num_arms": 5, "horizon": 2})


@pytest.mark.parametrize("rounds", [2, 2.0, "2", [], [30], [1.5], ["1"], None, [[1]]])
def test_a_strip_of_what_is_no_list_of_rounds_says_what_is_expected(rounds, short_film):
    with pytest.raises(ValueError, match=r"rounds must be a list of some of 1\.\.3, got"):
        short_film.strip(rounds)
    assert short_film.strip(range(1, 3)).axes


@pytest.mark.parametrize("count", [2.5, 1, 0, -3, "many", None, True])
def test_a_count_of_pictures_is_an_integer_from_2_on(count):
    with pytest.raises(ValueError, match="count must be an integer of at least 2, the first and the last"):
        watch("GPBandit-GP-v0", "random", count=count)


@pytest.mark.parametrize("dim", [1, 2])
def test_markers_are_whole_on_the_edge_of_a_plane_and_take_no_space_and_lines_end_at_their_axes(dim):
    """Rewards may lie outside of an axis, points of a plane may not."""
    keywords = {"horizon": 4, "dim": dim, "num_arms": 16}
    figure = watch("GPBandit-GP-v0", "random", count=2, env_kwargs=keywords).strip([2, 4])
    marks = {line.get_label(): line for line in figure.axes[0].lines}
    assert {"observed", "optimum", "next play"} <= set(marks)
    for label in ("observed", "optimum", "next play"):
        assert marks[label].get_clip_on() == (dim == 1)
        assert marks[label].get_in_layout() == (dim == 1)


SAFE = {"num_arms": 20, "horizon": 60, "safe_seed": True}

# They have a model of a penalised sum, or none.
SILENT = {"bandit-oco", "gp-ucb-noiseless-constraints", "gp-ucb-noisy-constraints", "random"}
KEEPING = [name for name in BATCHED if agents.features(name).constraint]
SILENT |= {name for name in KEEPING if isinstance(resolve_agent(name)(WITH_ALL), ReferenceAgent)}


def last_scene(name, **options):
    *_, (env, player, *_) = moments(FilmedTrial("GPBandit-Constrained-v0", 0, 2, SAFE), (name, options))
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
