"""What stops are worth: regret of the recommended play, what was paid, and how results keep them."""

import dataclasses

import numpy as np
import pytest
from synthetic import assert_same

from gpbandits import Result, evaluate

LINE = {"num_arms": 30, "horizon": 20, "length_scale": 0.2}
RULES = {
    "kg": ("knowledge-gradient", {"price": 0.05}),
    "gap": ("gap", {"eps": 0.5, "width": 1.0}),
    "never": ("gap", {"eps": 1e-9}),
}


def played(environment="GPBandit-GP-v0", agents=("gp-ei",), keywords=LINE, **options):
    return evaluate(environment, list(agents), trials=4, env_kwargs=keywords, stopping=RULES, **options)


def test_the_regret_at_the_stop_is_that_of_the_play_that_is_recommended():
    result = played()
    regret, stopped = result.records["gp-ei"].regret, result.stopped["gp-ei"]
    for rule in stopped.values():
        for i in range(4):
            rounds = rule.after[i] if rule.after[i] != -1 else 20
            assert rule.paid[i] == rounds
            assert rule.regret[i] in regret[i, :rounds]
    assert (stopped["never"].after == -1).all()
    assert (stopped["kg"].after > 0).all()
    assert (stopped["kg"].hindsight <= stopped["kg"].adjusted(0.05) + 1e-12).all()
    assert np.isnan(stopped["gap"].hindsight).all()


def test_hindsight_is_the_least_of_all_rounds():
    """The best mean of a noiseless function is the best play so far."""
    result = played(keywords={**LINE, "noise": "none"})
    simple, stopped = result.simple_regret["gp-ei"], result.stopped["gp-ei"]["kg"]
    expected = (simple + 0.05 * np.arange(1, 21)).min(axis=1)
    np.testing.assert_allclose(stopped.hindsight, expected, rtol=0, atol=1e-12)


@pytest.mark.long
@pytest.mark.parametrize("options", [{"workers": 2}, {"isolate": True}, {"checkpoints": [5, 20]}], ids=str)
def test_stops_are_the_same_however_a_run_is_made(options):
    plain = played()
    other = played(**{**options, **({"entropy": None} if "isolate" in options else {})})
    if "isolate" in options:
        plain = played(entropy=other.entropy)
    for rule in RULES:
        one, two = (each.stopped["gp-ei"][rule] for each in (plain, other))
        for name in ("after", "regret", "violation", "paid"):
            np.testing.assert_array_equal(getattr(one, name), getattr(two, name))


def test_files_keep_stops(tmp_path):
    result = played(agents=("gp-ei", "random"))
    result.save(tmp_path / "it.parquet")
    again = Result.load(tmp_path / "it.parquet")
    assert again.stopped.keys() == {"gp-ei"}
    assert_same(again, result)
    assert str(again.stopping_table()) == str(result.stopping_table())


def test_what_was_paid_is_the_true_cost_of_plays():
    result = played("GPBandit-Budget-v0", ("ei-per-cost",), {"num_arms": 30, "horizon": 20})
    record, stopped = result.records["ei-per-cost"], result.stopped["ei-per-cost"]["kg"]
    assert record.spent is not None
    for i, after in enumerate(stopped.after):
        rounds = record.played[i] if after == -1 else after
        assert stopped.paid[i] == pytest.approx(record.spent[i, :rounds].sum(), rel=1e-12)


def test_a_table_has_a_row_for_every_rule():
    table = played(agents=("gp-ei", "gp-ucb")).stopping_table(price=0.1)
    assert len(table.rows) == 6
    adjusted = table.header.index("cost-adjusted")
    assert all(row[adjusted] is not None for row in table.rows)  # all at this price
    with pytest.raises(ValueError, match="stopping must be given"):
        evaluate("GPBandit-GP-v0", ["gp-ei"], trials=1, env_kwargs=LINE).stopping_table()
    with pytest.raises(ValueError, match="no agent has the option"):
        evaluate("GPBandit-GP-v0", ["random"], trials=1, stopping="plateau")


def test_stops_of_other_trials_are_refused():
    result = played()
    record = result.records["gp-ei"]
    assert record.stopped is not None
    fewer = {rule: each._replace(after=each.after[:2]) for rule, each in record.stopped.items()}
    with pytest.raises(ValueError, match="stops of agent 'gp-ei' by 'kg' must be of 4 trials"):
        dataclasses.replace(result, records={"gp-ei": record._replace(stopped=fewer)})


def test_a_stop_whose_play_breaks_a_cost_is_a_broken_promise_whatever_its_regret():
    """What breaks a cost may be better than all that keep them: its regret is negative."""
    result = played()
    record, rule = result.records["gp-ei"], result.stopped["gp-ei"]["gap"]
    ended = rule._replace(
        after=np.array([3, 4, 5, -1]),
        regret=np.array([-0.5, 0.1, 0.9, -0.5]),
        violation=np.array([0.2, 0.0, 0.0, 0.2]),
    )
    np.testing.assert_array_equal(ended.broken, [True, False, True])
    assert record.stopped is not None
    stopped = {**record.stopped, "gap": ended}
    again = dataclasses.replace(result, records={"gp-ei": record._replace(stopped=stopped)})
    table = again.stopping_table()
    (row,) = [dict(zip(table.header, row, strict=True)) for row in table.rows if row[0] == "gp-ei, gap"]
    assert row["promise broken"][0] == pytest.approx(2 / 3)
    assert row["violating"][0] == pytest.approx(2 / 4)
