"""What is computed of a kernel on some points, shared by all that ask for it at the same time.

An environment and the agents that play it make covariances of their own, mostly of the same kernel. What one
of them has computed serves the others as long as any of them is alive: in a worker that plays many cells of
one environment, as long as that is kept. Nothing is kept for its own sake.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from functools import cached_property
from hashlib import sha256
from typing import Any, Generic, TypeVar, overload
from weakref import WeakValueDictionary

import numpy as np
from sklearn.gaussian_process.kernels import Kernel

from bandit_envs.basics.types import Floats

T = TypeVar("T")
FEWEST = 512  # points for which it pays: of fewer, a key costs as much as the work


class Parts(dict[str, Any]):
    """What is known of one kernel on some points, by name."""


_alive: WeakValueDictionary[tuple[bytes, bytes], Parts] = WeakValueDictionary()


class Shares:
    """Has a kernel and points, of which what `shared` computes is shared; a copy begins anew.

    Args:
        kernel: a scikit-learn kernel.
        points: features in the kernel's units, (N, d).
    """

    def __init__(self, kernel: Kernel, points: Floats):
        self.kernel = kernel
        self.points = np.ascontiguousarray(points, dtype=np.float64)
        self.size = len(self.points)
        self.parts: Parts | None = None  # held, so that they live

    @cached_property
    def _digest(self) -> bytes:
        return sha256(repr(self.points.shape).encode() + self.points.tobytes()).digest()

    def known(self) -> Parts | None:
        """What is known of the kernel as it is now; None where it cannot be told from others."""
        if self.size < FEWEST:
            return None
        try:
            key = pickle.dumps(self.kernel), self._digest
        except (pickle.PicklingError, AttributeError, TypeError):  # of a class or function without a name
            return None
        self.parts = _alive.setdefault(key, Parts())
        return self.parts

    def __getstate__(self) -> dict[str, Any]:
        """Without what others have computed."""
        return {**self.__dict__, "parts": None}


class shared(Generic[T]):
    """A property that is computed once, here or by another of the same kernel and points.

    What it computes must follow from these alone, not from what was asked before. Do not write to it.

    Args:
        compute: from the object.
    """

    def __init__(self, compute: Callable[[Any], T]):
        self._compute, self.__doc__ = compute, compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, owner: None, kind: type) -> shared[T]: ...
    @overload
    def __get__(self, owner: Shares, kind: type) -> T: ...
    def __get__(self, owner: Shares | None, kind: type) -> shared[T] | T:
        if owner is None:
            return self
        parts = owner.known()
        if parts is None:
            found = self._compute(owner)
        elif self._name in parts:
            found = parts[self._name]
        else:
            found = parts[self._name] = self._compute(owner)
        owner.__dict__[self._name] = found  # which is looked at first
        return found
