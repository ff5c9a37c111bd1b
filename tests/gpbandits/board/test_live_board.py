"""The live board, as a process of its own, clicked through in a browser."""

from __future__ import annotations

import dataclasses
import json
import shutil
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import urlencode

import pytest
from pages import browser, needs_browser
from slow_runs import answers, is_alive, until
from study_cases import PAIR

from gpbandits.board.app import Choice, film, state_of
from gpbandits.experiments import AgentEntry, open_results
from gpbandits.experiments.toml import study_text

TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
STUDY = dataclasses.replace(PAIR, agents=(AgentEntry("config", "config"), PAIR.agents[1]))

pytest.importorskip("uvicorn", reason="the extra `board` is not installed")


def asked(address, path, **query):
    """Status and content of an answer."""
    try:
        with urllib.request.urlopen(f"{address}{path}?{urlencode(query)}", timeout=60) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def begun(folder, study):
    """The process of a board that runs a study in a folder, and its port."""
    (folder / "study.toml").write_text(study_text(study))
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    command = [sys.executable, "-m", "gpbandits", "board", str(folder / "study.toml"), "--run"]
    command += ["--out", str(folder / "out"), "--port", str(port)]
    with (folder / "log").open("w") as log:
        return subprocess.Popen(command, stdout=log, stderr=log), port


def finished(address):
    try:
        state = json.loads(asked(address, "/state")[1])
    except OSError:
        return False
    return not state["waiting"] and state["counts"]["done"] == 8


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """The address of a board that runs its study, and the folder of the results."""
    folder = tmp_path_factory.mktemp("board")
    (process, port), log = begun(folder, STUDY), (folder / "log").read_text
    address = f"http://127.0.0.1:{port}"
    try:
        until(lambda: process.poll() is not None or finished(address), log, seconds=120)
        assert process.poll() is None, log()
        yield address, folder
    finally:
        process.terminate()
        process.wait(timeout=60)
    assert not answers(port)


@pytest.mark.long
def test_the_board_shows_what_is_failed_and_missing(place):
    _, folder = place
    copied = shutil.copytree(folder / "out", folder / "broken")
    study, store = open_results(copied)
    first, second, *_ = study.cells()
    store.path(first).unlink()
    store.path(second).unlink()
    store.failure_path(second).write_text("ValueError: <script>")
    state = state_of(copied)
    assert state["counts"] == {"done": 6, "running": 0, "failed": 1, "missing": 1}
    assert state["failures"] == [{"cell": str(second), "text": "ValueError: <script>"}]


@pytest.mark.long
def test_a_film_has_every_round_the_acquisition_and_a_panel_a_cost(place):
    status, text = asked(place[0], "/film", environment="Constrained", agent="config", rounds=8, noise=0.2)
    film = json.loads(text)
    assert status == 200
    assert [frame["round"] for frame in film["frames"]] == list(range(9))
    for frame in film["frames"]:
        assert [panel["name"] for panel in frame["panels"]] == ["reward", "cost 1"]
        assert all(len(panel["mean"]) == 20 for panel in frame["panels"])
    assert len(film["frames"][4]["acquisition"]) == 20


@pytest.mark.long
@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"agent": "random"}, "a film needs 'environment'"),
        ({"environment": "no", "agent": "random"}, "environment must be one of 'GP: <i>', 'Constrained'"),
        ({"environment": "Constrained", "agent": "no"}, "agent must be one of 'config', 'random'"),
        ({"environment": "Constrained", "agent": "random", "rounds": 9999}, "rounds must be in 1..200"),
        ({"environment": "Constrained", "agent": "random", "seed": "x"}, "must be integers"),
        ({"environment": "Constrained", "agent": "random", "noise": "nan"}, "noise must be"),
        ({"environment": "Constrained", "agent": "random", "colour": 1}, "has no 'colour'"),
    ],
)
def test_a_bad_request_is_told_the_remedy(place, query, said):
    status, text = asked(place[0], "/film", **query)
    assert status == 400
    assert said in json.loads(text)["error"]


@pytest.mark.long
def test_nothing_listens_beyond_this_machine_and_other_hosts_are_refused(place):
    port = int(place[0].rpartition(":")[2])
    lines = [line for name in TABLES if name.exists() for line in name.read_text().splitlines()]
    if not lines:
        pytest.skip("this system does not list its sockets")
    listening = [line.split()[1] for line in lines if f":{port:04X} " in line and " 0A " in line]
    assert listening == [f"0100007F:{port:04X}"]
    request = urllib.request.Request(place[0] + "/state", headers={"Host": "evil.example"})
    with pytest.raises(urllib.error.HTTPError, match="400") as refused:
        urllib.request.urlopen(request, timeout=10)
    refused.value.close()


@pytest.mark.long
@needs_browser
@pytest.mark.parametrize("size", [(1280, 900), (390, 844)], ids=["desktop", "phone"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_browser_clicks_through_the_board(place, tmp_path, size, scheme):
    with browser(tmp_path / "p", *size, scheme) as opened:
        _click_through(opened, place[0])


def _click_through(opened, address):
    def find(css):
        return opened.find_element("css selector", css)

    opened.get(address)
    until(lambda: "8 done" in find("#summary").text, lambda: opened.page_source)
    assert find("#name").text == "small & <b>safe</b>"
    until(lambda: opened.find_elements("css selector", "#curve svg .line"))
    find("#curve-environment option:nth-child(2)").click()
    until(lambda: len(opened.find_elements("css selector", "#metric option")) > 3)
    assert len(opened.find_elements("css selector", "#cells .cell.done")) == 8
    find("#film [name=environment] option:nth-child(2)").click()
    set_slider = "arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('input'))"
    opened.execute_script(set_slider, find("#film [name=delay]"), 3)
    assert "3 rounds" in find("#film [name=delay] + output").text
    find("#film button").click()
    until(lambda: find("#at").text.startswith("30, regret"))
    opened.execute_script(set_slider, find("#round"), 5)
    assert find("#at").text.startswith("5, regret")
    assert [each.text for each in opened.find_elements("css selector", "#panels h3")] == [
        "reward", "cost 1", "acquisition",
    ]  # fmt: skip
    assert opened.execute_script("return document.documentElement.scrollWidth <= innerWidth")


def test_a_film_of_a_slow_agent_is_cut_and_says_so(monkeypatch):
    choice = Choice("Constrained", "random", rounds=5)
    whole = film(STUDY, choice)
    assert whole["cut"] is None
    monkeypatch.setattr("gpbandits.board.app.MOST_SECONDS", 0.0)
    assert film(STUDY, choice) == {"rounds": 5, "frames": whole["frames"][:1], "cut": 0.0}


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="this system does not list processes")
@pytest.mark.parametrize("end", ["terminate", "kill"])
def test_the_run_that_a_board_began_ends_with_it(end, tmp_path):
    process, port = begun(tmp_path, dataclasses.replace(STUDY, trials=100_000))
    try:
        until(lambda: answers(port), (tmp_path / "log").read_text)
        (runner,) = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    finally:
        getattr(process, end)()
        process.wait(timeout=60)
    until(lambda: not is_alive(int(runner)))
