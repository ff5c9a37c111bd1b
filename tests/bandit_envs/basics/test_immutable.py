"""Fixed arrays hold the same numbers, and nobody can write to them."""

import numpy as np
import pytest

from bandit_envs.basics.types import fixed, is_fixed

TABLE = np.arange(6).reshape(2, 3)
EMPTY, POINT, EVERY_OTHER = np.empty((0, 2)), np.array(3.0), np.arange(9.0)[::2]
GIVEN = [TABLE, np.asfortranarray(TABLE), EMPTY, POINT, EVERY_OTHER, np.array([True]), np.ones(2, np.float32)]


@pytest.mark.parametrize("values", GIVEN, ids=str)
def test_numbers_type_and_order_are_kept(values):
    again = fixed(values)
    np.testing.assert_array_equal(again, values, strict=True)
    assert again.flags.f_contiguous >= values.flags.f_contiguous
    assert fixed(again) is again


@pytest.mark.parametrize("values", GIVEN, ids=str)
def test_writing_is_an_error_also_after_setting_the_flag_and_through_a_view(values):
    again = fixed(values)
    for each in (again, again[...], again.view(), again.T):
        assert is_fixed(each)
        with pytest.raises(ValueError, match="cannot set WRITEABLE flag to True"):
            each.setflags(write=True)
        with pytest.raises(ValueError, match="read-only"):
            each[...] = 0
    assert not is_fixed(again.copy())
