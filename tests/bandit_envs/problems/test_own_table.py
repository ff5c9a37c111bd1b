"""Problems of tables of the user's own: a row is a run; what is missing or damaged is refused by its row."""

import gymnasium as gym
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bandit_envs import Problem
from bandit_envs.laws.tabulated import MeasuredCosts, MeasuredTimes
from bandit_envs.problems.table import reading_of

ROWS = {
    "dose": [1.0, 1.0, 10.0, 100.0, 1000.0, 1000.0],
    "kind": ["a", "a", "b", "a", "b", "b"],
    "yield": [1.0, 3.0, 5.0, 4.0, 7.0, 9.0],
    "latency": [150.0, 250.0, 100.0, 300.0, 400.0, 500.0],
    "minutes": [1.0, 3.0, 5.0, 2.0, 8.0, 8.0],
}
ARMS = {"arms": ["dose", "kind"], "reward": "yield"}
MEANS = [2.0, 5.0, 4.0, 8.0]  # of (1, a), (10, b), (100, a), (1000, b)


def problem(**given):
    return Problem.from_table(ROWS, **ARMS | {"horizon": 20} | given)


def csv_of(path, rows=ROWS):
    lines = [",".join(rows), *(",".join(map(str, row)) for row in zip(*rows.values(), strict=True))]
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def test_the_mean_reward_of_an_arm_is_that_of_its_rows():
    np.testing.assert_allclose(problem().draw(0).means.ravel(), MEANS)
    np.testing.assert_allclose(problem(minimise=True).draw(0).means.ravel(), np.negative(MEANS))


def test_a_reward_is_one_of_the_rows_of_the_arm():
    for minimise, sign in ((False, 1.0), (True, -1.0)):
        env = gym.make("GPBandit-Table-v0", file=ROWS, **ARMS, horizon=60, minimise=minimise)
        env.reset(seed=0)
        seen = {round(sign * env.step(0)[1], 9) for _ in range(60)}
        assert seen == {1.0, 3.0}


def test_files_frames_and_columns_give_the_same_problem(tmp_path):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    pd.DataFrame(ROWS).to_parquet(tmp_path / "rows.parquet")
    sources = [csv_of(tmp_path / "rows.csv"), str(tmp_path / "rows.parquet"), pd.DataFrame(ROWS), ROWS]
    made = [Problem.from_table(source, **ARMS) for source in sources]
    for each in made[1:]:
        np.testing.assert_array_equal(each.decisions.arms, made[0].decisions.arms)
        np.testing.assert_array_equal(each.draw(0).means, made[0].draw(0).means)


def test_scales_are_recognised_said_and_may_be_given():
    read = reading_of(ROWS, arms=["dose", "kind", "minutes"])
    assert [axis.scale for axis in read.arms] == ["log", "category", "linear"]
    assert "dose: 4 values from 1.0 to 1000.0, on a logarithmic scale" in read.said
    assert "kind: 2 categories" in read.said
    np.testing.assert_allclose(np.unique(read.arm[0][:, 0]), [0.0, 1 / 3, 2 / 3, 1.0])
    given = reading_of(ROWS, arms=["dose"], scales={"dose": "linear"})
    np.testing.assert_allclose(given.arm[0].ravel(), (np.array([1, 10, 100, 1000]) - 1) / 999)


@given(st.permutations(range(6)))
def test_the_order_of_rows_does_not_matter(order):
    moved = {name: [cells[i] for i in order] for name, cells in ROWS.items()}
    one, two = (Problem.from_table(rows, **ARMS) for rows in (ROWS, moved))
    np.testing.assert_array_equal(one.decisions.arms, two.decisions.arms)
    np.testing.assert_allclose(one.draw(0).means, two.draw(0).means)


def test_a_limit_makes_the_arms_feasible_whose_mean_is_below_it():
    trial = problem(costs={"latency": 310.0}).draw(0)
    assert (trial.means[0, 1] <= 0.0).tolist() == [True, True, True, False]
    np.testing.assert_allclose(trial.means[0, 1], np.array([200.0, 100.0, 300.0, 450.0]) - 310.0)


def test_a_price_is_the_mean_of_the_arm_and_fills_a_budget():
    law = problem(price="minutes").play_costs
    assert isinstance(law, MeasuredCosts)
    assert law.values.tolist() == [2.0, 5.0, 2.0, 8.0]
    assert law.budget == 50 * 3.5
    assert problem(price="minutes", budget=90.0).play_costs.budget == 90.0


def test_a_delay_is_the_mean_of_the_arm_or_a_law():
    law = problem(delay="minutes", interval=2.0).delay
    assert isinstance(law, MeasuredTimes)
    assert law.times.tolist() == [2.0, 5.0, 2.0, 8.0]
    assert problem(delay={"law": "poisson", "mean": 3}).delay.mean == 3


