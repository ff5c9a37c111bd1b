"""The edge of a window lies where it is written, whatever the unit of time."""

import numpy as np
import pytest

from agents.model.clock import Clock, in_time

ROUNDS = 200


@pytest.mark.parametrize("interval", [0.1, 0.3, 1.0, 60.0, 1e-3 / 3])
@pytest.mark.parametrize("window", [1, 3, 7])
def test_what_counts_does_not_depend_on_the_unit_of_time(interval, window):
    whole, scaled = Clock(np.arange(ROUNDS)), Clock(interval * np.arange(ROUNDS))
    for now in range(ROUNDS - 1):
        played = np.arange(now + 1)
        expected = in_time(whole.delay(played, now), window)
        np.testing.assert_array_equal(in_time(scaled.delay(played, now), interval * window), expected)
        assert scaled.recent(now, interval * window) == whole.recent(now, window)
    assert expected.sum() == window
