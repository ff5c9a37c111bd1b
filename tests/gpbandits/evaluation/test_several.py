"""Several environments in one call: results as in single calls, the best in bold, panels, frames, reports."""

import csv
import dataclasses
import inspect
import io

import numpy as np
import pytest
from rich.console import Console
from synthetic import assert_same, record, result

from gpbandits import Results, evaluate
from gpbandits.evaluation.environments import overview
from gpbandits.evaluation.formats import text
from gpbandits.evaluation.statistics import bootstrap_interval, significant_signs

FEW = {"num_arms": 10, "horizon": 8}
PLACES = {"id": "GPBandit-GP-v0", "pair": ("GPBandit-Constrained-v0", {"num_arms": 12})}


BOTH = ["gp-ucb", "random"]


def test_each_result_is_that_of_a_call_of_its_own():
    together = evaluate(PLACES, BOTH, trials=2, env_kwargs=FEW)
    assert isinstance(together, Results)
    keywords = {"id": FEW, "pair": FEW | {"num_arms": 12}}
    assert list(together) == list(keywords)
    for label, own in keywords.items():
        env_id = "GPBandit-GP-v0" if label == "id" else "GPBandit-Constrained-v0"
        single = evaluate(env_id, BOTH, trials=2, env_kwargs=own)
        assert together[label].environment == label
        for name in BOTH:
            np.testing.assert_array_equal(together[label].regret[name], single.regret[name])


OF_EACH = [
    name
    for name, each in inspect.signature(evaluate).parameters.items()
    if each.kind is each.KEYWORD_ONLY
    and name not in ("env_kwargs", "label")  # of one, or shared with its own
]


@pytest.mark.parametrize("name", OF_EACH)
def test_every_keyword_reaches_each_environment(name):
    given = {"trials": 1, "env_kwargs": FEW, name: object()}  # which no keyword takes
    errors = []
    for environment in ("GPBandit-GP-v0", {"one": "GPBandit-GP-v0"}):
        with pytest.raises((ValueError, TypeError)) as raised:
            evaluate(environment, ["gp-ucb"], **given)
        errors.append(str(raised.value))
    assert errors[0] == errors[1]


@pytest.mark.parametrize(
    ("places", "options", "message"),
    [
        ({}, {}, "environment must be at least one"),
        ({"a": ("GPBandit-GP-v0",)}, {}, "environment .a. must be an id, a Problem, or .id, keywords."),
        ({1: "GPBandit-GP-v0"}, {}, "label of an environment must be text in one line, got 1"),
        ({"a": "GPBandit-GP-v0"}, {"label": "b"}, "label must be left out of several environments"),
        ({"a": ("GPBandit-GP-v0", {"horizons": 3})}, {}, "unexpected keyword argument 'horizons'"),
    ],
)
def test_bad_input_gets_one_clear_error(places, options, message):
    with pytest.raises(ValueError, match=message):
        evaluate(places, ["random"], **options)


def test_an_error_of_the_last_environment_comes_before_any_is_played():
    played = []
    with pytest.raises(ValueError, match="horizons"):
        evaluate(
            {"good": ("GPBandit-GP-v0", FEW), "bad": ("GPBandit-GP-v0", {"horizons": 3})},
            ["random"],
            progress=lambda label, count: played.append(label),
        )
    assert played == []


def stored(title, factors, **more):
    """A result in which regret is the base's times a factor; equal factors are equal values."""
    made = result(labels=tuple(factors), num_trials=12, **more)
    records = {x: record(num_trials=12, seed=5, factor=factor, **more) for x, factor in factors.items()}
    return dataclasses.replace(made, environment=title, records=records)


A = stored("A", {"x": 1.0, "y": 1.0, "z": 3.0})
B = stored("B", {"x": 2.0, "y": 1.0, "z": 1.0})


def bold(table):
    return {(table.rows[i][0], table.header[j].rstrip("¶†")) for i, j in table.bold}


def test_the_least_and_what_does_not_differ_from_it_are_bold_and_cells_are_means_with_intervals():
    table = Results({"A": A, "B": B}).table()
    assert table.header == ("environment", "x", "y", "z")
    assert bold(table) == {("A", "x"), ("A", "y"), ("B", "y"), ("B", "z")}
    assert table.texts[0][3] == text(bootstrap_interval(A.regret["z"][:, -1]))
    assert list(significant_signs([(A.regret["z"][:, -1], A.regret["x"][:, -1])])) == [1]  # hence not bold


