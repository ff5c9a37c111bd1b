"""What admits a table as a real task, and which half of the suite it is in: tables alone decide."""

import re

import numpy as np
import pytest
from cases import needs_of
from pages import loaded, read

from bandit_envs.data.runs import HPOB, Runs, load_runs
from bandit_envs.problems.real import HALVES, HORIZON, Task, halves, tasks, unit_of

admission = loaded("tools/real_admission.py")
CRITERIA, reasons, repeated = admission.CRITERIA, admission.reasons, admission.repeated
share_near_best, candidates = admission.share_near_best, admission.candidates


def cases(named):
    return [pytest.param(name, marks=needs_of(task)) for name, task in named.items()]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", cases(tasks()))
def test_no_criterion_refuses_a_task(name):
    task = tasks()[name]
    assert reasons(task) == []
    assert repeated(name, task, tasks()) == ""


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", cases(candidates()))
def test_what_was_refused_has_a_reason(name):
    task = candidates()[name]
    assert reasons(task) or repeated(name, task, tasks())


def test_the_page_lists_what_was_refused():
    page = read("real.md")
    assert all(f"`{name}`" in page for name in candidates() if not name.startswith("hpob-"))
    assert not candidates().keys() & tasks().keys()


def test_a_function_is_played_once_but_for_the_reasons_that_tasks_state():
    functions = [task.problem or table for task in tasks().values() for table in task.tables or ("",)]
    shared = {each for each in functions if functions.count(each) > 1}
    assert shared == {"ours/digits"}
    assert all(task.reason for task in tasks().values() if task.tables == ("ours/digits",))
    assert not any(task.reason for task in tasks().values() if task.tables != ("ours/digits",))


@pytest.mark.needs_packages("bocode")
def test_of_a_search_space_the_table_with_the_fewest_near_the_best_is_played():
    for space, sets in HPOB.items():
        admitted = {}
        for data in sets:
            task = Task("tuning", 0, 0.0, (f"hpob/{space}_{data}",), "val_acc")
            if not reasons(task):
                values = load_runs(task.tables[0]).mean("val_acc")
                admitted[f"hpob-{space}-{data}"] = share_near_best(values)
        played = [name for name in tasks() if name.startswith(f"hpob-{space}-")]
        assert played == ([min(admitted, key=lambda name: (admitted[name], name))] if admitted else [])


def table(values, count=3, spread=0.01, seed=0, **metrics):
    """Runs of a line of configurations with these means, equally spread around them."""
    values = np.asarray(values, dtype=np.float64)
    offsets = spread * np.random.default_rng(seed).normal(size=(len(values), count))
    runs = (values[:, None] + offsets - offsets.mean(axis=1, keepdims=True)).ravel()
    unit = np.linspace(0.0, 1.0, len(values))[:, None]
    measured = {"y": runs, **{name: np.repeat(np.asarray(m, float), count) for name, m in metrics.items()}}
    return Runs(unit, np.arange(0, count * len(values) + 1, count), measured)


LINE = np.linspace(0.0, 1.0, 200)
REPEAT = Task("repeat", 200, 1.0, ("x",), "y")
LATE, LIMIT = REPEAT._replace(family="late"), REPEAT._replace(family="limit", limited="size")
BUDGET = REPEAT._replace(family="budget")
SLOW, QUICK = 10.0 ** (3.0 * LINE), 10.0 ** (-3.0 * LINE)  # the best is the slowest, the fastest
MIDDLE = 1.0 + np.abs(LINE - 0.5)