def crossed(columns: dict[str, list]) -> dict[str, list]:
    """A table with one row for each combination, whose reward is the number of the row."""
    grid = np.meshgrid(*[np.arange(len(values)) for values in columns.values()], indexing="ij")
    pairs = zip(columns.items(), grid, strict=True)
    rows = {name: [values[i] for i in place.ravel()] for (name, values), place in pairs}
    return rows | {"reward": [float(i) for i in range(grid[0].size)]}


def test_contexts_are_columns_and_are_observed():
    rows = crossed({"site": ["north", "south"], "dose": [1.0, 2.0, 3.0]})
    made = Problem.from_table(rows, arms=["dose"], context=["site"], reward="reward", horizon=5)
    assert (made.decisions.num_contexts, made.decisions.num_arms) == (2, 3)
    np.testing.assert_array_equal(made.draw(0).means.ravel(), range(6))


def test_rewards_change_by_the_values_of_a_column_in_their_order():
    rows = crossed({"day": [3.0, 1.0, 2.0], "dose": [1.0, 2.0]})
    made = Problem.from_table(rows, arms=["dose"], changes="day", reward="reward", hold=4)
    trial = made.draw(0)
    assert made.horizon == 12
    assert trial.optimum[[0, 4, 8]].ravel().tolist() == [3.0, 5.0, 1.0]


def test_a_missing_or_damaged_cell_is_refused_by_its_row(tmp_path):
    for cell, words in (
        ("", "row 3 must have every column that is used, got no 'yield'"),
        ("much", "row 3 must have a number in column 'yield', got 'much'"),
    ):
        rows = ROWS | {"yield": [1.0, 3.0, cell, 4.0, 7.0, 9.0]}
        with pytest.raises(ValueError, match=words):
            Problem.from_table(rows, **ARMS)
        with pytest.raises(ValueError, match=words):
            gym.make("GPBandit-Table-v0", file=csv_of(tmp_path / "rows.csv", rows), **ARMS)


def test_an_arm_without_a_row_in_some_context_is_refused():
    rows = {"site": ["n", "s", "n"], "dose": [1.0, 1.0, 2.0], "reward": [0.0, 1.0, 2.0]}
    with pytest.raises(ValueError, match="with a row for the arm of row 3 in the context of row 2"):
        Problem.from_table(rows, arms=["dose"], context=["site"], reward="reward")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"arms": ["dos"]}, "arms must be one of dose, kind, yield, latency, minutes, got 'dos'"),
        ({"reward": None}, "reward must be one of dose"),
        ({"arms": None}, "arms must be a list of the columns of the file"),
        ({"scales": {"kind": "log"}}, "'log' of positive numbers alone"),
        ({"scales": {"yield": "log"}}, "scales must be of columns of arms and contexts"),
        ({"interval": 2.0}, "interval must be left out where no column is the delay"),
        ({"hold": 2}, "hold must be left out where no column says when rewards change"),
        ({"costs": {"latency": 10.0}}, "feasible"),
        ({"price": "minutes", "budget": 1.0}, "budget must be at least 8"),
        ({"continuous": True}, "continuous"),
        ({"arms": ["dose", "dose"]}, "arms must be different columns"),
        ({"context": ["dose"]}, "arms must be different columns"),
        ({"arms": ["dose", "yield"]}, "reward must be a column that describes neither"),
        ({"changes": "dose"}, "changes must be a column that describes neither"),
        ({"changes": "yield"}, "reward must be a column that describes neither"),
        ({"never": "b"}, "never must be a dict of some of dose, kind, or a list of them"),
        ({"never": {}}, "never must be a dict of some of dose, kind"),
        ({"never": {"latency": 150.0}}, "never must be a dict of some of dose, kind"),
        ({"never": {"kind": "c"}}, "never must be entries that some row of the table agrees with"),
        ({"never": [{"kind": "a"}, {"kind": "b"}]}, "never must be entries that leave a row"),
    ],
)
def test_what_a_table_does_not_have_is_refused(given, words):
    with pytest.raises(ValueError, match=words):
        problem(**given).draw(0)


@pytest.mark.parametrize(
    ("never", "left"),
    [({"kind": "b"}, [0, 2]), ([{"dose": 1.0}, {"dose": "1000", "kind": "b"}], [1, 2]), ([], [0, 1, 2, 3])],
)
def test_what_must_never_be_played_is_no_arm(never, left):
    np.testing.assert_allclose(problem(never=never).draw(0).means.ravel(), np.array(MEANS)[left])
    env = gym.make("GPBandit-Table-v0", file=ROWS, **ARMS, horizon=20, never=never)
    assert env.action_space.n == len(left)


def test_rows_keep_their_numbers_where_some_are_left_out():
    damaged = ROWS | {"latency": [150.0, 250.0, 100.0, None, 400.0, 500.0]}
    with pytest.raises(ValueError, match="row 4 must have every column that is used, got no 'latency'"):
        Problem.from_table(damaged, **ARMS, costs={"latency": 300.0}, never={"kind": "b"})
    split = ROWS | {"site": ["n", "n", "n", "n", "s", "n"]}
    with pytest.raises(ValueError, match="arm of row 4 in the context of row 5"):
        Problem.from_table(split, **ARMS, context=["site"], never=[{"dose": 1.0}, {"dose": 10.0}])


