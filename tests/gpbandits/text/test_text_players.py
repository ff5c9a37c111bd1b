"""Text players meet agents on the same trials, and what they say is read strictly and kept."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from players import FirstArm

from bandit_envs import BanditEnv
from gpbandits import check_agent, evaluate, trial_seeds
from gpbandits.experiments import AgentEntry, EnvironmentEntry, Store, Study, run
from gpbandits.text import (
    Exchange,
    ReplayedPlayer,
    TextGame,
    TextPlayer,
    UnreadableAnswerError,
    read_transcript,
)

ID = "GPBandit-GP-v0"
SMALL = {"num_arms": 6, "horizon": 8}
SETTING = BanditEnv("gp", **SMALL).setting
PLACES = {
    "plain": (ID, SMALL),
    "box": ("GPBandit-RKHS-v0", {"continuous": True, "dim": 2, "horizon": 6}),
    "missing arms": (ID, SMALL | {"availability": {"law": "bernoulli", "p": 0.5}}),
    "late": ("GPBandit-Delayed-v0", SMALL | {"delay": {"law": "poisson", "mean": 2}, "max_delay": 3}),
    "all": ("GPBandit-Composite-v0", {"num_arms": 6, "horizon": 20}),
    "budget": ("GPBandit-Budget-v0", {"num_arms": 6, "horizon": 9, "budget": {"law": "gp", "budget": 3}}),
}


def speak(prompt):
    """Walk over all that may be played, by what the prompt says alone."""
    now = int(re.findall(r"Now: round (\d+) of", prompt)[0])
    if box := re.search(r"A point has (\d+) numbers", prompt):
        return "PLAY: " + ", ".join([f"{0.1 * (now % 10):.1f}"] * int(box[1]))
    available = re.search(r"Available arms: (.+)\.", prompt)
    arms = available[1].split(", ") if available else re.findall(r"^(\d+): \(", prompt, re.MULTILINE)
    return f"Round {now}.\n**PLAY: {arms[now % len(arms)]}**"


class Doing(FirstArm):
    """Play as `speak` does, without a word in between."""

    def reset(self, seed):
        self.t, self.mask = 0, None

    def start(self, info):
        self.mask = info["action_mask"]

    def act(self, observation):
        if self.setting.continuous:
            return self.setting.to_action([round(0.1 * ((self.t + 1) % 10), 1)] * self.setting.dim)
        arms = np.arange(len(self.setting.arms)) if self.mask is None else np.flatnonzero(self.mask)
        return int(arms[(self.t + 1) % len(arms)])

    def update(self, observation, action, reward, info):
        self.t, self.mask = self.t + 1, info.get("action_mask")


@pytest.mark.long
def test_a_text_player_passes_the_check_of_agents():
    check_agent((TextPlayer, {"speak": speak}))


@pytest.mark.parametrize("place", PLACES)
def test_a_player_in_words_is_the_same_player_without(place):
    env_id, keywords = PLACES[place]
    players = {"words": (TextPlayer, {"speak": speak}), "deeds": Doing}
    result = evaluate(env_id, players, trials=2, seed=3, env_kwargs=keywords)
    for key in ("regret", "cost", "violation"):
        words, deeds = (getattr(result.records[name], key) for name in players)
        np.testing.assert_array_equal(words, deeds)


@pytest.mark.parametrize("place", PLACES)
def test_a_game_is_the_trial_that_evaluate_plays(place):
    env_id, keywords = PLACES[place]
    result = evaluate(env_id, {"it": (TextPlayer, {"speak": speak})}, trials=2, seed=5, env_kwargs=keywords)
    for trial in range(2):
        game = TextGame(env_id, seed=5, trial=trial, env_kwargs=keywords)
        while not game.finished:
            game.tell(speak(game.ask()))
        made = len(game.regret)
        np.testing.assert_array_equal(game.regret, result.records["it"].regret[trial, :made])
        np.testing.assert_array_equal(game.violation, result.records["it"].violation[trial, :made])
        assert (made < keywords["horizon"]) == (place == "budget")


def test_a_finished_game_takes_no_answer():
    game = TextGame(ID, env_kwargs={"num_arms": 3, "horizon": 1})
    game.tell("PLAY: 0")
    for more in (game.ask, lambda: game.tell("PLAY: 0")):
        with pytest.raises(RuntimeError, match="finished"):
            more()


def test_the_prompt_states_plays_feedback_and_what_is_pending():
    game = TextGame("GPBandit-Delayed-v0", env_kwargs=PLACES["late"][1])
    for _ in range(7):
        game.tell(speak(game.ask()))
    prompt = game.ask()
    assert "You play a bandit of 8 rounds" in prompt
    assert "Feedback arrives up to 3 rounds after its round" in prompt
    assert len(re.findall(r"^round \d+: arm \d", prompt, re.MULTILINE)) == 7
    assert "feedback pending" in prompt
    assert re.search(r"reward -?\d", prompt)
    assert prompt == game.ask()


def test_a_prompt_may_list_the_latest_rounds_alone():
    game = TextGame(ID, env_kwargs=SMALL, latest=2)
    for _ in range(5):
        game.tell("PLAY: 1")
    assert "Rounds 1 to 3 are left out." in game.ask()
    assert re.findall(r"^round (\d+):", game.ask(), re.MULTILINE) == ["4", "5"]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("", "no line starts with PLAY:"),
        ("I play 3", "no line starts with PLAY:"),
        ("PLAY: arm three", "whole number from 0 to 5"),
        ("PLAY: 2.0", "whole number from 0 to 5"),
        ("PLAY: -1", "whole number from 0 to 5"),
        ("PLAY: 6", "there is no arm 6"),
        ("PLAY: 99999999999999999999999", "there is no arm"),
        ("PLAY: 1\nPLAY: 1 or 2", "whole number from 0 to 5"),
    ],
)
def test_an_answer_that_names_no_arm_is_asked_for_again_with_the_reason(answer, reason):
    game = TextGame(ID, env_kwargs=SMALL, retries=1)
    game.tell(answer)
    assert reason in game.ask()
    assert game.unreadable == 1
    assert len(game.regret) == 0
    game.tell("PLAY: 3")
    assert len(game.regret) == 1
    assert "could not be read" not in game.ask()


@pytest.mark.parametrize(
    "answer", ["PLAY: 0.5", "PLAY: 0.5, x", "PLAY: 0.5, 1.5", "PLAY: nan, 0", "PLAY: 1e400, 0"]
)
def test_an_answer_that_names_no_point_of_the_box_is_asked_for_again(answer):
    game = TextGame("GPBandit-RKHS-v0", env_kwargs=PLACES["box"][1])
    game.tell(answer)
    assert "Answer again." in game.ask()


def test_a_missing_arm_is_not_played():
    game, missing = TextGame(ID, env_kwargs=PLACES["missing arms"][1]), []
    while not missing:
        game.tell(speak(game.ask()))
        (available,) = re.findall(r"Available arms: (.+)\.", game.ask())
        missing = sorted({*map(str, range(6))} - {*available.split(", ")})
    game.tell(f"PLAY: {missing[0]}")
    assert f"arm {missing[0]} is not available in this round" in game.ask()


def test_answers_that_stay_unreadable_end_the_run():
    asked = []

    def mumble(prompt):
        asked.append(prompt)
        return "perhaps"

    with pytest.raises(UnreadableAnswerError, match=r"3 unreadable answers in round 1.*fallback"):
        evaluate(ID, {"it": (TextPlayer, {"speak": mumble})}, trials=1, env_kwargs=SMALL)
    assert len(asked) == 3
    assert "could not be read" in asked[1]


@pytest.mark.parametrize("place", ["plain", "missing arms", "box"])
def test_a_stated_fallback_plays_at_random_warns_and_is_marked(place, tmp_path):
    env_id, keywords = PLACES[place]
    mumbling = {"speak": lambda prompt: "perhaps", "fallback": "random", "transcript": str(tmp_path)}
    with pytest.warns(UserWarning, match="a random play replaces it"):
        first = evaluate(env_id, {"it": (TextPlayer, mumbling)}, trials=1, env_kwargs=keywords)
    exchanges = read_transcript(tmp_path)
    assert [each.fallback for each in exchanges] == [False, False, True] * keywords["horizon"]
    assert all(each.unreadable and (each.action is not None) == each.fallback for each in exchanges)
    with pytest.warns(UserWarning, match="a random play replaces it"):
        again = evaluate(
            env_id, {"it": (TextPlayer, mumbling | {"transcript": None})}, trials=1, env_kwargs=keywords
        )
    np.testing.assert_array_equal(first.regret["it"], again.regret["it"])


def test_a_transcript_has_every_exchange_and_repeats_the_run(tmp_path):
    rng = np.random.default_rng(0)

    def whim(prompt):
        return f"PLAY: {rng.integers(-1, 6)}"  # -1 cannot be read

    player = (TextPlayer, {"speak": whim, "retries": 9, "transcript": str(tmp_path / "all")})
    result = evaluate(ID, {"it": player}, trials=3, seed=2, env_kwargs=SMALL)
    names = {f"{trial_seeds(2, i)[1]}.jsonl" for i in range(3)}
    assert {path.name for path in (tmp_path / "all").iterdir()} == names
    exchanges = read_transcript(tmp_path / "all")
    assert sum(each.action is not None for each in exchanges) == 3 * SMALL["horizon"]
    assert any(each.unreadable for each in exchanges)
    replayed = (ReplayedPlayer, {"transcript": str(tmp_path / "all"), "retries": 9})
    again = evaluate(ID, {"it": replayed}, trials=3, seed=2, env_kwargs=SMALL)
    np.testing.assert_array_equal(again.regret["it"], result.regret["it"])


def test_a_transcript_is_neither_overwritten_nor_replayed_on_another_problem(tmp_path):
    player = (TextPlayer, {"speak": speak, "transcript": str(tmp_path)})
    evaluate(ID, {"it": player}, trials=1, env_kwargs=SMALL)
    with pytest.raises(ValueError, match=r"never overwritten.*give each player a folder of its own"):
        evaluate(ID, {"it": player}, trials=1, env_kwargs=SMALL)
    replayed = {"it": (ReplayedPlayer, {"transcript": str(tmp_path)})}
    with pytest.raises(ValueError, match="transcript must be one of this problem"):
        evaluate(ID, replayed, trials=1, env_kwargs=SMALL | {"num_arms": 5})
    with pytest.raises(ValueError, match="path must be a transcript"):
        evaluate(ID, replayed, trials=2, env_kwargs=SMALL)


class Spoken(TextPlayer):
    """A player of a study, which may be interrupted."""

    asked = 0
    interrupted_at = 0

    def __init__(self, setting, transcript):
        super().__init__(setting, self._answer, transcript=transcript)

    @classmethod
    def _answer(cls, prompt):
        cls.asked += 1
        if cls.asked == cls.interrupted_at:
            raise KeyboardInterrupt
        return speak(prompt)


def test_a_study_keeps_cells_of_a_player_and_an_interrupted_trial_begins_anew(tmp_path, monkeypatch):
    place, player = EnvironmentEntry(ID, "GP", SMALL), f"{__name__}:Spoken"
    agents = (AgentEntry(player, "it", {"transcript": str(tmp_path / "said")}),)
    study, store = Study("text", 2, (place,), agents, block_size=1), Store(tmp_path / "cells")
    monkeypatch.setattr(Spoken, "interrupted_at", SMALL["horizon"] + 3)
    with pytest.raises(KeyboardInterrupt):
        run(study, store, 1)
    (failed,) = run(study, store, 1)
    cut_off = tmp_path / "said" / f"{trial_seeds(0, 1)[1]}.jsonl"
    assert f"never overwritten, got {cut_off}; move it" in failed.reason
    assert len(read_transcript(cut_off)) == 2
    cut_off.rename(tmp_path / "cut off")
    assert run(study, store, 1) == []
    assert Spoken.asked == SMALL["horizon"] + 3 + SMALL["horizon"]  # the first trial was kept
    assert len(read_transcript(tmp_path / "said")) == 2 * SMALL["horizon"]


LINE = {
    **{"seed": 1, "round": 1, "attempt": 1, "prompt": "?", "answer": "PLAY: 1", "action": 1},
    **{"unreadable": None, "fallback": False},
}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{}", "an exchange without 'action'"),
        ("", "Expecting value"),
        ("[1]", "must be a dict, got [1]"),
        (json.dumps(LINE)[:40], "may be removed"),
        (json.dumps(LINE | {"more": 1}), "an exchange with 'more'"),
        (json.dumps(LINE | {"prompt": None}), "prompt of an exchange in the file must be text, got None"),
        (json.dumps(LINE | {"round": "1"}), "round of an exchange in the file must be an integer, got '1'"),
        ("\udcff", "codec can't decode"),
        ("[" * 100_000, "recursion"),
    ],
)
def test_a_line_that_is_no_exchange_is_named(tmp_path, line, reason):
    path = tmp_path / "game.jsonl"
    path.write_text(f"{json.dumps(LINE)}\n{line}\n", errors="surrogateescape")
    with pytest.raises(ValueError, match=re.escape(reason)) as caught:
        read_transcript(path)
    assert f"line 2 of {path} must be an exchange" in str(caught.value)
    path.write_text(json.dumps(LINE))
    assert read_transcript(path) == [Exchange(**LINE)]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: TextPlayer(SETTING, 3), "speak must be"),
        (lambda: TextPlayer(SETTING, speak, retries=-1), "retries must be"),
        (lambda: TextPlayer(SETTING, speak, fallback="guess"), "fallback must be"),
        (lambda: TextPlayer(SETTING, speak, latest=0), "latest must be"),
        (lambda: TextPlayer(SETTING, speak, max_arms=5), "max_arms must be at least 6"),
        (
            lambda: evaluate(ID, {"it": (TextPlayer, {"speak": len})}, trials=1, env_kwargs=SMALL),
            "what speak returns must be",
        ),
        (lambda: TextGame(ID, retry=3), "unknown option 'retry' of a game.*did you mean 'retries'"),
        (lambda: TextGame(ID, setting=None), "unknown option 'setting'"),
        (lambda: TextGame(ID, env_kwargs=[1]), "env_kwargs must be None or a dict"),
        (lambda: TextGame(ID, env_kwargs={1: 2}), "env_kwargs must be None or a dict"),
        (lambda: TextGame(ID, transcript=3), "transcript must be None or the path of a file, got 3"),
        (lambda: TextGame(ID, seed="x"), "seed must be"),
        (lambda: TextGame(ID, env_kwargs=SMALL).tell(3), "answer must be text, got 3"),
        (lambda: ReplayedPlayer(SETTING, "said", retry=3), "unknown option 'retry' of a replayed player"),
        (lambda: ReplayedPlayer(SETTING, "said", speak=speak), "unknown option 'speak'"),
        (lambda: ReplayedPlayer(SETTING, 3), "transcript must be the path of a folder, got 3"),
        (lambda: read_transcript(3), "path must be a transcript or a folder with some, got 3"),
    ],
)
def test_wrong_calls_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_sums_of_feedback_are_refused():
    late = SMALL | {"delay": {"law": "poisson", "mean": 2}, "aggregated": True}
    with pytest.raises(ValueError, match="aggregated"):
        evaluate(ID, {"it": (TextPlayer, {"speak": speak})}, trials=1, env_kwargs=late)


def test_a_player_is_offered_the_arms_that_a_user_allows():
    prompts = []
    player = TextPlayer(SETTING, lambda prompt: prompts.append(prompt) or speak(prompt))
    player.reset(0)
    assert player.offer(np.arange(6) % 3 == 1)
    assert player.act(np.zeros(1)) in (1, 4)
    assert "Available arms: 1, 4." in prompts[0]
    box = TextPlayer(BanditEnv("rkhs", continuous=True, dim=2, horizon=6).setting, speak)
    assert not box.offer(np.ones(6, dtype=bool))
