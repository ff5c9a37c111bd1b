"""Ask and tell: the tuner is the agent in its loop, whatever the order of the news, and it can be saved."""

import math

import numpy as np
import pytest
from agent_cases import GAUSSIAN, LISTENING, of_each_shape
from players import FirstArm

import agents
from agents import Categorical, Integer, Linear, Log, Tuner
from bandit_envs.problem.feedback import delivery

SPACE = {
    "rate": Log(1e-5, 1e-1),
    "depth": Integer(1, 12),
    "kernel": Categorical(["rbf", "poly"]),
    "momentum": Linear(0, 1),
}
SMALL = {"depth": Integer(1, 9), "kernel": Categorical(["rbf", "poly", "linear"])}


def loss(p):
    poly = 0.5 * (p["kernel"] == "poly")
    return (math.log10(p["rate"]) + 3) ** 2 + 0.1 * (p["depth"] - 5) ** 2 + poly + p["momentum"] ** 2


def score(p):
    return -0.1 * (p["depth"] - 5) ** 2 - 0.5 * (p["kernel"] == "poly")


def run(tuner, value, rounds, workers=1, **more):
    """Ask until `workers` experiments are pending, then tell the oldest; return the questions."""
    asked = []
    for _ in range(rounds):
        _, parameters = tuner.ask(**more)
        asked.append(parameters)
        if len(tuner.pending) == workers:
            oldest = min(tuner.pending)
            tuner.tell(oldest, value(tuner.pending[oldest]))
    return asked


@pytest.mark.parametrize("delay", [0, 3])
@pytest.mark.parametrize("name", ["gp-bucb", "gp-ucb", "gp-ei", "gp-ts", "gp-ucb-sdf", "gp-bts", "random"])
def test_on_a_finite_set_the_tuner_is_the_agent_in_its_loop(name, delay):
    tuner = Tuner(SMALL, agent=name, seed=4, standardise=False, budget=20)
    asked = run(tuner, score, 20, workers=delay + 1)

    arms = tuner.plan.parameters.spread(100)
    setting = agents.tuning.decision_sets.FiniteDecisionSet(
        tuner.plan, agents.tuning.scale.Scale(1.0), [], [{}]
    ).setting
    agent = agents.make(name, setting)
    agent.reset(4)
    played, observation = [], np.zeros(1, dtype=np.float32)
    for t in range(20):
        played.append(arms[agent.act(observation)])
        rounds = np.array([t - delay] if t >= delay else [], dtype=np.int64)
        rewards = np.array([score(played[s]) for s in rounds.tolist()])
        agent.update(
            observation,
            arms.index(played[-1]),
            float(rewards.sum()),
            delivery(t, rounds, rewards, np.empty((len(rounds), 0)), 19),
        )
    assert asked == played
    if name != "random":
        advice, answer = tuner.recommend(anywhere=True), agent.recommend()
        assert advice.parameters == arms[answer.action]
        assert advice.mean == answer.mean


@pytest.mark.sampled(9)
@pytest.mark.parametrize("agent", of_each_shape(name for name in GAUSSIAN if name in LISTENING))
def test_standardised_values_have_no_unit(agent):
    plain, other = (Tuner(SMALL, agent=agent, seed=2, budget=20) for _ in range(2))
    assert run(plain, score, 8, workers=2) == run(other, lambda p: 7e3 + 1e3 * score(p), 8, workers=2)


CONSTRAINED = [  # but for those who need to be told where costs are kept
    name
    for name in LISTENING
    if (able := agents.features(name)).constraint and not able.on_policy and not able.seed
]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("agent", [None, *of_each_shape(CONSTRAINED)])
@pytest.mark.parametrize(("unit", "of_costs"), [(1e3, 1e3), (1.0, 1e3), (1.0, 1e-3)])
def test_nor_have_costs(agent, unit, of_costs):
    def asked(unit, of_costs):
        tuner, questions = Tuner(SMALL, agent=agent, constraints=["deep"], seed=2, budget=20), []
        for _ in range(8):
            ticket, parameters = tuner.ask()
            tuner.tell(ticket, unit * score(parameters), {"deep": of_costs * (parameters["depth"] - 4)})
            questions.append(parameters)
        return questions

    assert asked(unit, of_costs) == asked(1.0, 1.0)