def test_the_default_budget_pays_for_the_dearest_play():
    rows = {"a": [1, 2, 3], "y": [1.0, 2.0, 3.0], "p": [1.0, 1.0, 100.0]}
    assert Problem.from_table(rows, arms=["a"], reward="y", price="p").setting().budget == 100.0
    rows["p"] = [1.0, 1.0, 2.0]
    assert Problem.from_table(rows, arms=["a"], reward="y", price="p").setting().budget == 50.0


@pytest.mark.parametrize("kind", ["Int64", "Float64", "string"])
def test_a_missing_value_of_pandas_is_refused_by_its_row(kind):
    pandas = pytest.importorskip("pandas")
    cells = ["x", "y", None] if kind == "string" else [1, 2, None]
    frame = pandas.DataFrame({"a": pandas.array(cells, dtype=kind), "y": [1.0, 2.0, 3.0]})
    with pytest.raises(ValueError, match="row 3"):
        Problem.from_table(frame, arms=["a"], reward="y")


def test_times_share_a_horizon_that_is_given():
    rows = {"a": [1, 2, 1, 2, 1, 2], "day": [1, 1, 2, 2, 3, 3], "y": [1.0, 2.0, 3.0, 1.0, 0.0, 5.0]}
    problem = Problem.from_table(rows, arms=["a"], reward="y", changes="day", horizon=60)
    assert problem.horizon == 60
    assert problem.drift.hold == 20
    assert Problem.from_table(rows, arms=["a"], reward="y", changes="day").drift.hold == 66


def test_text_among_numbers_is_a_slip_unless_it_is_a_category():
    rows = {"a": ["1", "2", "ten", "4"], "y": [1.0, 2.0, 3.0, 4.0]}
    with pytest.raises(ValueError, match=r"row 3 must have a number in column 'a', as most .* got 'ten'"):
        Problem.from_table(rows, arms=["a"], reward="y")
    problem = Problem.from_table(rows, arms=["a"], reward="y", scales={"a": "category"})
    assert problem.decisions.num_arms == 4


@pytest.mark.parametrize("argument", ["price", "delay"])
@pytest.mark.parametrize("cell", [0.0, -1.0])
def test_a_price_and_a_time_that_are_not_positive_are_refused_by_their_row(argument, cell):
    rows = ROWS | {"minutes": [cell, 3.0, 5.0, 2.0, 8.0, 8.0]}  # the mean of the arm is positive
    words = rf"row 1 must have a positive number in column 'minutes', a \w+, got {cell:g}"
    with pytest.raises(ValueError, match=words):
        Problem.from_table(rows, **ARMS, **{argument: "minutes"})


@pytest.mark.parametrize("argument", ["delay", "context", "changes"])
def test_a_name_that_is_neither_a_column_nor_a_law_is_answered_with_both(argument):
    words = rf"{argument} must be a .*of the file \(dose, kind, yield, latency, minutes\), or a law: one of"
    with pytest.raises(ValueError, match=words):
        problem(**{argument: "minute"})


def test_blanks_around_cells_and_names_and_empty_lines_at_the_end_do_not_count(tmp_path):
    (tmp_path / "runs.csv").write_text("a, y\nx, 1\n x,3\nz ,2\n\n\n")
    problem = Problem.from_table(tmp_path / "runs.csv", arms=["a"], reward="y")
    np.testing.assert_allclose(problem.draw(0).means.ravel(), [2.0, 2.0])
    (tmp_path / "runs.csv").write_text("a,y\nx,1\n ,3\n")
    with pytest.raises(ValueError, match="row 2 must have every column that is used, got no 'a'"):
        Problem.from_table(tmp_path / "runs.csv", arms=["a"], reward="y")


DAMAGED = {
    b"a,y\n1,2\nh\xfct,3\n": r"file must be a CSV in UTF-8; line 3 is not, got .*runs\.csv",
    b'a,y\n1,2\n"2,3\n' + b"4,5\n" * 40_000: "file must be a CSV, each quote of which is closed",
    b"a,y\n1,2\n\n2,3\n": "row 2 must have cells, got an empty line",
    b"a,y\n1,2\n1\n": "row 2 must have 2 cells, got 1",
}


@pytest.mark.parametrize(("content", "words"), DAMAGED.items(), ids=["bytes", "quote", "line", "length"])
def test_a_damaged_file_is_refused_by_its_place(tmp_path, content, words):
    (tmp_path / "runs.csv").write_bytes(content)
    with pytest.raises(ValueError, match=words):
        Problem.from_table(tmp_path / "runs.csv", arms=["a"], reward="y")


def test_times_that_change_rewards_are_said_with_their_ends():
    rows = crossed({"day": ["d1", "d2", "d10"], "dose": [1.0, 2.0]})
    said = reading_of(rows, arms=["dose"], changes="day").said
    assert "3 values of day, in ascending order from d1 to d2" in said  # of text, d10 is between them
