"""Results: their arithmetic, files, tables and figures."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from synthetic import assert_same, record, result

from gpbandits import evaluate
from gpbandits.evaluation.formats import number, text
from gpbandits.evaluation.result import Result
from gpbandits.evaluation.statistics import bootstrap_interval, paired_difference


def test_regret_is_the_running_sum_and_the_average_its_share_of_rounds():
    res = result(num_constraints=2)
    assert res.regret["GP-UCB"].shape == (8, 60)
    assert res.costs["GP-UCB"].shape == (8, 60, 2)
    np.testing.assert_array_equal(res.regret["GP-UCB"], res.records["GP-UCB"].regret.cumsum(axis=1))
    np.testing.assert_array_equal(res.average_regret["GP-UCB"][:, 9], res.regret["GP-UCB"][:, 9] / 10)
    np.testing.assert_allclose(res.seconds_per_decision["GP-UCB"] * 60, res.seconds["GP-UCB"])
    assert (res.horizon, res.num_trials, res.num_constraints) == (60, 8, 2)


@pytest.mark.parametrize(
    "shape", [{}, {"num_constraints": 2}, {"dim": 3}, {"dim": 1, "num_constraints": 1, "num_trials": 1}]
)
def test_a_saved_result_is_loaded_unchanged(shape, tmp_path):
    saved = result(privileged={"GP-TS"}, **shape)
    saved.save(tmp_path / "r.parquet")
    assert_same(Result.load(tmp_path / "r.parquet"), saved, timed=True)


def test_missing_values_thinned_rounds_and_marks_survive_the_file(tmp_path):
    res = result(approximate={"GP-UCB"}, num_constraints=1)
    res.simple_regret["GP-TS"][:, :3] = np.nan
    res.at([1, 7, 60]).save(tmp_path / "r.parquet")
    assert_same(Result.load(tmp_path / "r.parquet"), res.at([1, 7, 60]))


def test_a_failed_save_leaves_the_old_file_and_nothing_else(tmp_path):
    res = result()
    res.save(tmp_path / "r.parquet")
    with pytest.raises(TypeError):
        res.save(tmp_path / "r.parquet", metadata={"not JSON": object()})
    (tmp_path / "folder.parquet").mkdir()
    with pytest.raises(OSError, match="directory"):
        res.save(tmp_path / "folder.parquet")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder.parquet", "r.parquet"]
    assert_same(Result.load(tmp_path / "r.parquet"), res)


def test_the_frame_has_one_row_an_agent_trial_and_round():
    res = result(num_constraints=1, dim=2)
    frame = res.to_frame()
    assert len(frame) == 3 * 8 * 60
    assert {"environment", "cost_0", "action_0", "action_1"} < set(frame.columns)
    row = frame[(frame["agent"] == "GP-TS") & (frame["trial"] == 5) & (frame["round"] == 31)].iloc[0]
    assert row["regret"] == res.regret["GP-TS"][5, 30]
    assert row["simple_regret"] == res.simple_regret["GP-TS"][5, 30]
    assert row["cost_0"] == res.costs["GP-TS"][5, 30, 0]
    assert row["action_1"] == res.actions["GP-TS"][5, 30, 1]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Result("e", 0, {}), "at least one agent"),
        (
            lambda: Result("e", 0, {"a": record(), "b": record(num_trials=3)}),
            r"regret of agent 'b' must have shape \(8",
        ),
        (lambda: Result("e", 0, {"a": record()._replace(seconds=np.ones(3))}), "seconds of agent 'a'"),
        (lambda: Result("e", 0, {"a": record()}, frozenset({"b"})), "without a record: b"),
        (lambda: result().at([1, 5]), "horizon 60"),
        (lambda: result().at([0, 60]), "at least 1"),
        (lambda: result().curves("total"), "choose one of budget_regret, regret"),  # pyright: ignore
        (lambda: result().plot("r.bmp"), "one of .pdf, .png, .svg"),
        (lambda: result().plot("r.png", scale="log"), "unknown scale 'log'"),  # pyright: ignore
    ],
)
def test_bad_input_gives_a_clear_error(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_foreign_file_is_named(tmp_path):
    result().to_frame().to_parquet(tmp_path / "f.parquet")
    with pytest.raises(ValueError, match=r"f\.parquet is a Parquet file, but not one"):
        Result.load(tmp_path / "f.parquet")


def test_a_folder_and_a_damaged_file_are_named(tmp_path):
    with pytest.raises(ValueError, match="path must be of a file that `save` wrote, not a folder"):
        Result.load(tmp_path)
    result().save(tmp_path / "r.parquet")
    (tmp_path / "r.parquet").write_bytes((tmp_path / "r.parquet").read_bytes()[:-100])
    with pytest.raises(ValueError, match=r"r\.parquet is damaged"):
        Result.load(tmp_path / "r.parquet")


def test_the_table_ranks_agents_and_pairs_differences_with_the_best_that_is_not_privileged():
    res = result(privileged={"GP-UCB"})
    table = res.table()
    first, second, third = (dict(zip(table.header, row, strict=True)) for row in table.texts)
    assert [row["agent"] for row in (first, second, third)] == ["GP-UCB†", "GP-TS", "random"]
    assert second["minus GP-TS"] == "-"
    final = {label: regret[:, -1] for label, regret in res.regret.items()}
    difference = paired_difference(final["GP-UCB"], final["GP-TS"])
    assert difference.high < 0
    assert first["minus GP-TS"] == text(difference, signed=True)
    assert third["simple regret"] == text(bootstrap_interval(res.simple_regret["random"][:, -1]))
    assert third["µs a round"] == number(res.seconds["random"].mean() / 60 * 1e6)


def test_the_table_prints_as_aligned_text_and_marks_privileged_agents():
    text = str(result(privileged={"GP-UCB"}).table(baseline="random"))
    lines = text.splitlines()
    assert lines[0] == "GP, length-scale 0.2"
    assert len({len(line) for line in lines[1:8]}) == 1
    assert "GP-UCB†" in text
    assert lines[-1].startswith("† privileged")
    assert "minus random" in text
    assert "8 trials of 60 rounds, seed 3" in text
    assert "†" not in str(result().table())


def test_an_agent_that_approximates_may_still_be_the_baseline():
    assert "minus GP-UCB" in result(approximate={"GP-UCB"}).table().header


def test_one_trial_has_a_table_without_intervals():
    text = str(result(num_trials=1).table())
    assert "[" not in text.splitlines()[4].split("  ")[1]
    assert "nan" not in text
    assert "1 trial of 60 rounds" in text
    assert "interval" not in text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (1234.56, "1235"),
        (12.345, "12.3"),
        (0.012345, "0.0123"),
        (-3e-7, "-3.00e-07"),
        (np.nan, "-"),
    ],
)
def test_numbers_have_three_significant_digits(value, text):
    assert number(value) == text


@pytest.mark.long
def test_curves_that_reach_zero_or_are_missing_and_no_regret_at_all_have_logarithmic_axes(tmp_path):
    res = result()
    res.simple_regret["GP-TS"][:, 20:] = 0
    res.simple_regret["GP-UCB"][:] = 0
    res.simple_regret["random"][:, :3] = np.nan
    res.plot(tmp_path / "r.png", scale="log-log", metric="simple_regret")
    for each in res.records.values():
        each.regret[:] = 0
    res.plot(tmp_path / "r.png", scale="log-log")


@pytest.mark.parametrize(
    ("package", "use"),
    [
        ("matplotlib", lambda path: result().plot(path / "r.png")),
        ("pandas", lambda path: result().to_frame()),
        ("pyarrow", lambda path: result().save(path / "r.parquet")),
        ("pyarrow", lambda path: Result.load(path / "r.parquet")),
        ("matplotlib", lambda path: rendered()),
    ],
)
def test_a_package_that_is_not_installed_is_named_with_its_extra(package, use, tmp_path, monkeypatch):
    for module in (
        "gpbandits.evaluation.plots",
        "gpbandits.evaluation.parquet",
        "bandit_envs.rendering.picture",
    ):
        monkeypatch.delitem(sys.modules, module, raising=False)
    for module in [name for name in sys.modules if name.split(".")[0] == package]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=rf"{package}.* not found; .* need pip install 'gpbandits\[eval\]'"):
        use(tmp_path)


def rendered():
    env = gym.make("bandit_envs:GPBandit-GP-v0", render_mode="rgb_array")
    env.reset(seed=0)
    env.render()


GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "queries.md"
PLACES = {
    "thinned, with costs": (
        "GPBandit-Constrained-v0",
        {"num_arms": 6, "horizon": 9},
        {"checkpoints": [3, 9]},
    ),
    "box": ("GPBandit-RKHS-v0", {"horizon": 4, "continuous": True, "dim": 2}, {}),
}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("place", PLACES)
def test_a_dataset_has_the_numbers_of_the_result_by_name(place):
    pytest.importorskip("xarray", reason="needs the extra `query`")
    env_id, keywords, options = PLACES[place]
    result = evaluate(env_id, ["random", "gp-ucb"], trials=3, first_trial=2, env_kwargs=keywords, **options)
    data = result.to_xarray()
    assert dict(data.sizes) | {"agent": 2, "trial": 3, "round": len(result.rounds)} == dict(data.sizes)
    assert data.attrs == {"environment": result.environment, "seed": 0}
    for label, kept in result.records.items():
        one = data.sel(agent=label)
        expected = {"regret": result.regret[label], "round_regret": kept.regret}
        expected |= {"round_violation": kept.violation, "simple_regret": kept.simple_regret}
        expected |= {"action": kept.action, "seconds": kept.seconds}
        expected |= {"round_cost": kept.cost} if result.num_constraints else {}
        assert set(one.data_vars) == set(expected)
        for name, values in expected.items():
            np.testing.assert_array_equal(one[name], values)
    last = data["regret"].sel(agent="random", trial=4, round=result.rounds[-1])
    assert float(last) == result.regret["random"][2, -1]


@pytest.mark.long
def test_the_queries_of_the_page_answer_what_the_results_say(tmp_path, monkeypatch):
    pytest.importorskip("duckdb", reason="needs the extra `query`")
    pytest.importorskip("xarray", reason="needs the extra `query`")
    pytest.importorskip("tensorboard", reason="needs the extra `trackers`")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "__main__"}
    for block in re.findall(r"^```python\n(.*?)^```", GUIDE.read_text(encoding="utf-8"), re.M | re.S):
        exec(compile(block, GUIDE.name, "exec", dont_inherit=True), names)
    results = {label: Result.load(f"asked/results/{label}.parquet") for label in ("smooth", "rkhs")}
    regret = {
        (place, agent): curve for place, result in results.items() for agent, curve in result.regret.items()
    }
    best = {(place, agent): (mean, n) for place, agent, mean, n in names["best"].fetchall()}
    assert best == {key: (pytest.approx(curve[:, -1].mean()), 6) for key, curve in regret.items()}
    for agent, t, mean, error in names["growth"].fetchall():
        values = regret["smooth", agent][:, t - 1]
        assert (mean, error) == (pytest.approx(values.mean()), pytest.approx(values.std(ddof=1) / 6**0.5))
    gap = regret["smooth", "narrow"][:, -1] - regret["smooth", "wide"][:, -1]
    assert names["paired"].fetchall() == [(pytest.approx(gap.mean()), pytest.approx((gap < 0).mean()))]
    places = {"GPBandit-GP-v0": "smooth", "GPBandit-RKHS-v0": "rkhs"}
    labels = {1.0: "narrow", 3.0: "wide"}
    swept = names["swept"].fetchall()
    assert len(swept) == 4
    for place, width, mean in swept:
        assert mean == pytest.approx(regret[places[place], labels[width]][:, -1].mean())
    assert {(agent, version) for agent, _, _, version in names["slowest"].fetchall()} == {
        ("gp-ucb", np.__version__),
        ("random", np.__version__),
    }
