"""Films of agents at play."""

from io import BytesIO

import numpy as np
import pytest
from PIL import Image
from study_cases import called

from bandit_envs.rendering.scene import Limits, shared_limits
from gpbandits import cli, evaluate, watch
from gpbandits.report.film import frames, scenes

KWARGS = {"num_arms": 20, "horizon": 8}


class Noted:
    """An agent that keeps what it was shown and played."""

    played: list[int]

    def __init__(self, setting):
        Noted.played, Noted.keys = [], set()

    def reset(self, seed):
        self.rng = np.random.default_rng(seed)

    def act(self, observation):
        Noted.played.append(int(self.rng.integers(20)))
        return Noted.played[-1]

    def update(self, observation, action, reward, info):
        Noted.keys |= set(info)


@pytest.mark.long
def test_a_film_has_the_first_and_the_last_round_and_no_more_pictures_than_asked():
    assert len(list(frames("GPBandit-GP-v0", "gp-ucb", count=100, env_kwargs=KWARGS))) == 9
    pictures = list(frames("GPBandit-GP-v0", "gp-ucb", count=3, env_kwargs=KWARGS))
    assert len(pictures) == 3
    assert all(picture.shape == (480, 640, 3) for picture in pictures)
    assert not np.array_equal(pictures[0], pictures[-1])


def test_a_film_is_trial_0_of_an_evaluation_and_shows_the_agent_no_oracle():
    list(frames("GPBandit-GP-v0", Noted, seed=4, count=2, env_kwargs=KWARGS))
    filmed, keys = Noted.played, Noted.keys
    result = evaluate("GPBandit-GP-v0", {"noted": Noted}, trials=1, seed=4, env_kwargs=KWARGS)
    np.testing.assert_array_equal(result.actions["noted"][0], filmed)
    assert "feedback_mask" in keys
    assert "oracle" not in keys


