"""Questions stay among what is possible, available or known to be safe, whatever was done elsewhere."""

import pytest
from players import ask_and_tell

import agents
from agents import Categorical, Integer, Linear, Log, Tuner
from agents.tuning.decision_sets import BoxDecisionSet, FiniteDecisionSet, make_decision_set
from agents.tuning.scale import Scale

BOX = {"a": Linear(0, 1), "b": Linear(0, 1), "kind": Categorical(["x", "y", "z"])}
SET = {"a": Integer(0, 4), "b": Integer(0, 4), "kind": Categorical(["x", "y", "z"])}
SPACES = {"box": BOX, "set": SET}
AGENTS = {"default": None, "samples": "gp-ts", "random": "random", "other": "optuna-tpe"}


def play(tuner, rounds, **more):
    return ask_and_tell(tuner, lambda parameters: parameters["a"] + parameters["b"], rounds, **more)


@pytest.fixture(params=AGENTS.values(), ids=AGENTS)
def agent(request):
    if request.param == "optuna-tpe":
        pytest.importorskip("optuna")
    return request.param


@pytest.mark.parametrize("space", SPACES.values(), ids=SPACES)
def test_impossible_parameters_are_never_asked_for(space, agent):
    most = 0.5 * space["a"].high

    def possible(a, b, kind):
        return a + b <= most and kind != "y"

    tuner = Tuner(space, agent=agent, possible=possible, seed=1)
    assert all(possible(**each) for each in play(tuner, 12))
    assert all(possible(**each) for _, each in tuner.ask(3))
    if agent in (None, "gp-ts"):
        assert possible(**tuner.recommend(anywhere=True).parameters)


def test_a_small_possible_part_of_a_box_is_found():
    tuner = Tuner(BOX, possible=lambda a, b, kind: abs(a - b) < 0.003)
    assert all(abs(each["a"] - each["b"]) < 0.003 for each in play(tuner, 8))


@pytest.mark.parametrize("space", SPACES.values(), ids=SPACES)
def test_where_nothing_is_possible_the_remedy_is_said(space):
    with pytest.raises(ValueError, match="possible"):
        Tuner(space, possible=lambda a, b, kind: False).ask()


@pytest.mark.parametrize("wrong", [3, lambda a: True, lambda a, b, kind: 1])
def test_a_rule_is_a_function_of_all_parameters_that_says_yes_or_no(wrong):
    with pytest.raises(ValueError, match="possible must be"):
        Tuner(BOX, possible=wrong).ask()


def test_a_rule_is_given_again_to_a_saved_tuner(tmp_path):
    rule, file = (lambda a, b, kind: a + b <= 0.5), tmp_path / "t.json"
    tuner = Tuner(BOX, possible=rule)
    play(tuner, 7)
    tuner.save(file)
    with pytest.raises(ValueError, match=r"possible must be .*Tuner.load\(path, possible="):
        agents.load(file)
    assert Tuner.load(file, possible=rule).ask() == tuner.ask()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("space", SPACES.values(), ids=SPACES)
def test_what_must_never_be_asked_for_is_not(space, agent, tmp_path):
    tuner = Tuner(space, agent=agent, never=[{"kind": "y"}, {"kind": "x", "a": 1}], seed=2)
    asked = play(tuner, 12) + play(tuner, 2, only=[{"a": 1}])
    tuner.save(tmp_path / "t.json")
    asked += play(agents.load(tmp_path / "t.json"), 3)  # a file holds what a function cannot
    assert all(each["kind"] == "z" or (each["kind"], each["a"] == 1) == ("x", False) for each in asked)
    assert {each["kind"] for each in asked} == {"x", "z"}
    with pytest.raises(ValueError, match="never or only excludes all"):
        tuner.ask(only={"kind": "y"})


@pytest.mark.parametrize("space", SPACES.values(), ids=SPACES)
def test_a_question_agrees_with_what_is_available_now(space, agent):
    tuner = Tuner(space, agent=agent, seed=2)
    assert {each["kind"] for each in play(tuner, 6, only={"kind": "y"})} == {"y"}
    mixed = play(tuner, 4, only=[{"kind": "x", "a": 1}, {"kind": "z"}])
    assert all(each["kind"] == "z" or (each["kind"], each["a"]) == ("x", 1) for each in mixed)
    whole = [{"a": 0, "b": 1, "kind": "x"}, {"a": 1, "b": 0, "kind": "z"}]
    assert all(each in whole for each in play(tuner, 4, only=whole))
    assert len(play(tuner, 2)) == 2  # of everything again