def test_results_may_come_in_any_order():
    one, other = (Tuner(SMALL, agent="gp-bucb", standardise=False) for _ in range(2))
    for tuner, order in ((one, [0, 1, 2]), (other, [2, 0, 1])):
        points = dict(tuner.ask() for _ in range(3))
        for ticket in order:
            tuner.tell(ticket, score(points[ticket]))
    assert one.recommend().parameters == other.recommend().parameters
    assert one.recommend().mean == pytest.approx(other.recommend().mean, abs=1e-12)
    assert one.ask()[1] == other.ask()[1]


def test_a_dropped_experiment_is_as_if_it_had_not_been_asked_for():
    options = {"agent": ("gp-bucb", {"kernel": "rbf", "length_scale": 0.3}), "standardise": False}
    dropped, never = (Tuner(SMALL, **options) for _ in range(2))
    parameters = {"depth": 2, "kernel": "poly"}
    dropped.add({"depth": 5, "kernel": "rbf"}, 1.0)
    never.add({"depth": 5, "kernel": "rbf"}, 1.0)
    ticket, _ = dropped.ask()
    dropped.drop(ticket)
    dropped.add(parameters, 0.3)
    never.add(parameters, 0.3)
    assert dropped.pending == {}
    assert dropped.recommend().parameters == never.recommend().parameters
    assert dropped.recommend()[1:] == pytest.approx(never.recommend()[1:])
    assert dropped.ask()[1] == never.ask()[1]
    states = [each.state for each in dropped.experiments]
    assert states == ["told", "dropped", "told", "pending"]


def test_past_data_are_a_start():
    warm = Tuner(SPACE, agent="gp-ei", goal="minimise", num_arms=32, standardise=False)
    past = {"rate": 1e-3, "depth": 5, "kernel": "rbf", "momentum": 0.0}
    warm.add(past, -2.0)
    assert warm.best.parameters == past
    assert warm.recommend().parameters == past
    run(warm, loss, 5)
    assert warm.experiments[0][:6] == (None, past, {}, "told", -2.0, {})
    warm.add({**past, "depth": 4}, 0.1)  # in mid-run
    run(warm, loss, 2)
    assert len(warm.experiments) == 9


def test_past_data_join_the_set_of_an_agent_that_plays_sets_alone():
    tuner = Tuner(SPACE, agent="admmbo", constraints=["c"], num_arms=32)
    past = {"rate": 1e-3, "depth": 5, "kernel": "rbf", "momentum": 0.0}
    assert past not in tuner.plan.parameters.spread(32)
    tuner.add(past, 1.0, {"c": -1.0})
    for _ in range(8):
        ticket, parameters = tuner.ask()
        tuner.tell(ticket, -loss(parameters), {"c": 1.0})
    tuner.add({**past, "depth": 6}, 2.0, {"c": -1.0})  # in mid-run
    assert tuner.recommend().parameters == {**past, "depth": 6}


CONTEXTS = {"size": Log(10, 1000), "site": Categorical(["a", "b"])}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["gp-bucb", "gp-ts", "gp-ucb-sdf", "random"])
@pytest.mark.parametrize("standardise", [True, False])
def test_a_saved_tuner_goes_on_exactly(name, standardise, tmp_path):
    given = {"agent": name, "num_arms": 64, "standardise": standardise, "seed": 2**100}
    tuner = Tuner(SPACE, **given, goal="minimise", max_pending=4)
    tuner.add({"rate": 1e-3, "depth": 5, "kernel": "rbf", "momentum": 0.123}, 0.5)
    run(tuner, loss, 9, workers=3)
    tuner.drop(min(tuner.pending))
    file = tmp_path / "tuner.json"
    tuner.save(file)
    loaded = agents.load(file)
    assert loaded.experiments == tuner.experiments
    assert loaded.pending == tuner.pending
    assert run(loaded, loss, 9, workers=2) == run(tuner, loss, 9, workers=2)
    assert loaded.experiments == tuner.experiments


@pytest.mark.parametrize(
    ("ticket", "message"),
    [(0, "0 has a result, failed or was dropped"), (7, "7 was never given"), ("a", "never given")],
)
def test_a_ticket_is_told_or_dropped_once(ticket, message):
    tuner = Tuner(SMALL)
    tuner.tell(tuner.ask()[0], 1.0)
    tuner.ask()
    for report in (tuner.drop, tuner.fail, lambda each: tuner.tell(each, 1.0)):
        with pytest.raises(ValueError, match=f"{message}; pending tickets: 1"):
            report(ticket)
    never = Tuner(SMALL)
    for report in (never.drop, never.fail, lambda each: never.tell(each, 1.0)):
        with pytest.raises(ValueError, match="was never given; pending tickets: none"):
            report(ticket)


