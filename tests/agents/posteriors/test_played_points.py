"""The list of played points that is kept is that of the counts."""

import numpy as np

from agents.posteriors.play_counts import LONGEST, PlayCounts

TRIALS, POINTS = 3, 20


def test_played_points_are_those_with_a_count_however_plays_are_written():
    rng, journal = np.random.default_rng(0), PlayCounts(np.ones(TRIALS), POINTS)
    count = np.zeros((TRIALS, POINTS))
    for step in range(2 * LONGEST):
        trial = np.arange(TRIALS) if step % 3 else np.array([rng.integers(TRIALS)])
        point = rng.integers(min(POINTS, 2 + step // 20), size=len(trial))
        if len(trial) == 1:
            journal.write_one(trial.item(), point.item(), 0.5, 1.5)
        else:
            journal.write(trial * POINTS + point, np.ones(TRIALS), np.ones(TRIALS))
        count[trial, point] += 1.0
        if step == 3 or step % 7 == 0 or step > LONGEST + 20:  # the last ones are added up by themselves
            asked = rng.integers(TRIALS)
            np.testing.assert_array_equal(journal.played(asked), count[asked].nonzero()[0])
    np.testing.assert_array_equal(journal.count, count)