@pytest.mark.long
def test_the_command_writes_a_gif_that_ends_with_the_last_round(tmp_path, capsys):
    path = tmp_path / "new" / "out.gif"
    command = ("watch", "GPBandit-GP-v0", "gp-ucb", "--gif", str(path), "--frames", "4")
    with pytest.raises(SystemExit) as stop:
        cli.main([*command, "--kwargs", '{"num_arms": 20, "horizon": 8}', "--options", '{"delta": 0.2}'])
    assert stop.value.code == 0
    assert "4 pictures" in capsys.readouterr().out
    with Image.open(path) as film:
        assert film.n_frames == 4
        assert film.size == (640, 480)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--gif", "out.png"], "must end in .gif"),
        (["--gif", "out.gif", "--kwargs", "[1]"], "--kwargs must be a JSON object"),
        (["--gif", "out.gif", "--options", "{"], "--options must be a JSON object"),
        (["--gif", "out.gif", "--options", "{}", "--options", "{}"], "--options must be given once an agent"),
        (["--gif", "out.gif", "--fps", "0"], "fps must be a positive number"),
    ],
)
def test_bad_input_is_one_line(arguments, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as stop:
        cli.main(["watch", "GPBandit-GP-v0", "gp-ucb", *arguments])
    assert stop.value.code == 2
    assert message in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_film_of_one_picture_is_refused():
    with pytest.raises(ValueError, match="count must be an integer of at least 2"):
        list(frames("GPBandit-GP-v0", "gp-ucb", count=1))


def test_what_is_no_bandit_is_refused_before_it_is_drawn():
    with pytest.raises(ValueError, match=r"environment must be a bandit, .*got <TimeLimit"):
        next(frames("CartPole-v1", "random"))


def test_an_agent_that_cannot_be_made_ends_a_command_in_one_line(tmp_path, monkeypatch, capsys):
    (tmp_path / "unmakeable.py").write_text("def agent(setting):\n    raise KeyError('boo')\n")
    monkeypatch.chdir(tmp_path)
    code, _, err = called(capsys, "watch", "GPBandit-GP-v0", "unmakeable:agent", "--gif", "a.gif")
    assert code == 2
    assert err.splitlines() == [
        "gpbandits: agent 'unmakeable:agent' for 'GPBandit-GP-v0' cannot be made: KeyError: 'boo' "
        "(--debug shows where)"
    ]


def test_a_scene_has_the_agents_own_band_its_scores_and_the_action_that_is_played():
    env_kwargs = {"num_arms": 20, "horizon": 8}
    shown = scenes("GPBandit-GP-v0", ("gp-ucb", {"width": 3.0}), seed=4, count=9, env_kwargs=env_kwargs)
    agent = {"it": ("gp-ucb", {"width": 3.0})}
    played = evaluate("GPBandit-GP-v0", agent, trials=1, seed=4, env_kwargs=env_kwargs)
    for scene, action in zip(shown[:-1], played.actions["it"][0], strict=True):
        mean, std = scene.belief
        np.testing.assert_allclose(scene.half, 3.0 * std)
        np.testing.assert_allclose(scene.scores, mean + 3.0 * std)
        assert scene.scores[action] >= scene.scores.max() - 1e-9
        np.testing.assert_array_equal(scene.following, scene.features[action])
        assert scene.title == "gp-ucb, width=3.0 on GPBandit-GP-v0"
    assert shown[-1].following is None


@pytest.mark.parametrize("continuous", [False, True])
def test_only_rounds_with_a_choice_have_an_acquisition_function(continuous):
    kwargs = {**({"continuous": True} if continuous else {"num_arms": 20}), "horizon": 4}
    shown = scenes("GPBandit-GP-v0", "gp-ucb", count=5, env_kwargs=kwargs)
    assert [scene.scores is None for scene in shown] == [scene.following is None for scene in shown]
    assert shown[0].scores is not None


@pytest.mark.parametrize("name", ["laplace-ucb", "laplace-ts"])
def test_a_film_of_clicks_has_beliefs_about_probabilities_and_no_band_of_log_odds(name):
    """What lies in [0, 1] has a std of 1/2 at most; that of log-odds is 1 before the first play."""
    for scene in scenes("GPBandit-Clicks-v0", name, count=3, env_kwargs={"num_arms": 12, "horizon": 8}):
        mean, std = scene.belief
        assert ((mean > 0.0) & (mean < 1.0) & (std <= 0.5)).all()
        assert scene.half is None


def test_all_pictures_of_a_film_have_the_same_axes():
    shown = scenes("GPBandit-GP-v0", "gp-ucb", count=9, env_kwargs=KWARGS)
    of_all, of_first = Limits.of(shown), Limits.of(shown[:1])
    for low, high in (of_all.reward, of_all.scores, of_all.regret):
        assert low < high
    assert of_all.regret[1] > of_first.regret[1]


def test_the_axis_of_rewards_is_that_of_the_data_however_wide_the_band_of_a_prior():
    shown = scenes("GPBandit-GP-v0", ("gp-ucb", {"width": 100.0}), count=9, env_kwargs=KWARGS)
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
        alone = scenes("GPBandit-GP-v0", agent, count=3, env_kwargs=KWARGS)
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


@pytest.mark.long
def test_a_strip_has_a_column_a_round_and_names_the_rounds_that_there_are():
    film = watch("GPBandit-GP-v0", "gp-ucb", count=9, env_kwargs=KWARGS)
    figure = film.strip([2, 5])
    assert [axes.get_title() for axes in figure.axes] == ["round 2", "round 5", "", ""]
    with pytest.raises(ValueError, match=r"rounds must be a list of some of 1\.\.\d+, got \[300\]"):
        film.strip([300])


def test_a_strip_of_rounds_without_a_frame_is_that_of_a_film_that_shows_them():
    few = watch("GPBandit-GP-v0", "gp-ucb", count=2, env_kwargs={"horizon": 12, "num_arms": 20})
    all_of_them = watch("GPBandit-GP-v0", "gp-ucb", count=13, env_kwargs={"horizon": 12, "num_arms": 20})
    assert len(few.scenes) == 2
    drawn = [film.strip([2, 5, 10]) for film in (few, all_of_them)]
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
    film = watch("GPBandit-GP-v0", "gp-ucb", count=9, env_kwargs=kwargs)
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
    keywords = {"num_arms": 5, "horizon": 4}
    shown = scenes("GPBandit-GP-v0", "random", count=10**12, env_kwargs=keywords)
    assert len(shown) == 5
