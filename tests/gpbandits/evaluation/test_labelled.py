"""A dataset of xarray has the arrays of its result, and the page of queries answers what results say."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpbandits import evaluate
from gpbandits.evaluation.result import Result

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
    for label, record in result.records.items():
        one = data.sel(agent=label)
        np.testing.assert_array_equal(one["regret"], result.regret[label])
        np.testing.assert_array_equal(one["round_regret"], record.regret)
        np.testing.assert_array_equal(one["simple_regret"], record.simple_regret)
        np.testing.assert_array_equal(one["round_violation"], record.violation)
        np.testing.assert_array_equal(one["action"], record.action)
        np.testing.assert_array_equal(one["seconds"], record.seconds)
        assert ("round_cost" in one) == (result.num_constraints > 0)
        if "round_cost" in one:
            np.testing.assert_array_equal(one["round_cost"], record.cost)
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
