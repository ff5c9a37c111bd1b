"""Measures are exact at every recorded round, whatever rounds are kept between."""

import dataclasses
import functools
from typing import get_args

import numpy as np
import pytest

from gpbandits.evaluation import Result, evaluate, thinning, trace
from gpbandits.evaluation.curves import Metric
from gpbandits.evaluation.measures import MEASURES
from gpbandits.report.standings import relative_losses

HORIZON = 50
ROUNDS = [2, 7, 13, 14, 40, HORIZON]
ENVIRONMENTS = {
    "costs": ("GPBandit-Composite-v0", {"num_arms": 20, "horizon": HORIZON}),
    "budget": (
        "GPBandit-Budget-v0",
        {"num_arms": 20, "horizon": HORIZON, "budget": {"law": "gp", "budget": 6, "noise_std": 0.1}},
    ),
}


@functools.cache
def played(name, thinned=False):
    env_id, keywords = ENVIRONMENTS[name]
    rounds = ROUNDS if thinned else None
    return evaluate(env_id, ["gp-ucb", "random"], trials=3, env_kwargs=keywords, checkpoints=rounds)


def thinned_in_blocks(name, tmp_path, monkeypatch):
    for module in (trace, thinning):
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
@pytest.mark.parametrize("metric", get_args(Metric))
def test_every_metric_of_a_thinned_run_equals_that_of_the_full_record(metric, environment):
    full, thin = played(environment), played(environment, thinned=True)
    if metric == "budget" and not full.spent:
        pytest.skip("there is no budget")
    for label, curve in full.curves(metric).items():
        np.testing.assert_array_equal(thin.curves(metric)[label], curve[:, np.array(ROUNDS) - 1])


def test_tables_and_losses_of_a_thinned_run_are_those_of_the_full_record():
    full, thin = played("costs"), played("costs", thinned=True)
    assert thin.safety_table().rows == full.safety_table().rows
    assert full.unsafe_plays["random"][:, -1].max() > len(ROUNDS)  # more than one a checkpoint
    untimed = [[row[:-1] for row in result.table().rows] for result in (thin, full)]
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
