"""How often detectors alarm without a change, as a claim."""

import dataclasses

import numpy as np
import pytest
from synthetic import result

from gpbandits.evaluation.record import ragged
from gpbandits.reproductions.verdicts import HOLDS, OPEN, REVERSED, SeldomBeforeChange


def alarming(first_alarms, change=30):
    """A result of an agent whose trials have these first alarms, None without one."""
    base = result(num_trials=len(first_alarms), horizon=60)
    alarms = ragged([() if each is None else (each, 50) for each in first_alarms])
    changes = ragged([(change,)] * len(first_alarms))
    records = {
        label: record._replace(alarms=alarms, changes=changes) for label, record in base.records.items()
    }
    return dataclasses.replace(base, records=records)


@pytest.mark.parametrize(
    ("early", "expected"), [(0, HOLDS), (3, OPEN), (30, REVERSED)], ids=["none", "some", "most"]
)
def test_the_share_of_trials_with_an_alarm_before_the_change_is_judged_by_its_interval(early, expected):
    outcome = alarming([10] * early + [None, 35] * ((40 - early) // 2) + [40] * (early % 2))
    row = SeldomBeforeChange(outcome.agents[0], 0.1).row(outcome)
    assert row.verdict == expected
    assert row.measured.startswith(f"{early / 40:.3g}"[:4])


def test_an_alarm_in_the_round_of_the_change_is_none_before_it():
    outcome = alarming([30] * 20)
    assert SeldomBeforeChange(outcome.agents[0], 0.1).row(outcome).verdict == HOLDS
    assert SeldomBeforeChange("absent", 0.1).rows([outcome]) == []
    np.testing.assert_array_equal(outcome.num_trials, 20)