@pytest.mark.parametrize(
    ("criterion", "task", "runs", "said"),
    [
        ("signal", REPEAT, table(LINE), ""),
        ("signal", REPEAT, table(0.001 * LINE, spread=1.0), "no difference between configurations"),
        ("signal", REPEAT, table(0.5 * LINE, count=200, spread=1.0), "configurations differ by 0.1"),
        ("signal", REPEAT, table(LINE, count=1), ""),
        ("signal", REPEAT, table(0.0 * LINE, count=1), "all configurations are equal"),
        ("structure", REPEAT, table(LINE), ""),
        ("structure", REPEAT, table(np.random.default_rng(0).random(200)), "neighbours explain -"),
        ("room", REPEAT, table(LINE), ""),
        ("room", REPEAT, table(np.minimum(LINE, 0.6)), "4[01] % of the configurations are within 5 %"),
        ("size", REPEAT, table(np.linspace(0, 1, 62_209), count=2), "62209 points are more than 62208"),
        ("size", REPEAT, table(np.linspace(0, 1, 20_001), count=1), "20001 points are more than 20000"),
        ("size", REPEAT, table(np.linspace(0, 1, 20_001), count=2), ""),
        ("size", REPEAT._replace(family="laboratory"), table(LINE[:60], count=1), "its 60 exact values"),
        ("size", REPEAT._replace(family="laboratory"), table(LINE[:60], count=2), ""),
        ("observed", LATE, table(LINE, train_time=SLOW), f"the best takes 31[0-9] of {HORIZON} rounds"),
        ("observed", LATE, table(LINE, train_time=MIDDLE), ""),
        ("observed", REPEAT, table(LINE, train_time=SLOW), ""),
        ("cheapest", LATE, table(LINE, train_time=QUICK), "the fastest configuration alone has 1.00"),
        ("cheapest", LATE, table(LINE, train_time=SLOW), ""),
        ("cheapest", LIMIT, table(LINE, size=QUICK), "the least size configuration alone has 1.00"),
        ("cheapest", BUDGET, table(0.5 + LINE, train_time=SLOW), "the cheapest configuration alone has 1.00"),
        ("cheapest", BUDGET._replace(gain=True), table(0.5 + LINE, train_time=SLOW), ""),
        ("paid", BUDGET, table(LINE, train_time=QUICK), ""),
        ("paid", BUDGET, table(LINE, train_time=10.0 ** (4.0 * LINE)), "50 median runs do not pay"),
        ("binding", LIMIT, table(LINE, size=SLOW), ""),
        ("binding", LIMIT, table(LINE, size=QUICK), "the limit costs nothing"),
    ],
)
def test_a_criterion_refuses_what_it_is_made_for_and_nothing_else(criterion, task, runs, said):
    found = CRITERIA[criterion](task, runs)
    assert re.match(said, found) if said else found == ""


def test_equal_rates_of_clicks_are_not_admitted_and_different_ones_are():
    rng = np.random.default_rng(3)
    for rates, admitted in ((np.full(40, 0.02), False), (np.linspace(0.05, 0.95, 40), True)):
        clicks = (rng.random((40, 250)) < rates[:, None]).astype(float)
        runs = Runs(np.linspace(0, 1, 40)[:, None], np.arange(0, 10_001, 250), {"y": clicks.ravel()})
        assert (CRITERIA["signal"](REPEAT, runs) == "") == admitted


def test_one_arm_that_is_best_in_all_data_sets_is_no_task(monkeypatch):
    shifted = [np.roll(LINE, shift) for shift in (0, 60, 120)]
    for values, refused in (([LINE, LINE + 1.0, 2.0 * LINE], True), (shifted, False)):
        monkeypatch.setattr(admission, "values_of", lambda task, values=values: np.array(values))
        said = reasons(REPEAT._replace(family="changes", tables=("a", "b", "c")))
        assert bool(said) == refused
        assert not refused or "one arm alone has 1.00" in said[0]


def test_tables_of_one_grid_with_the_same_order_are_alike(monkeypatch):
    held = {"a": table(LINE), "b": table(LINE**3), "c": table(1.0 - LINE), "d": table(LINE[:50])}
    monkeypatch.setattr(admission, "load_runs", lambda name: held[name])
    one = REPEAT._replace(tables=("a",))
    alike = {name: repeated("one", one, {"other": REPEAT._replace(tables=(name,))}) for name in "bcd"}
    assert alike == {"b": "its table is like that of other", "c": "", "d": ""}
    assert repeated("one", one, {"other": one}) == "its table is played in other"
    assert repeated("one", one._replace(reason="it ships"), {"other": one}) == ""
    assert repeated("one", one, {"other": REPEAT._replace(family="late", tables=("b",))}) == ""


def test_halves_follow_from_names_and_keep_a_table_together():
    own = halves()
    assert own.keys() == tasks().keys()
    by_unit = {}
    for name, task in tasks().items():
        by_unit.setdefault(unit_of(task), set()).add(own[name])
    assert all(len(each) == 1 for each in by_unit.values())
    for family in {task.family for task in tasks().values()}:
        count = [sum(own[n] == half and tasks()[n].family == family for n in own) for half in HALVES]
        assert min(count) >= 1, family


def test_a_half_does_not_depend_on_what_the_tables_hold(monkeypatch):
    before = dict(halves())
    other = {name: task._replace(best=0.0, points=1, reward="y") for name, task in tasks().items()}
    monkeypatch.setattr(admission, "tasks", lambda: other)
    assert halves.__wrapped__() == before


def test_the_page_names_the_halves():
    page = read("real.md")
    for half in HALVES:
        names = ", ".join(f"`{name}`" for name, own in halves().items() if own == half)
        assert names in " ".join(page.split()), half
