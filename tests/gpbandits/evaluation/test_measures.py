"""Measures are exact at every recorded round, whatever rounds are kept between."""

import dataclasses
import functools

import numpy as np
import pytest

from gpbandits.evaluation import Result, evaluate, trace
from gpbandits.evaluation import record as records
from gpbandits.evaluation.measures import MEASURES, METRICS, SHARE, Measure, metrics_of, register
from gpbandits.evaluation.record import join_trials
from gpbandits.evaluation.statistics import wilson_interval
from gpbandits.evaluation.tables import summary
from gpbandits.report.page import views
from gpbandits.report.standings import relative_losses

HORIZON = 50
NUMBERS = {"gp-ucb": 0, "random": 1}  # of agents, for colours
ROUNDS = [2, 7, 13, 14, 40, HORIZON]
ENVIRONMENTS = {
    "costs": ("GPBandit-Composite-v0", {"num_arms": 20, "horizon": HORIZON}),
    "budget": (
        "GPBandit-Budget-v0",
        {"num_arms": 20, "horizon": HORIZON, "budget": {"law": "gp", "budget": 6, "noise_std": 0.1}},
    ),
    "movement": (
        "GPBandit-Budget-v0",
        {"num_arms": 20, "horizon": HORIZON, "budget": 6, "movement": {"law": "travel", "price": 0.5}},
    ),
}


@functools.cache
def played(name, thinned=False):
    env_id, keywords = ENVIRONMENTS[name]
    rounds = ROUNDS if thinned else None
    return evaluate(env_id, ["gp-ucb", "random"], trials=3, env_kwargs=keywords, checkpoints=rounds)


def thinned_in_blocks(name, tmp_path, monkeypatch):
    for module in (trace, records):
        monkeypatch.setattr(module, "BLOCK", 7)
    return played.__wrapped__(name, thinned=True)


def thinned_and_stored(name, tmp_path, monkeypatch):
    played(name).at(ROUNDS).save(tmp_path / "thin.parquet")
    return Result.load(tmp_path / "thin.parquet")


