"""Seed the streams of many trials at once: numpy's `SeedSequence`, computed on arrays with an entry a trial.

One `SeedSequence` takes 8 microseconds, of which numbers take hardly any. numpy promises that its algorithm
does not change (NEP 19); the tests compare every state with numpy's own.
"""

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.random.bit_generator import ISpawnableSeedSequence

Words = np.ndarray  # uint32 (...)
States = np.ndarray  # uint64 (..., 4), with which a PCG64 begins

FEW = 10  # entropies, for fewer of which numpy's class is faster
POOL = 4  # words that hold the entropy
SHIFT = np.uint32(16)
LEFT, RIGHT = np.uint32(0xCA01F9DD), np.uint32(0x4973F715)


def _constants(first: int, factor: int, count: int) -> list[tuple[np.uint32, np.uint32]]:
    """Return pairs of successive constants of the hash."""
    powers = [np.uint32(first * factor**i % 2**32) for i in range(count + 1)]
    return list(pairwise(powers))


OF_POOL = _constants(0x43B0D7E5, 0x931E8875, POOL * (POOL + 1))
OF_STATE = _constants(0x8B51F9DD, 0x58F38DED, 2 * POOL)


class Stream(ISpawnableSeedSequence):
    """Hold the seed of a `SeedSequence`, made if needed, and the state that begins a generator, (4,)."""

    def __init__(self, entropy: int, spawn_key: tuple[int, ...], state: States):
        self.entropy, self.spawn_key, self._state = entropy, spawn_key, state

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> Any:
        """Return so many words, as numpy's class does."""
        if (n_words, dtype) == (4, np.uint64):
            return self._state
        return self._whole.generate_state(n_words, dtype)

    def spawn(self, n_children: int) -> Any:
        """Return further children, as numpy's class does."""
        return self._whole.spawn(n_children)

    @cached_property
    def _whole(self) -> np.random.SeedSequence:
        return np.random.SeedSequence(self.entropy, spawn_key=self.spawn_key)


def streams(entropies: Sequence[int], keys: Sequence[int]) -> list[list[np.random.SeedSequence]]:
    """Return for each entropy the seeds `SeedSequence(entropy, spawn_key=(key,))` of all keys."""
    if len(entropies) < FEW:
        return [[np.random.SeedSequence(each, spawn_key=(key,)) for key in keys] for each in entropies]
    made: Any = Stream  # has what generators and draws use of the other class
    found = states(entropies, keys)
    return [
        [made(entropy, (key,), found[k, i]) for k, key in enumerate(keys)]
        for i, entropy in enumerate(entropies)
    ]


def states(entropies: Sequence[int], keys: Sequence[int]) -> States:
    """Return the states of `SeedSequence(entropy, spawn_key=(key,))` for n entropies, (keys, n, 4)."""
    entropy = np.array(entropies, dtype=np.uint64)
    low, high = entropy.astype(np.uint32), (entropy >> np.uint64(32)).astype(np.uint32)
    constants, zero = iter(OF_POOL), np.zeros_like(low)
    pool = [_hashed(word, next(constants)) for word in (low, high, zero, zero)]
    for source in range(POOL):
        for target in range(POOL):
            if target != source:
                pool[target] = _mixed(pool[target], _hashed(pool[source], next(constants)))
    key = np.array(keys, dtype=np.uint32)[:, None]
    pool = [_mixed(word, _hashed(key, next(constants))) for word in pool]
    found = np.stack([_hashed(pool[i % POOL], OF_STATE[i]) for i in range(2 * POOL)], axis=-1)
    return found.astype("<u4").view("<u8").astype(np.uint64)


def _hashed(word: Words, constants: tuple[np.uint32, np.uint32]) -> Words:
    before, after = constants
    product = (word ^ before) * after
    return product ^ (product >> SHIFT)


def _mixed(one: Words, other: Words) -> Words:
    difference = LEFT * one - RIGHT * other
    return difference ^ (difference >> SHIFT)
