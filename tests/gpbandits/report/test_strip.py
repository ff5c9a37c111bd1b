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


def test_a_strip_of_a_plane_is_refused_and_its_film_is_shown(tmp_path):
    film = watch("GPBandit-Rosenbrock-v0", "random", count=2, env_kwargs={"horizon": 2})
    with pytest.raises(
        ValueError, match=r"a strip must be of arms with one feature, .*; a GIF shows two, got"
    ):
        film.strip([1])
    film.save(tmp_path / "it.gif")
    assert (tmp_path / "it.gif").stat().st_size > 10_000
