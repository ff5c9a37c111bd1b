"""Films of a trial: pictures, panels of costs, and files."""

from __future__ import annotations

import re
from base64 import b64decode
from importlib.util import find_spec
from io import BytesIO
from shutil import which

import numpy as np
import pytest
from agent_cases import BATCHED, WITH_ALL, of_each_shape
from matplotlib.figure import Figure
from pages import browser, needs_browser
from PIL import Image
from scipy.spatial.distance import cdist

import agents
from agents.agent.reference_agent import ReferenceAgent
from agents.registry import resolve_agent
from bandit_envs.environment.making import make
from bandit_envs.rendering.picture import draw_cost_plane
from bandit_envs.rendering.scene import Scene
from gpbandits import cli, evaluate, watch
from gpbandits.report import film_files
from gpbandits.report.film import frames, moments, scenes

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


@pytest.mark.long
def test_a_strip_has_a_column_a_round_and_names_the_rounds_that_there_are():
    film = watch("GPBandit-GP-v0", "gp-ucb", count=9, env_kwargs=KWARGS)
    figure = film.strip([2, 5])
    assert [axes.get_title() for axes in figure.axes] == ["round 2", "round 5", "", ""]
    with pytest.raises(ValueError, match=r"rounds must be a list of some of 1\.\.\d+, got \[300\]"):
        film.strip([300])


COSTLY = {"num_arms": 20, "horizon": 60, "safe_seed": True}

# They have a model of a penalised sum, or none.
SILENT = {"bandit-oco", "gp-ucb-noiseless-constraints", "gp-ucb-noisy-constraints", "random"}
KEEPING = [name for name in BATCHED if agents.features(name).constraint]
SILENT |= {name for name in KEEPING if isinstance(resolve_agent(name)(WITH_ALL), ReferenceAgent)}


def last_scene(name, **options):
    *_, (env, player, *_) = moments("GPBandit-Constrained-v0", (name, options), 0, 2, COSTLY)
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


BRIEF = {"num_arms": 20, "horizon": 8}
needs_ffmpeg = pytest.mark.skipif(
    which("ffmpeg") is None and find_spec("imageio_ffmpeg") is None, reason="no ffmpeg on this machine"
)


@pytest.fixture(scope="module")
def film():
    return watch("GPBandit-GP-v0", "gp-ucb", count=4, env_kwargs=BRIEF, start=3, fps=4)


def test_a_film_begins_with_the_round_that_is_wanted(film):
    assert [scene.total + 1 for scene in film.scenes] == [3, 5, 7, 9]
    whole = watch("GPBandit-GP-v0", "gp-ucb", count=9, env_kwargs=BRIEF)
    assert film.scenes[0].plays.tolist() == whole.scenes[2].plays.tolist()


def test_a_page_holds_every_picture(film, tmp_path):
    film.save(tmp_path / "new" / "it.html")
    page = (tmp_path / "new" / "it.html").read_text()
    pictures = re.findall(r'^(?:const pictures = \[)?"data:image/png;base64,([^"]+)"', page, re.MULTILINE)
    assert len(pictures) == film.length == 4
    with Image.open(BytesIO(film.gif)) as gif:
        for i, each in enumerate(pictures):
            gif.seek(i)
            with Image.open(BytesIO(b64decode(each))) as picture:
                assert picture.convert("RGB").tobytes() == gif.convert("RGB").tobytes()
    assert "http" not in page  # it needs no other file


def test_a_title_is_no_markup(film):
    page = film_files.slider_page(film.gif, 2.0, "<b>mine</b> & others")
    assert "<b>" not in page
    assert "&lt;b&gt;mine" in page


@pytest.mark.long
@needs_browser
@pytest.mark.parametrize("width", [390, 1280])
def test_the_slider_shows_the_pictures_in_a_browser(film, width, tmp_path):
    film.save(tmp_path / "it.html")
    with browser(tmp_path / "profile") as opened:
        metrics = {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": width < 600}
        opened.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        opened.get((tmp_path / "it.html").as_uri())
        seen = set()
        for value in range(1, 5):
            opened.execute_script(f"slider.value = {value}; slider.oninput()")
            seen.add(opened.execute_script("return picture.src"))
            assert opened.execute_script("return number.value") == f"{value} of 4"
        assert len(seen) == 4
        needed = opened.execute_script("return document.documentElement.scrollWidth")
        assert needed <= width
        opened.execute_script("play.onclick()")
        assert opened.execute_script("return [play.textContent, number.value]") == ["Pause", "1 of 4"]


@needs_ffmpeg
def test_a_video_has_a_frame_for_each_picture(film, tmp_path):
    film.save(tmp_path / "it.mp4")
    content = (tmp_path / "it.mp4").read_bytes()
    assert content[4:8] == b"ftyp"
    (count,) = {int.from_bytes(content[i + 12 : i + 16], "big") for i in places(content, b"stsz")}
    assert count == film.length


def places(content, name):
    return [each.start() for each in re.finditer(name, content)]
