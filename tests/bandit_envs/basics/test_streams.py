"""Seeds that are hashed together are those of numpy, word by word."""

import numpy as np
import pytest

from bandit_envs.basics.streams import FEW, streams

EDGES = [0, 1, 2**32 - 1, 2**32, 2**63 - 1]
KEYS = [0, 1, 8]
ENTROPIES = EDGES + np.random.default_rng(0).integers(2**63, size=50).tolist()


@pytest.mark.parametrize("count", [1, FEW - 1, FEW, len(ENTROPIES)])
def test_seeds_of_many_trials_are_those_of_seed_sequence(count):
    found = streams(ENTROPIES[:count], KEYS)
    assert len(found) == count
    for entropy, seeds in zip(ENTROPIES, found, strict=False):
        for key, seed in zip(KEYS, seeds, strict=True):
            expected = np.random.SeedSequence(entropy, spawn_key=(key,))
            assert (seed.entropy, seed.spawn_key) == (entropy, (key,))
            for words, kind in ((4, np.uint64), (8, np.uint32), (5, np.uint32)):
                np.testing.assert_array_equal(
                    seed.generate_state(words, kind), expected.generate_state(words, kind)
                )


def test_generators_and_their_children_draw_what_those_of_numpy_draw():
    ours = np.random.default_rng(streams(ENTROPIES, KEYS)[3][1])
    theirs = np.random.default_rng(np.random.SeedSequence(ENTROPIES[3], spawn_key=(KEYS[1],)))
    np.testing.assert_array_equal(ours.random(5), theirs.random(5))
    for _ in range(2):  # other children each time
        for one, other in zip(ours.spawn(2), theirs.spawn(2), strict=True):
            np.testing.assert_array_equal(one.random(5), other.random(5))
