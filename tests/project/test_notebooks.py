"""What a notebook shows: small tables of escaped text of every object that people hold in their hands."""

from xml.etree import ElementTree

import numpy as np
import pytest
from agent_cases import SETTING, of_each_shape
from pages import outputs, ran
from synthetic import result

import agents
from agents import Categorical, Linear, Tuner
from agents.registry import resolve_agent
from bandit_envs.basics.notebook import html_table
from bandit_envs.environment.envs import BanditEnv
from bandit_envs.environment.registration import IDS
from bandit_envs.problems import build, data_files

OFFLINE = sorted({name for name in IDS.values() if not data_files(name)})


def cells(shown) -> list[str]:
    html = shown if isinstance(shown, str) else shown._repr_html_()
    assert len(html) < 20_000
    assert "color" not in html  # the page may be light or dark
    parsed = ElementTree.fromstring(html)  # raises where tags do not match
    return ["".join(each.itertext()) for each in parsed.iter() if each.tag in ("td", "th")]


def test_text_is_escaped():
    evil = "<script>alert('&')</script>"
    html = html_table(evil, (evil,), [(evil,)], (evil,))
    assert "<script" not in html
    assert cells(html) == [evil, evil]


def test_a_result_of_many_agents_prints_in_few_characters():
    many = result(labels=[f"{'x' * 500}{i}" for i in range(3)])
    records = {f"{'<' * 500}{i}": many.records[many.agents[0]] for i in range(60)}
    large = type(many)("e" * 500, 0, records)
    assert len(repr(large)) < 3_000
    assert "and 40 more agents" in repr(large)


def test_a_result_and_its_table_show_every_agent():
    res = result(privileged={"GP-TS"})
    assert {"GP-UCB", "GP-TS†", "random"} <= set(cells(res))
    assert cells(res.table()) == cells(res)
    assert "random: " in repr(res)


@pytest.mark.parametrize("name", OFFLINE)
def test_every_problem_and_its_setting_show_what_they_are(name):
    problem = build(name, {})
    assert {"decisions", "reward", "kernel"} <= set(cells(problem))
    assert {"horizon", str(problem.horizon)} <= set(cells(problem.setting()))
    assert len(repr(problem)) < 4_000


@pytest.mark.parametrize("name", of_each_shape(agents.names()))
def test_every_agent_shows_what_it_plays(name):
    try:
        agent = agents.make(name, SETTING)
    except (ValueError, ModuleNotFoundError) as error:
        pytest.skip(str(error))
    assert {"plays", "20 arms", "10 rounds"} <= set(cells(agent))
    assert name in repr(agent)
    assert set(cells(resolve_agent(name)(SETTING))) <= set(cells(agent))


def test_a_tuner_shows_its_latest_experiments_and_the_best():
    tuner = Tuner({"x": Linear(0, 1), "<kind>": Categorical(["<a>", "b"])}, constraints=["c&d"])
    assert "0 told" in repr(tuner)
    assert cells(tuner)[-1] == "c&d"
    for i in range(25):
        tuner.add({"x": i / 25, "<kind>": "<a>"}, float(i), {"c&d": 20.0 - i if i > 20 else 1.0})
    shown = cells(tuner)
    assert shown.count("'<a>'") == 20
    assert "best: 24.0 at" in tuner._repr_html_()
    assert "5 earlier" in tuner._repr_html_()


def test_a_rendered_trial_is_shown_as_a_picture_and_as_lines_and_still_is_an_array_and_text():
    for mode, kind in (("rgb_array", np.ndarray), ("ansi", str)):
        env = BanditEnv("gp", num_arms=10, horizon=5, render_mode=mode)
        env.reset(seed=0)
        shown = env.render()
        assert isinstance(shown, kind)
        if mode == "ansi":
            assert shown._repr_html_().startswith("<pre>")
        else:
            assert shown._repr_png_().startswith(b"\x89PNG")
            assert shown[0]._repr_png_() is None


SHOWN = {  # what a cell of a notebook ends with, and the richest form in which it is shown
    "import agents, bandit_envs, gymnasium": None,
    "from gpbandits import evaluate, watch": None,
    "small = {'num_arms': 10, 'horizon': 6}": None,
    "result = evaluate('GPBandit-GP-v0', ['random'], trials=2, env_kwargs=small, progress=True)": "text/html",
    "result": "text/html",
    "result.table()": "text/html",
    "result.plot(size='column')": "image/png",
    "watch('GPBandit-GP-v0', 'gp-ucb', count=2, env_kwargs=small)": "text/html",
    "env = gymnasium.make('GPBandit-GP-v0', render_mode='rgb_array', **small)": None,
    "problem = env.unwrapped.problem\nproblem": "text/html",
    "problem.setting()": "text/html",
    "_ = env.reset(seed=0)\n_ = env.step(3)\nenv.render()": "image/png",
    "agents.make('gp-ucb', env)": "text/html",
    "tuner = agents.Tuner({'x': agents.Linear(0, 1)})\ntuner.add({'x': 0.5}, 1.0)\ntuner": "text/html",
}


@pytest.mark.long
def test_a_kernel_shows_what_a_cell_ends_with(tmp_path):
    v4 = pytest.importorskip("nbformat", reason="needs Jupyter").v4
    made = ran(v4.new_notebook(cells=[v4.new_code_cell(source) for source in SHOWN]), tmp_path)
    assert [output for output in outputs(made) if output.get("name") == "stderr"] == []
    for cell, expected in zip(made.cells, SHOWN.values(), strict=True):
        kinds = {kind for output in cell.outputs for kind in output.get("data", {})}
        assert expected in kinds if expected else not cell.outputs, cell.source
    (bar,) = made.cells[3].outputs  # one display, which was replaced
    assert "2/2</span> trials" in bar.data["text/html"]
