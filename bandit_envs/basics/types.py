"""Name the array types that signatures use, and make arrays that nobody can write to.

The numbers of these lie in `bytes`, so that numpy refuses to lift the protection.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


def fixed(values: Any) -> Any:
    """Return an array of the same numbers, type and order that nobody can write to, even by `setflags`.

    A flag alone protects nothing: whoever has the array, or one that it is a view of, may set it again.
    """
    if is_fixed(values):
        return values
    order = "F" if values.flags.f_contiguous and not values.flags.c_contiguous else "C"
    return np.ndarray(values.shape, values.dtype, values.tobytes(order), order=order)


def is_fixed(values: Any) -> bool:
    """Return True if an array is what `fixed` returns, or a view of it."""
    owner = values
    while isinstance(owner, np.ndarray):
        owner = owner.base
    return isinstance(owner, bytes)


def fixed_arrays(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes of an object with their arrays fixed; pickles and deep copies write anew."""
    return {name: fixed(each) if isinstance(each, np.ndarray) else each for name, each in state.items()}
