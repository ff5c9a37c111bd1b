"""Results with the shapes and the looks of real ones, for tests of what is done with results."""

import numpy as np

from gpbandits.evaluation.comparison import SETS
from gpbandits.evaluation.record import Record, ragged
from gpbandits.evaluation.result import Result


def record(num_trials=8, horizon=60, num_constraints=0, dim=0, exponent=0.5, seed=0, factor=1.0, shift=0.0):
    rng = np.random.default_rng(seed)
    drift = np.diff(np.arange(horizon + 1.0) ** exponent)
    regret = factor * rng.exponential(drift, size=(num_trials, horizon)) + shift
    action = rng.integers(100, size=(num_trials, horizon))
    cost = rng.normal(size=(num_trials, horizon, num_constraints))
    return Record(
        regret=regret,
        simple_regret=np.minimum.accumulate(regret, axis=1),
        cost=cost,
        violation=np.linalg.norm(np.maximum(cost, 0.0), axis=2),
        observed_cost=cost + rng.normal(size=cost.shape),
        action=rng.uniform(-1, 1, size=(num_trials, horizon, dim)).astype(np.float32) if dim else action,
        seconds=rng.uniform(0.01, 0.02, size=num_trials),
        changes=ragged([[]] * num_trials),
        alarms=ragged([None] * num_trials),
        infeasible=ragged([None] * num_trials),
    )


def result(
    privileged=frozenset(),
    approximate=frozenset(),
    assuming=frozenset(),
    unfit=frozenset(),
    labels=("GP-UCB", "GP-TS", "random"),
    **shape,
):
    records = {
        label: record(exponent=exponent, seed=i, **shape)
        for i, (label, exponent) in enumerate(zip(labels, (0.5, 0.6, 1.0), strict=False))
    }
    return Result(
        "GP, length-scale 0.2",
        3,
        records,
        frozenset(privileged),
        approximate=frozenset(approximate),
        assuming=frozenset(assuming),
        unfit=frozenset(unfit),
    )


def assert_same(one, other, timed=False):
    """Two results are equal, except for the seconds unless they are `timed`."""
    for name in ("environment", "seed", "first_trial", "agents", "tracks", "windows", "long_term", *SETS):
        assert getattr(one, name) == getattr(other, name), name
    np.testing.assert_array_equal(one.rounds, other.rounds)
    for label, kept in one.records.items():
        for name, value in kept._asdict().items():
            same = getattr(other.records[label], name)
            if timed or name != "seconds":
                np.testing.assert_equal(value, same, err_msg=name)
                assert getattr(value, "dtype", None) == getattr(same, "dtype", None), name
