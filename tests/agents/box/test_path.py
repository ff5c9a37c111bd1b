"""A draw of a function, told point by point, is one joint sample."""

import numpy as np
import pytest
from box_cases import KERNEL, plays, surface_of

from agents.box.acquisition_surface import Path


@pytest.mark.long
def test_a_path_in_parts_is_one_joint_sample():
    """Second moments over many draws are the posterior covariance, also between points of different calls."""
    x, y = plays(5)
    surface, draws = surface_of(x, y), 4000
    parts = [np.random.default_rng(4).random((3, 2)), np.random.default_rng(5).random((2, 2))]
    at = np.vstack(parts)
    drawn = np.empty((draws, 5))
    for i in range(draws):
        path = Path(surface, np.random.default_rng(i))
        drawn[i] = np.concatenate([path(part) for part in parts])
    explained = surface.explain(at)
    covariance = KERNEL(at) - explained.T @ explained
    variance = np.diag(covariance)
    error = np.sqrt((np.multiply.outer(variance, variance) + covariance**2) / draws)
    assert (np.abs(drawn.T @ drawn / draws - covariance) < 4.5 * error).all()
    assert (np.abs(drawn.mean(axis=0)) < 4.5 * np.sqrt(variance / draws)).all()