def test_points_between_those_of_a_set_are_available_too():
    tuner = Tuner(BOX, agent="admmbo", constraints=["c"], num_arms=32)
    only = [{"a": 0.123, "b": 0.456, "kind": "x"}, {"a": 0.7}]
    for _ in range(4):
        ticket, parameters = tuner.ask(only=only)
        assert parameters == only[0] or parameters["a"] == 0.7
        tuner.tell(ticket, 1.0, {"c": -1.0})


@pytest.mark.parametrize(
    ("only", "message"),
    [
        ("x", "only must be None, a dict"),
        ([], "only must be None, a dict"),
        ([{}], r"only\[0\] must be a dict of some of"),
        ({"kind": "w"}, r"only\[0\]\['kind'\] must be one of"),
        ({"a": 2.0}, r"only\[0\]\['a'\] must be a number in"),
        ({"c": 2.0}, r"only\[0\] must be a dict of some of"),
    ],
)
def test_what_is_available_is_some_possible_parameters(only, message):
    with pytest.raises(ValueError, match=message):
        Tuner(BOX).ask(only=only)


@pytest.mark.parametrize(
    ("never", "message"),
    [
        ({"kind": "w"}, r"never\[0\]\['kind'\] must be one of"),
        ([{"kind": each} for each in "xyz"], "never must be a rule|never or only excludes all"),
    ],
)
@pytest.mark.parametrize("space", SPACES.values(), ids=SPACES)
def test_what_must_never_be_asked_for_are_parameters_that_leave_some(space, never, message):
    with pytest.raises(ValueError, match=message):
        Tuner(space, never=never).ask()


OUTSIDE = {"a": 3, "b": -2, "kind": "x"}


@pytest.mark.parametrize("space", SPACES.values(), ids=SPACES)
def test_results_from_outside_the_ranges_are_learnt_from_and_questions_stay_inside(space, agent):
    tuner = Tuner({**space, "a": type(space["a"])(0, 2)}, agent=agent, seed=4)
    tuner.add(OUTSIDE, 9.0)
    tuner.add({"a": 1, "b": 1, "kind": "x"}, 2.0)
    assert tuner.best.value == 2.0
    for each in (*play(tuner, 8), *(parameters for _, parameters in tuner.ask(3))):
        tuner.plan.parameters.check(each)
    if agent in (None, "gp-ts"):
        for anywhere in (True, False):
            tuner.plan.parameters.check(tuner.recommend(anywhere=anywhere).parameters)


@pytest.mark.parametrize("kind", [FiniteDecisionSet, BoxDecisionSet])
def test_a_model_sees_results_from_outside_where_they_were(kind):
    plan = Tuner({"a": Integer(0, 4)} if kind is FiniteDecisionSet else {"a": Linear(0, 4)}).plan
    place = make_decision_set(plan, Scale(1.0), [{"a": 8}], [{}])
    assert type(place) is kind
    action = place.action({"a": 8})
    features = place.setting.to_point(action) if kind is BoxDecisionSet else place.setting.arms[action]
    assert features == pytest.approx([2.0])


def test_a_file_is_read_with_other_ranges(tmp_path):
    file, narrow = tmp_path / "t.json", {**BOX, "a": Linear(0, 0.3)}
    tuner = Tuner(BOX)
    play(tuner, 8)
    tuner.save(file)
    loaded = Tuner.load(file, parameters=narrow)
    assert [each[:6] for each in loaded.experiments] == [each[:6] for each in tuner.experiments]
    assert all(each["a"] <= 0.3 for each in play(loaded, 5))
    assert loaded.best.parameters["a"] <= 0.3
    loaded.save(file)
    assert Tuner.load(file).ask() == loaded.ask()
    with pytest.raises(ValueError, match="parameters must be those of the file: a, b, kind"):
        Tuner.load(file, parameters={"a": Linear(0, 1)})


@pytest.mark.parametrize("name", [None, "gp-ts", "gp-ucb-cpd"])
def test_a_saved_tuner_knows_what_was_available(name, tmp_path):
    tuner = Tuner(SET, agent=name, seed=3)
    play(tuner, 4, only=[{"kind": "y"}, {"a": 2}])
    play(tuner, 2)
    tuner.save(tmp_path / "t.json")
    loaded = agents.load(tmp_path / "t.json")
    assert play(loaded, 3, only={"kind": "z"}) == play(tuner, 3, only={"kind": "z"})


def test_never_and_a_function_go_together():
    tuner = Tuner(SET, possible=lambda a, b, kind: a <= 1, never={"a": 0})
    assert {each["a"] for each in play(tuner, 8)} == {1}


