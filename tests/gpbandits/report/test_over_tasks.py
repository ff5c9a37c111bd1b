"""Tests over tasks: Wilcoxon's signed ranks with Holm's correction."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import rankdata

from gpbandits.report.board import signed_ranks


def by_all_signs(differences: np.ndarray) -> float:
    """The share of all sign patterns whose sum of signed ranks is as far from its mean."""
    ranks = rankdata(np.abs(differences))
    own = abs(float(np.sign(differences) @ ranks))
    sums = [abs(float(np.dot(signs, ranks))) for signs in product((-1.0, 1.0), repeat=len(ranks))]
    return float(np.mean([each >= own - 1e-9 for each in sums]))


@pytest.mark.parametrize("shift", [0.0, 0.5, -2.0])
def test_one_sequence_has_the_exact_p_value_whatever_its_sign(shift):
    gaps = np.random.default_rng(3).normal(shift, 1.0, 9)
    assert signed_ranks([gaps]) == pytest.approx([by_all_signs(gaps)])
    assert signed_ranks([-gaps]) == pytest.approx(signed_ranks([gaps]))


def test_several_are_corrected_and_equal_ones_never_differ():
    rng = np.random.default_rng(4)
    first, second = rng.normal(1.0, 1.0, 8), rng.normal(0.2, 1.0, 10)
    least, most = sorted([by_all_signs(first), by_all_signs(second)])
    found = signed_ranks([first, second, np.full(7, 1e-12)])
    assert found[2] == 1.0
    assert sorted(found[:2]) == pytest.approx([3.0 * least, min(1.0, max(3.0 * least, 2.0 * most))])
