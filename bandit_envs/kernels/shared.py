"""Share the computations of a kernel on points among all objects that need them at the same time.

An environment and the agents that play it make covariances of their own, mostly of the same kernel. A result
of one of them serves the others as long as any of them is alive: a worker that plays many cells of one
environment keeps it as long as the environment. Nothing outlives its users.
"""

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
FEWEST = 512  # points from which sharing pays: for fewer, a key costs as much as the computation


class SharedParts(dict[str, Any]):
    """Hold the results of one kernel on some points, by name."""


alive: WeakValueDictionary[tuple[bytes, bytes], SharedParts] = WeakValueDictionary()


class Shares:
    """Share the `shared` properties of a kernel on points, (N, d); a copy starts without them."""

    def __init__(self, kernel: Kernel, points: Floats):
        self.kernel = kernel
        self.points = np.ascontiguousarray(points, dtype=np.float64)
        self.size = len(self.points)
        self.parts: SharedParts | None = None  # a reference, so that they stay alive

    @cached_property
    def _digest(self) -> bytes:
        return sha256(repr(self.points.shape).encode() + self.points.tobytes()).digest()

    def known(self) -> SharedParts | None:
        """Return the shared results of the kernel as it is now; None where it cannot be identified."""
        if self.size < FEWEST:
            return None
        try:
            key = pickle.dumps(self.kernel), self._digest
        except (pickle.PicklingError, AttributeError, TypeError):  # classes and functions without a name
            return None
        self.parts = alive.setdefault(key, SharedParts())
        return self.parts

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without shared results."""
        return {**self.__dict__, "parts": None}


class shared(Generic[T]):
    """Compute a property once, in this object or another with the same kernel and points.

    The result must depend on these alone, not on earlier calls. Do not write to it.
    """

    def __init__(self, compute: Callable[[Any], T]):
        self._compute, self.__doc__ = compute, compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, owner: None, kind: type) -> "shared[T]": ...
    @overload
    def __get__(self, owner: Shares, kind: type) -> T: ...
    def __get__(self, owner: Shares | None, kind: type) -> "shared[T] | T":
        if owner is None:
            return self
        parts = owner.known()
        if parts is None:
            found = self._compute(owner)
        elif self._name in parts:
            found = parts[self._name]
        else:
            found = parts[self._name] = self._compute(owner)
        owner.__dict__[self._name] = found  # found there before this descriptor
        return found