def test_results_too_far_away_to_mean_anything_are_refused():
    tuner = Tuner({"x": Linear(0, 1), "rate": Log(1, 10), "n": Integer(1, 9, log=True), "c": Linear(3, 3)})
    good = {"x": 0, "rate": 1, "n": 1, "c": 3}
    for wrong, message in [
        ({"x": 1e9}, "within 1e.06 ranges"),
        ({"rate": -1.0}, "a positive number"),
        ({"n": 0}, "a positive integer"),
        ({"n": 2.5}, "a positive integer"),
        ({"c": 4}, "its only value; keep its range, and ask with only="),
    ]:
        with pytest.raises(ValueError, match=message):
            tuner.add(good | wrong, 1.0)


SPACE = {"x": Linear(0.0, 2.0), "kind": Categorical(["a", "b"])}
START = [{"x": 0.123, "kind": "b"}]
GIVEN = {"losbo": {"lipschitz": [6.0]}}  # the slope of the cost; its unit is above 1
SAFE = {name: (name, GIVEN.get(name, {})) for name in agents.names() if agents.features(name).seed}


def safe_tuner(**options):
    known = {"agent": "safe-ucb", "constraints": ["heat"], "safe": START, "num_arms": 40, "budget": 30}
    return Tuner(SPACE, **{**known, **options})


def run(tuner, n, shift=0.0):
    """Report values that grow with x, which is safe below 1.2; return the plays."""
    plays = []
    for _ in range(n):
        ticket, chosen = tuner.ask()
        tuner.tell(ticket, chosen["x"], {"heat": 3.0 * (chosen["x"] - 1.2) - shift})
        plays.append(chosen)
    return plays


@pytest.mark.parametrize("agent", [*SAFE.values(), ("gp-agent", {"constraint": "safe"})])
def test_the_first_experiment_is_safe_and_the_set_grows_from_there(agent):
    plays = run(safe_tuner(agent=agent), 25)
    assert plays[0] == START[0]
    assert max(each["x"] for each in plays) > 0.5
    assert all(each["x"] <= 1.2 for each in plays)


def test_a_file_keeps_them_and_goes_on_exactly(tmp_path):
    tuner = safe_tuner()
    run(tuner, 4)
    tuner.save(tmp_path / "t.json")
    loaded = agents.load(tmp_path / "t.json")
    assert loaded.plan.safe == tuple(START)
    assert [run(loaded, 3)] == [run(tuner, 3)]


REFUSED = {
    "missing": ({"safe": ()}, "safe must be parameters that are known to keep all costs, such as"),
    "missing for a part": (
        {"safe": (), "agent": ("gp-agent", {"constraint": "safe"})},
        "safe must be parameters that are known to keep all costs",
    ),
    "default agent": ({"agent": None}, 'safe must be left out .* take agent="safe-ucb"'),
    "no costs": ({"constraints": ()}, "safe must be left out"),
    "outside": ({"safe": [{"x": 3.0, "kind": "a"}]}, r"safe\[0\]\['x'\] must be"),
    "incomplete": ({"safe": [*START, {"x": 1.0}]}, r"safe\[1\] must be exactly 'x', 'kind', got \['x'\]"),
    "one": ({"safe": START[0]}, "safe must be a list of parameters"),
}


@pytest.mark.parametrize(("options", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_safe_start_is_refused_by_name(options, message):
    with pytest.raises(ValueError, match=message):
        safe_tuner(**options)


def test_a_slope_in_ones_own_units_is_over_the_whole_range_of_a_parameter():
    """The cost 6 (x - 1.2) changes by 12 over the range of x."""
    worst = {}
    for slope in (6.0, 12.0):
        agent = ("losbo", {"lipschitz": [slope]})
        options = {"constraints": ["heat"], "safe": [{"x": 0.1}], "noise_std": 0.0, "standardise": False}
        tuner, costs = Tuner({"x": Linear(0, 2)}, agent=agent, **options), []
        for _ in range(15):
            ticket, chosen = tuner.ask()
            costs.append(6.0 * (chosen["x"] - 1.2))
            tuner.tell(ticket, chosen["x"], {"heat": costs[-1]})
        worst[slope] = max(costs)
    assert worst[12.0] <= 0.0 < worst[6.0]


def test_it_chooses_among_all_that_are_known_to_be_safe():
    known = [*START, {"x": 0.5, "kind": "a"}]
    asked = [safe_tuner(safe=known, seed=seed).ask()[1] for seed in range(8)]
    assert all(each in known for each in asked)
    assert len({each["x"] for each in asked}) == 2