WAYS = {
    "in the run": lambda name, *_: played(name, thinned=True),
    "in short blocks": thinned_in_blocks,
    "afterwards": lambda name, *_: played(name).at(ROUNDS),
    "stored": thinned_and_stored,
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("environment", ENVIRONMENTS)
@pytest.mark.parametrize("measure", MEASURES)
def test_every_measure_of_a_thinned_run_equals_that_of_the_full_record(
    measure, environment, way, tmp_path, monkeypatch
):
    full, thin = played(environment), WAYS[way](environment, tmp_path, monkeypatch)
    index = np.array(ROUNDS) - 1
    assert full.running(measure).keys() == thin.running(measure).keys()
    for label, curve in full.running(measure).items():
        np.testing.assert_array_equal(thin.running(measure)[label], curve[:, index])


@pytest.mark.parametrize("environment", ENVIRONMENTS)
@pytest.mark.parametrize("metric", METRICS)
def test_every_metric_of_a_thinned_run_equals_that_of_the_full_record(metric, environment):
    full, thin = played(environment), played(environment, thinned=True)
    if metric == "budget_regret" and not full.spent:
        pytest.skip("there is no budget")
    for label, curve in full.curves(metric).items():
        np.testing.assert_array_equal(thin.curves(metric)[label], curve[:, np.array(ROUNDS) - 1])


def test_tables_and_losses_of_a_thinned_run_are_those_of_the_full_record():
    full, thin = played("costs"), played("costs", thinned=True)
    assert thin.safety_table().texts == full.safety_table().texts
    assert full.unsafe_plays["random"][:, -1].max() > len(ROUNDS)  # more than one a checkpoint
    untimed = [[row[:-1] for row in result.table().texts] for result in (thin, full)]
    assert untimed[0] == untimed[1]
    for name in ENVIRONMENTS:
        losses = [relative_losses(played(name, thinned=way), "random") for way in (True, False)]
        np.testing.assert_equal(*losses)


def test_what_an_older_version_did_not_count_between_checkpoints_is_refused():
    thin = played("costs", thinned=True)
    old = dataclasses.replace(
        thin, records={label: record._replace(totals=None) for label, record in thin.records.items()}
    )
    np.testing.assert_allclose(old.regret["random"], thin.regret["random"], rtol=1e-12)
    with pytest.raises(ValueError, match=r"unsafe_plays of .* was not counted between its checkpoints"):
        _ = old.unsafe_plays


def found(rounds):
    """The best arm is among the plays that count."""
    return (rounds.simple <= 0.0).astype(np.int64)


@pytest.fixture
def correct():
    """A measure of a stranger: correct arm identified by round t."""
    register(Measure("correct", SHARE, "last", found, heading="best arm found"))
    played.cache_clear()
    yield "correct"
    del MEASURES["correct"]
    played.cache_clear()


def both_good(rounds):
    """Rounds in which both arms of the duel were good, so far."""
    return (rounds.strong + rounds.weak <= 1.0).astype(np.int64)


@pytest.mark.parametrize("needs", [None, "duels"])
def test_a_measure_of_what_duels_alone_have_is_that_of_the_full_record(needs):
    """Also one that was registered after the run."""
    keywords = {"trials": 2, "env_kwargs": {"num_arms": 6, "horizon": 20}}
    full = evaluate("GPBandit-Duel-v0", ["rucb"], **keywords)
    register(Measure("both", "rounds", "count", both_good, needs=needs, heading="both good"))
    try:
        again = evaluate("GPBandit-Duel-v0", ["rucb"], **keywords)
        thin = evaluate("GPBandit-Duel-v0", ["rucb"], checkpoints=[5, 11, 20], **keywords)
        assert thin.held("both")["rucb"].max() > 0
        for whole in (full, again):
            np.testing.assert_array_equal(
                whole.held("both")["rucb"][:, [4, 10, 19]], thin.held("both")["rucb"]
            )
        lacking = full.records["rucb"].of_rounds._replace(strong=None)
        with pytest.raises(ValueError, match=r"measure 'both' cannot be computed of rounds without .*strong"):
            MEASURES["both"].values(lacking)
    finally:
        del MEASURES["both"]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("way", WAYS)
def test_a_registered_measure_goes_through_runs_files_tables_reports_and_figures(
    correct, way, tmp_path, monkeypatch
):
    full, thin = played("budget"), WAYS[way]("budget", tmp_path, monkeypatch)
    for label, curve in full.running(correct).items():
        np.testing.assert_array_equal(curve, full.simple_regret[label] <= 0.0)
        np.testing.assert_array_equal(thin.curves(correct)[label], curve[:, np.array(ROUNDS) - 1])
    assert sum(curve[:, -1].sum() for curve in thin.running(correct).values()) > 0
    for result in (full, thin):
        table, place = result.table(), result.table().header.index("best arm found")
        for row in table.texts:
            share = wilson_interval(np.mean(result.running(correct)[row[0]][:, -1]), result.num_trials)
            assert row[place].startswith(f"{float(share.estimate):.3g}"[:3])
        assert "best arm found" in summary(result).header
        assert correct in {view.metric for view in views(result, NUMBERS)}
        assert result.plot(metric=correct).axes[0].get_ylabel() == f"best arm found ({SHARE})"
        rows = [curve.ravel() for curve in result.running(correct).values()]
        np.testing.assert_array_equal(result.to_frame()[correct], np.concatenate(rows))
        result.save(tmp_path / "it.parquet")
        again = Result.load(tmp_path / "it.parquet")
        np.testing.assert_equal(again.running(correct), result.running(correct))


def test_a_measure_that_one_agent_lacks_is_kept_for_the_others(correct, tmp_path):
    thin = played("costs", thinned=True)
    totals = {name: each for name, each in thin.records["random"].totals.items() if name != correct}
    records = thin.records | {"random": thin.records["random"]._replace(totals=totals)}
    lacking = dataclasses.replace(thin, records=records)
    lacking.save(tmp_path / "it.parquet")
    again = Result.load(tmp_path / "it.parquet")
    for result in (lacking, again):
        np.testing.assert_equal(result.held(correct), {"gp-ucb": thin.running(correct)["gp-ucb"]})
        with pytest.raises(
            ValueError, match=r"correct of .* was not counted between its checkpoints of random"
        ):
            result.running(correct)
        table = result.table()
        cells = {row[0]: row[table.header.index("best arm found")] for row in table.texts}
        assert cells[result.marked("random")] == "-" != cells[result.marked("gp-ucb")]
        assert "best arm found" in summary(result).header
    joined = join_trials([thin.records["random"], records["random"]])
    assert correct not in joined.totals


@pytest.mark.parametrize("field", ["covered", "spent"])
def test_what_one_agent_lacks_is_saved_as_lacking(field, tmp_path):
    result = played("budget") if field == "spent" else played("costs")
    known = {label: record._replace(covered=np.ones(3)) for label, record in result.records.items()}
    lost = dict.fromkeys(("spent", "shortfall", "played") if field == "spent" else (field,))
    records = known | {"random": known["random"]._replace(**lost)}
    dataclasses.replace(result, records=records).save(tmp_path / "it.parquet")
    again = Result.load(tmp_path / "it.parquet").records
    assert getattr(again["random"], field) is None
    np.testing.assert_equal(getattr(again["gp-ucb"], field), getattr(known["gp-ucb"], field))


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        (Measure("regret", "reward", "sum", found), "an identifier that no measure has yet, got 'regret'"),
        (Measure("two words", "reward", "sum", found), "name must be an identifier"),
        (Measure("state", "reward", "last"), "of must be what the measure is of rounds"),
    ],
)
def test_only_further_measures_of_rounds_are_registered(measure, message):
    with pytest.raises(ValueError, match=message):
        register(measure)


@pytest.mark.parametrize("field", [*played("movement").records["random"]._fields, "lost"])
def test_a_field_of_another_shape_is_named(field):
    result = played("movement").at(ROUNDS)
    record = result.records["random"]._replace(covered=np.ones(3))
    if field in ("totals", "stopped"):
        pytest.skip("its parts are other cases")
    if field == "lost":
        wrong = record._replace(totals=record.totals | {field: record.totals[field][:, :-1]})
    else:
        wrong = record._replace(**{field: getattr(record, field)[:-1]})
    with pytest.raises(ValueError, match=f"^{field} of agent 'random' must have shape"):
        dataclasses.replace(result, records={"random": wrong, "gp-ucb": result.records["gp-ucb"]})


@pytest.mark.parametrize(("env_id", "need"), [("GP", None), ("Constrained", "costs"), ("Budget", "budget")])
def test_metrics_that_need_costs_or_a_budget_are_those_of_results_that_have_them(env_id, need):
    result = evaluate(f"GPBandit-{env_id}-v0", ["random"], trials=1, env_kwargs={"horizon": 4})
    shown = metrics_of(result)
    held = {None, "constancy", need}
    assert {each.needs for each in shown.values()} == held
    assert set(shown) == {name for name, each in METRICS.items() if each.needs in held}
