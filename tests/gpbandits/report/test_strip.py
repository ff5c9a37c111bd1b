"""Films of agents on boxes, and strips of a film for print, by the command too."""

import json

import numpy as np
import pytest

from gpbandits import cli, evaluate, watch
from gpbandits.report.film import scenes

KWARGS = {"num_arms": 20, "horizon": 8}


def test_on_a_box_the_band_and_the_acquisition_are_those_of_the_agent_too():
    keywords = {"continuous": True, "horizon": 5}
    light = {"width": 3.0, "search": {"candidates": 64, "starts": 2, "steps": 5}}
    shown = scenes("GPBandit-GP-v0", ("gp-ucb", light), count=6, env_kwargs=keywords)
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
    assert shown[-1].belief is not None
    assert np.ptp(shown[-1].belief[1]) > 0.1  # it has learnt somewhere
    played = evaluate("GPBandit-GP-v0", {"it": ("gp-ucb", light)}, trials=1, env_kwargs=keywords)
    np.testing.assert_allclose(played.actions["it"][0], follow, atol=1e-6)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("agent", ["config", "constrained-ei", "gp-ucb"])
def test_on_a_box_with_costs_the_beliefs_are_of_the_reward_and_of_each_modelled_cost(agent):
    keywords = {"horizon": 8, "continuous": True}
    shown = scenes("GPBandit-SmallFeasibleRegion-v0", agent, count=9, env_kwargs=keywords)
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


def command(folder, *more):
    base = ("watch", "GPBandit-GP-v0", "gp-ucb", "--gif", str(folder / "it.gif"), "--frames", "5")
    with pytest.raises(SystemExit) as stop:
        cli.main([*base, "--kwargs", json.dumps(KWARGS), *more])
    return stop.value.code


@pytest.mark.long
def test_the_command_writes_a_strip_of_the_named_rounds(tmp_path):
    strip = tmp_path / "new" / "strip.pdf"
    assert command(tmp_path, "--strip", str(strip), "--round", "1", "--round", "3") == 0
    assert strip.read_bytes().startswith(b"%PDF")


@pytest.mark.long
@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--strip", "out.pdf"], "--strip needs the rounds to show, each as --round"),
        (["--round", "1"], "--round needs a --strip"),
        (["--strip", "out.pdf", "--round", "10"], "rounds must be a list of some of 1..9, got [10]"),
    ],
)
def test_rounds_and_file_of_a_strip_belong_together(more, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert command(tmp_path, *more) == 2
    assert message in " ".join(capsys.readouterr().err.split())
    assert not list(tmp_path.iterdir())  # no film either


@pytest.fixture(scope="module")
def short_film():
    return watch("GPBandit-GP-v0", "random", count=3, env_kwargs={"num_arms": 5, "horizon": 2})


@pytest.mark.parametrize("rounds", [2, 2.0, "2", [], [30], [1.5], ["1"], None, [[1]]])
def test_a_strip_of_what_is_no_list_of_rounds_says_what_is_expected(rounds, short_film):
    with pytest.raises(ValueError, match=r"rounds must be a list of some of 1\.\.3, got"):
        short_film.strip(rounds)


def test_rounds_of_a_strip_may_be_a_range(short_film):
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