IMPOSSIBLE = [
    ({"goal": "min"}, "goal must be 'maximise' or 'minimise', got 'min'"),
    ({"parameters": {}}, "parameters must be at least one"),
    ({"agent": "gp-ucbb"}, "did you mean 'gp-ucb'"),
    ({"agent": ""}, "unknown agent ''"),
    ({"agent": 0}, "an agent is a name such as .*, a path .* or a"),
    ({"constraints": "cost"}, "constraints must be a list of names"),
    ({"constraints": ["SLA >= 0.9"]}, "constraints must be a name, whose cost is .*, got 'SLA >= 0.9'"),
    ({"constraints": ["a", "a"]}, "constraints must be different names"),
    (
        {"constraints": ["a"], "agent": "gp-ucb"},
        "agent must be one that takes a constraint into account",
    ),
    ({"agent": "bandit-oco"}, "agent must be one that also learns from plays that it did not choose, got"),
    ({"contexts": CONTEXTS, "agent": "admmbo"}, "takes a context into account"),
    ({"seed": -1}, "seed must be 0 or a positive integer, got -1"),
    ({"budget": 0}, "budget must be a positive integer, got 0"),
    ({"budget": 10**12}, "budget must be"),
    ({"max_pending": 0}, "max_pending must be a positive integer or None"),
    ({"num_arms": 10**12}, "num_arms must be"),
    ({"cost_budget": -1.0}, "cost_budget must be positive or None"),
    ({"noise_std": -1.0}, "noise_std must be 0 or positive or None"),
    ({"standardise": 1}, "standardise must be True or False, got 1"),
]


@pytest.mark.parametrize(("options", "message"), IMPOSSIBLE)
def test_impossible_options_are_refused_by_name(options, message):
    with pytest.raises(ValueError, match=message):
        Tuner(**{"parameters": SMALL, **options})


CALLS = [
    ({}, lambda tuner: tuner.ask(True), "n must be None or a positive integer"),
    ({}, lambda tuner: tuner.ask(0), "n must be None or a positive integer"),
    ({}, lambda tuner: tuner.ask(10**12), "n must be at most"),
    ({}, lambda tuner: tuner.ask({"a": 1}), "context must be exactly nothing"),
    ({}, lambda tuner: tuner.tell(0, 1.0, {"a": 1.0}), "costs must be a dict of exactly none"),
    ({}, lambda tuner: tuner.tell(0, 1.0, spent=2.0), "spent must be None without a cost_budget"),
    ({}, lambda tuner: tuner.fail(0, reason=3), "reason must be text"),
    ({}, lambda tuner: tuner.fail(0, spent=1.0), "spent must be None without a cost_budget"),
    ({}, lambda tuner: tuner.start({"depth": 99, "kernel": "rbf"}), r"parameters\['depth'\] must be"),
    ({}, lambda tuner: tuner.add({"depth": 2.5, "kernel": "rbf"}, 1.0), r"parameters\['depth'\] must be an"),
    ({"cost_budget": 5.0}, lambda tuner: tuner.tell(0, 1.0), "spent must be the cost of the experiment, pos"),
    ({"constraints": ["a"]}, lambda tuner: tuner.tell(0, 1.0), "costs must be .* exactly 'a', got None"),
    (
        {"constraints": ["a"]},
        lambda tuner: tuner.tell(0, 1.0, {"a": math.inf}),
        r"costs\['a'\] must be",
    ),
    ({"agent": "random"}, lambda tuner: tuner.recommend(anywhere=True), "'random' recommends nothing; see"),
    ({"agent": FirstArm}, lambda tuner: tuner.save("nowhere"), "must be a name or .* a tuner to be saved"),
]


@pytest.mark.parametrize(("options", "call", "message"), CALLS)
def test_what_is_impossible_is_refused_by_name(options, call, message):
    tuner = Tuner(SMALL, **options)
    tuner.ask()
    with pytest.raises(ValueError, match=message):
        call(tuner)


def test_a_context_that_is_missing_is_named():
    with pytest.raises(ValueError, match="context must be exactly 'size', 'site'"):
        Tuner(SMALL, contexts=CONTEXTS).ask()
