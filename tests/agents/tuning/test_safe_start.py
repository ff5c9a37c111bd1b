"""A tuner starts agents that keep every cost in every experiment from known safe parameters."""

import pytest

import agents
from agents import Categorical, Linear, Tuner

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