@pytest.mark.parametrize(("trials", "few"), [(5, True), (6, True), (7, False)])
def test_a_table_of_too_few_trials_for_any_difference_says_so(trials, few):
    """Of two lines the least p-value is 2 * 2^(1 - B): below 5 % from B = 7 on."""
    made = result(labels=("low", "high"), num_trials=trials)
    far = [{"low": record(trials, seed=i), "high": record(trials, seed=i, shift=1.0 + i)} for i in range(2)]
    table = overview([dataclasses.replace(made, records=records) for records in far])
    assert any("too few for any difference" in note for note in table.notes) == few
    assert len(table.bold) == (4 if few else 2)


def test_an_agent_that_sees_the_truth_is_never_the_best():
    told = dataclasses.replace(B, privileged=frozenset({"y"}))
    table = Results({"B": told}).table()
    assert bold(table) == {("B", "z")}
    assert "y†" in table.header


def test_under_constraints_regret_is_bold_among_those_of_least_violation():
    safe = stored("C", {"safe": 2.0, "blind": 1.0}, num_constraints=1)
    violation = np.zeros_like(safe.records["safe"].violation)
    kept = safe.records["safe"]._replace(violation=violation, cost=-np.abs(safe.records["safe"].cost))
    safe = dataclasses.replace(safe, records=safe.records | {"safe": kept}, unfit=frozenset({"blind"}))
    table = Results({"A": A, "C": safe}).table()
    assert [row[0] for row in table.rows] == ["A", "C: hard violation", "C: regret"]
    assert {("C: hard violation", "safe"), ("C: regret", "safe")} <= bold(table)
    assert not {("C: hard violation", "blind"), ("C: regret", "blind")} & bold(table)
    assert table.texts[0][table.header.index("blind¶")] == "-"  # without a result there


def test_every_format_shows_what_is_bold():
    results = Results({"A": A, "B": B})
    cell = results.table().texts[0][1]
    assert f"| A | **{cell}** |" in results.to_markdown()
    assert rf"A & \textbf{{{cell}}} & " in results.to_latex()
    assert rf"A & \textbf{{{cell}}} \\" in results.to_latex(columns=results.table().header[1:2])
    assert f"{cell}*" in str(results.table())
    assert f"<strong>{cell}</strong>" in results._repr_html_()
    first = next(csv.DictReader(io.StringIO(results.to_csv())))
    assert [float(first[name]) for name in ("x", "x_low", "x_high")] == [*results.table().rows[0][1]]
    styled = [
        piece for piece in Console(width=200).render(results.table()) if piece.style and piece.style.bold
    ]
    assert cell in {piece.text.strip() for piece in styled}
    frame = results.to_frame()
    assert frame.groupby(["environment", "agent"]).ngroups == 6
    last = frame[(frame.environment == "B") & (frame.agent == "x") & (frame["round"] == 60)]
    assert sorted(last.regret) == pytest.approx(sorted(B.regret["x"][:, -1]))


def test_a_folder_keeps_the_environments_their_order_and_every_number(tmp_path):
    saved = Results({"B": B, "A, later": A})
    saved.save(tmp_path / "new" / "folder")
    loaded = Results.load(tmp_path / "new" / "folder")
    assert list(loaded) == ["B", "A, later"]
    assert [each.environment for each in loaded.values()] == list(loaded)
    for label, each in saved.items():
        assert_same(dataclasses.replace(each, environment=label), loaded[label], timed=True)
    assert loaded.table() == Results(dict(loaded)).table()
    saved.save(tmp_path / "new" / "folder")  # the same files again


def test_a_folder_with_other_files_and_one_without_any_are_refused(tmp_path):
    Results({"A": A, "B": B}).save(tmp_path)
    with pytest.raises(ValueError, match="folder must be one without other Parquet files, got"):
        Results({"A": A}).save(tmp_path)
    with pytest.raises(ValueError, match=r"folder must be one that `Results.save` wrote, got"):
        Results.load(tmp_path / "nothing")


def test_a_table_of_environments_takes_a_metric_and_half_widths():
    table = Results({"A": A, "B": B}).table(metric="simple_regret", style="±")
    assert [row[0] for row in table.rows] == [A.environment, B.environment]
    last = A.simple_regret[A.agents[0]][:, -1]
    np.testing.assert_array_equal(table.rows[0][1], bootstrap_interval(last))
    assert all(" ± " in text for text in table.texts[0][1:])
    assert table.notes[0].startswith("Means of simple regret at the horizon")
    assert "± half the width of 95 %" in table.notes[0]
    with pytest.raises(ValueError, match="unknown metric 'simple'"):
        Results({"A": A}).table(metric="simple")
