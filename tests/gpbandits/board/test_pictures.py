"""The page of pictures: a person's clicks are the tuner's answers, and a closed page loses none."""

from __future__ import annotations

import errno
import json
import os
import threading
import urllib.error
import urllib.request
from contextlib import contextmanager

import pytest
from pages import browser, needs_browser
from slow_runs import until

from agents import Linear
from agents.tuning import PreferenceTuner
from gpbandits.board.pictures import SPACE

pytest.importorskip("uvicorn", reason="the extra `board` is not installed")
import uvicorn

from gpbandits.board.app import HOST
from gpbandits.board.pictures import OpenQuestion, make_pictures

JSON = {"Content-Type": "application/json"}


def liked(point):
    brightness, contrast = point
    return -8.0 * ((brightness - 1.2) ** 2 + (contrast - 1.4) ** 2)


def answer(state):
    first, second = (liked(state["points"][k]) for k in state["pair"])
    return {"ticket": state["ticket"], "winner": "first" if first > second else "second"}


@contextmanager
def served(file):
    """The address of a page on a tuner's file."""
    config = uvicorn.Config(make_pictures(file), host=HOST, port=0, log_level="warning", ws="none")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        until(lambda: server.started)
        yield "http://{}:{}".format(*server.servers[0].sockets[0].getsockname())
    finally:
        server.should_exit = True
        thread.join(30)


@pytest.fixture
def client(tmp_path):
    """Asks a page: status and content of the answer to a path, or to an answer that is posted."""
    with served(tmp_path / "tuner.json") as address:

        def ask(path, text=None, **headers):
            data = None if text is None else text.encode()
            request = urllib.request.Request(address + path, data, {**JSON, **headers})
            try:
                with urllib.request.urlopen(request, timeout=60) as got:
                    return got.status, json.load(got)
            except urllib.error.HTTPError as error:
                with error:
                    return error.code, error.read().decode()

        yield ask


@pytest.mark.long
def test_the_page_finds_what_a_person_likes(client, tmp_path):
    state = client("/question")[1]
    assert state["best"] is None
    for count in range(1, 41):
        state = client("/answer", json.dumps(answer(state)))[1]
        assert len(state["told"]) == count
    best = sorted(map(liked, state["points"]))[-12]
    assert liked(state["points"][state["best"]]) >= best
    assert state["mean"][state["best"]] == max(state["mean"]) == 0.0
    kept = PreferenceTuner.load(tmp_path / "tuner.json")
    assert [[*each.pair, each.outcome] for each in kept.questions[:40]] == state["told"]


def test_a_page_that_is_opened_again_asks_the_question_that_was_open(client, tmp_path):
    state = client("/question")[1]
    state = client("/answer", json.dumps(answer(state)))[1]
    assert client("/question")[1] == state
    assert OpenQuestion(tmp_path / "tuner.json").state() == state


def test_an_answer_to_an_earlier_question_is_kept_too(tmp_path):
    earlier = OpenQuestion(tmp_path / "tuner.json")
    earlier.tuner.ask()
    earlier.tuner.ask()
    earlier.answer(b'{"ticket": 0, "winner": "second"}')
    assert PreferenceTuner.load(tmp_path / "tuner.json").questions[0].outcome == 0.0


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"ticket": 7, "winner": "first"}', "ticket must be of a question"),
        ('{"ticket": 0, "winner": "left"}', "winner must be 'first'"),
        ("[1]", "an answer must be an object of ticket and winner"),
        ("no", "Expecting value"),
    ],
)
def test_a_bad_answer_is_refused_and_changes_nothing(client, text, said):
    before = client("/question")[1]
    status, refused = client("/answer", text)
    assert status == 400
    assert said in json.loads(refused)["error"]
    assert client("/question")[1] == before


def no_space(*arguments):
    raise OSError(errno.ENOSPC, "No space left on device")


def test_an_answer_and_a_question_that_cannot_be_written_have_not_happened(tmp_path, monkeypatch):
    page = OpenQuestion(tmp_path / "tuner.json")
    with monkeypatch.context() as full:
        full.setattr(os, "fsync", no_space)
        with pytest.raises(ValueError, match=r"No space left.*the answer is not kept"):
            page.state()
    assert page.tuner.questions == []
    before = page.state()
    with monkeypatch.context() as full:
        full.setattr(os, "fsync", no_space)
        with pytest.raises(ValueError, match=r"No space left.*the answer is not kept"):
            page.answer(b'{"ticket": 0, "winner": "first"}')
    assert page.state() == before
    assert len(page.answer(b'{"ticket": 0, "winner": "first"}')["told"]) == 1


def test_a_second_page_on_the_file_shows_no_question_after_an_answer_that_it_cannot_keep(tmp_path):
    one, two = (OpenQuestion(tmp_path / "tuner.json") for _ in range(2))
    before = one.state(), two.state()
    one.answer(b'{"ticket": 0, "winner": "first"}')
    for _ in range(2):
        with pytest.raises(ValueError, match=r"would lose.*restart the page"):
            two.answer(b'{"ticket": 0, "winner": "first"}')
    assert two.state() == before[1]
    told = [each.outcome for each in PreferenceTuner.load(tmp_path / "tuner.json").questions]
    assert told == [1.0, None]


def test_a_deep_answer_is_refused(tmp_path):
    with pytest.raises(ValueError, match="an answer must be an object of ticket and winner"):
        OpenQuestion(tmp_path / "tuner.json").answer(b"[" * 10**5)


def test_a_long_answer_is_refused_before_it_is_read(client):
    before = client("/question")[1]
    status, refused = client("/answer", " " * 10**6)
    assert status == 413
    assert "at most 1000 bytes" in refused
    assert client("/question")[1] == before


def test_forms_of_other_sites_and_other_hosts_are_refused(client):
    client("/question")
    told = '{"ticket": 0, "winner": "first"}'
    assert client("/answer", told, **{"Content-Type": "text/plain"})[0] == 415
    assert client("/question", Host="evil.example")[0] == 400
    assert client("/question")[1]["told"] == []


def test_a_file_of_another_tuner_is_refused(tmp_path):
    PreferenceTuner({"x": Linear(0.0, 1.0)}, num_arms=8).save(tmp_path / "other.json")
    with pytest.raises(ValueError, match=f"FILE must be a tuner of {', '.join(SPACE)}, got one of x"):
        make_pictures(tmp_path / "other.json")


@pytest.mark.long
@needs_browser
@pytest.mark.parametrize("size", [(1280, 1500), (390, 844)], ids=["desktop", "phone"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_person_clicks_which_is_better(tmp_path, size, scheme):
    with served(tmp_path / "tuner.json") as address, browser(tmp_path / "p", *size, scheme) as opened:
        click(opened, address)
    told = [each.outcome for each in PreferenceTuner.load(tmp_path / "tuner.json").questions[:-1]]
    assert len(told) == 13
    assert told[-1] == 0.5


def click(opened, address):
    def find(css):
        return opened.find_element("css selector", css)

    def answered(count):
        until(lambda: find("#message").text.startswith(f"{count} answer") and find("#tie").is_enabled())

    opened.get(address)
    answered(0)
    for count in range(1, 13):
        state = opened.execute_script("return state")
        find(f"#{answer(state)['winner']}").click()
        answered(count)
    find("#tie").click()
    answered(13)
    assert len(opened.find_elements("css selector", "#mean circle:not(.ring)")) == 128
    assert len(opened.find_elements("css selector", "#mean .star")) == 1
    assert "brightness" in find("#recommended").text
    assert opened.execute_script("return document.documentElement.scrollWidth <= innerWidth")
