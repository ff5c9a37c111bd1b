"""Each algorithm plays what its readable form plays, given the same history."""

import inspect
import re

import numpy as np
import pytest
import scipy.stats
from agent_cases import BATCHED
from players import started
from references.by_name import LAWS, REFERENCES, WITHOUT, Case, readable_forms
from references.seen import Given, Seen

import agents
from agents.registry import resolve_agent
from bandit_envs import make
from bandit_envs.problem.feedback import Feedback, delivery, spendings

# The agent breaks ties within 1e-9 prior deviations; dense solves of 60 plays at lambda >= 1e-4 err by 1e-12
# of mu, and by 1e-10 where the root of a variance is taken.
TOLERANCE = 1e-8


def rounds_of(name, case: Case, seed):
    """Yield what the agent is given, what it has seen before each round, and what it plays."""
    environment = make(case.env, **case.facts)
    observation, info = environment.reset(seed=seed)
    setting = environment.get_wrapper_attr("setting")
    agent = started(agents.make(name, environment, **case.options), seed)
    T = setting.horizon
    given = Given.of(setting, **case.prior)
    played, value, delay = np.zeros(T, dtype=int), np.full(T, np.nan), np.full(T, np.inf)
    cost, spent = np.full((T, setting.num_constraints), np.nan), np.full(T, np.nan)
    for t in range(T):
        action = agent.act(observation)
        yield given, Seen(*(column[:t].copy() for column in (played, value, delay, cost, spent))), action
        observation, reward, terminated, truncated, info = environment.step(action)
        agent.update(observation, action, reward, info)
        played[t] = action
        feedback = Feedback.arrived(info)
        value[feedback.round], delay[feedback.round] = feedback.reward, t - feedback.round
        cost[feedback.round] = feedback.cost
        if spendings(info) is not None:
            spent[feedback.round] = spendings(info)
        if terminated or truncated:
            return


CASES = [(name, case) for name, cases in REFERENCES.items() for case in cases]


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.further)])
@pytest.mark.parametrize(("name", "case"), CASES, ids=[f"{name}-{i}" for i, (name, _) in enumerate(CASES)])
def test_plays_are_those_of_the_readable_form(name, case, seed):
    for given, seen, action in rounds_of(name, case, seed):
        scores = case.scores(given, seen)
        short = scores.max() - scores[action]
        scale = given.reward.scale + np.abs(scores[np.isfinite(scores)]).max()
        assert short <= TOLERANCE * scale, (seen.t, short, action, scores.argmax())


TRIALS, DRAWS = 1500, 5000
ARMS, LATE_AFTER = 8, 3  # the values of later plays than this are pending


def forced(name, options, env, facts):
    """Return what each of many trials plays next after the same plays and values, and what they have seen."""
    environment = make(env, **facts)
    observation, _ = environment.reset(seed=0)
    setting = environment.get_wrapper_attr("setting")
    agent = started(agents.make(name, setting, num_trials=TRIALS, **options), range(TRIALS))
    many = np.broadcast_to(observation, (TRIALS, *observation.shape))
    played, value = np.array([1, 6, 3, 5, 2]), np.array([0.3, 0.6, 0.1, 0.8, 0.4])
    late = np.arange(len(played)) > LATE_AFTER if setting.max_delay else np.zeros(len(played), dtype=bool)
    for t, (arm, y) in enumerate(zip(played, value, strict=True)):
        agent.act(many)
        here = np.array([t])[: 0 if late[t] else 1]
        info = delivery(t, here, np.full(len(here), y), np.empty((len(here), 0)), setting.max_delay)
        rows = {key: np.stack([np.asarray(each)] * TRIALS) for key, each in info.items()}
        agent.update(many, np.full(TRIALS, arm), np.full(TRIALS, y), rows)
    seen = Seen(played, np.where(late, np.nan, value), np.where(late, np.inf, 0.0), np.empty((5, 0)), value)
    return agent.act(many), Given.of(setting), seen


@pytest.mark.parametrize("name", LAWS)
def test_the_next_play_has_the_law_of_the_readable_form(name):
    """Two samples differ by a chi-square test at 1e-4, rare arms together; seeds are fixed."""
    law, options, env, facts = LAWS[name]
    chosen, given, seen = forced(name, options, env, facts)
    expected = law(given, seen, DRAWS, np.random.default_rng(1))
    counts = np.stack([np.bincount(each, minlength=ARMS) for each in (chosen, expected)])
    rare = counts.sum(axis=0) * TRIALS / (TRIALS + DRAWS) < 10
    table = np.column_stack([counts[:, ~rare], counts[:, rare].sum(axis=1)])
    table = table[:, table.sum(axis=0) > 0]
    assert table.shape[1] >= 2, counts
    assert scipy.stats.chi2_contingency(table).pvalue > 1e-4, counts


def test_every_algorithm_has_a_readable_form_or_a_reason():
    assert set(BATCHED) == readable_forms().keys() | WITHOUT.keys()
    assert not readable_forms().keys() & WITHOUT.keys()


@pytest.mark.parametrize(("name", "module"), readable_forms().items())
def test_its_module_names_the_readable_form(name, module):
    said = inspect.getsource(inspect.getmodule(inspect.unwrap(resolve_agent(name).make)))
    (forms,) = re.findall(r"Readable forms?: tests/references/(.*)\.\n", said)
    assert f"{module}.py" in forms.split(", ")
