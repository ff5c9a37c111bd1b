"""Plain data is read as it was written, and bytes of anybody build nothing else."""

from __future__ import annotations

import json
import pickle
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from gpbandits.evaluation.isolation import MOST_TEXT, NUMBERS, NotPlainError, read, write

LEAVES = st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats(allow_nan=False) | st.text()
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner))


@given(VALUES)
def test_values_are_read_as_they_were_written(value):
    assert read(write(value)) == value


@given(st.sampled_from(sorted(NUMBERS)), array_shapes(min_dims=0, min_side=0), st.data())
def test_arrays_keep_type_shape_and_bits(kind, shape, data):
    value = data.draw(arrays(kind, shape))
    (again,) = read(write([value]))
    assert (again.dtype, again.shape, again.tobytes()) == (value.dtype, value.shape, value.tobytes())
    assert not shape or again.flags.writeable


def test_arrays_in_other_orders_keep_their_numbers():
    value = np.arange(6.0).reshape(2, 3)
    for given_ in (value.T, value.astype(">f8"), value[:, ::2]):
        np.testing.assert_array_equal(read(write(given_)), given_)


@pytest.mark.parametrize(
    "value", [object(), {1, 2}, b"x", np.array([None]), np.array(["x"]), {1: 2}, "a" * (MOST_TEXT + 1)]
)
def test_what_is_no_plain_data_is_refused_by_its_type(value):
    with pytest.raises(NotPlainError):
        write(value)


def line(value, rest=b""):
    return json.dumps(value).encode() + b"\n" + rest


FORGED = {
    "pickle": pickle.dumps([1, 2]),
    "no newline": b"[1]",
    "no json": b"{]\n",
    "another kind": line({"object": ["os.system", "true"]}),
    "two kinds": line({"array": ["<f8"], "dict": {}}),
    "objects": line({"array": ["|O", 1]}, bytes(8)),
    "a type that is a list": line({"array": [["<f8"], 1]}, bytes(8)),
    "no type": line({"array": []}),
    "too few bytes": line({"array": ["<f8", 2]}, bytes(8)),
    "too many bytes": line({"array": ["<f8", 1]}, bytes(16)),
    "a negative size": line({"array": ["<f8", -1]}, bytes(8)),
    "a size that is true": line({"array": ["|b1", True]}, bytes(1)),
    "a vast size beside 0": line({"array": ["<f8", 0, 10**30]}),
    "a vast shape": line({"array": ["<f8", 10**8, 10**8]}),
    "too many axes": line({"array": ["|b1", *[1] * 100]}, bytes(1)),
    "a dict that is a list": line({"dict": [1]}),
    "a number of many digits": b"1" * 10_000 + b"\n",
    "deep lists": b"[" * 10**6 + b"]" * 10**6 + b"\n",
    "much text": b" " * (MOST_TEXT + 1) + b"1\n",
}


@pytest.mark.parametrize("name", FORGED)
def test_forged_bytes_are_refused(name):
    with pytest.raises(NotPlainError):
        read(FORGED[name])


@given(st.binary(max_size=200), st.integers(0, 10**6), st.integers(0, 255))
def test_any_other_bytes_are_plain_data_or_refused(content, at, byte):
    whole = bytearray(write([content.hex(), np.arange(3), {"a": 1.5}]))
    whole[at % len(whole)] = byte
    for given_ in (content, bytes(whole)):
        with suppress(NotPlainError):
            read(given_)
