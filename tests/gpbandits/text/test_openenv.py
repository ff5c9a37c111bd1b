"""The package for OpenEnv is loaded by its library and plays trials that its rubric scores by regret."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest
from players import FirstArm

from gpbandits import evaluate
from gpbandits.text import TextGame

ROOT = Path(__file__).parents[3]
PACKAGE = ROOT / "tools" / "integrations" / "openenv" / "gpbandits_text"
SMALL = {"num_arms": 5, "horizon": 4}
# Warnings of the library's own dependencies are not ours.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")


def test_the_score_of_a_game_is_1_of_the_best_plays_and_0_of_the_worst():
    totals, scores = [], []
    for arm in range(5):
        game = TextGame("GPBandit-GP-v0", seed=0, trial=0, env_kwargs=SMALL)
        assert game.score == 1.0  # nothing was played
        while not game.finished:
            game.tell(f"PLAY: {arm}")
        totals.append(game.regret.sum())
        scores.append(game.score)
    assert max(scores) == pytest.approx(1.0)
    np.testing.assert_allclose(scores, 1.0 - np.array(totals) / max(totals), atol=1e-12)


@pytest.fixture
def package(monkeypatch):
    pytest.importorskip("openenv.core", reason="openenv-core is not installed", exc_type=ImportError)
    monkeypatch.syspath_prepend(str(PACKAGE))
    yield importlib.import_module("gpbandits_text")
    for name in [each for each in sys.modules if each.split(".")[0] in ("gpbandits_text", "server")]:
        del sys.modules[name]


class Two(FirstArm):
    def act(self, observation):
        return 2


@pytest.mark.parametrize("name", ["GPBandit-GP-v0", "GPBandit-Delayed-v0"])
def test_its_library_plays_an_episode_that_the_rubric_scores_by_regret(package, name):
    env = package.load_environment(name, env_kwargs=SMALL)
    regret = evaluate(name, {"two": Two}, trials=3, seed=5, env_kwargs=SMALL).regret["two"]
    for trial in range(3):
        seen, rewards = env.reset(seed=5), []
        while not seen.done:
            assert "PLAY:" in seen.prompt
            seen = env.step(package.Answer(answer="I think.\nPLAY: 2"))
            rewards.append(seen.reward)
        assert env.state.step_count == len(rewards) == 4
        assert rewards[:-1] == [0.0] * 3
        assert rewards[-1] == env.rubric.last_score == env.game.score
        assert env.game.regret.sum() == pytest.approx(regret[trial, -1])
        assert "regret" not in repr(env.state) + repr(seen.metadata)


def test_an_answer_that_cannot_be_read_is_asked_for_again(package):
    env = package.load_environment(env_kwargs=SMALL)
    env.reset(seed=0, trial=1)
    seen = env.step(package.Answer(answer="the third"))
    assert "could not be read" in seen.prompt
    assert not seen.done


def test_its_server_plays_an_episode(package):
    testclient = pytest.importorskip("fastapi.testclient")
    app = importlib.import_module("server.app").app
    with testclient.TestClient(app) as client, client.websocket_connect("/ws") as socket:
        socket.send_json({"type": "reset", "data": {"seed": 0, "trial": 0}})
        reply = socket.receive_json()
        for _ in range(10):
            assert "PLAY:" in str(reply)
            socket.send_json({"type": "step", "data": {"answer": "PLAY: 1"}})
            reply = socket.receive_json()
        assert reply["data"]["done"] is True
        game = TextGame("GPBandit-GP-v0", seed=0, trial=0, env_kwargs=package.SMALL)
        while not game.finished:
            game.tell("PLAY: 1")
        assert reply["data"]["reward"] == pytest.approx(game.score)
