"""The belief about the cost of a play, against scipy's lognormal distribution."""

import numpy as np
from scipy.stats import lognorm

from agents.beliefs.play_costs import CostBand

MEAN, STD = np.array([[-0.7, 0.2, 1.1]]), np.array([[0.3, 0.9, 0.05]])
BAND = CostBand(MEAN, STD, logarithmic=True, least=0.0)


def test_the_expected_cost_and_its_powers_are_those_of_a_lognormal():
    np.testing.assert_allclose(BAND.expected, lognorm.mean(STD, scale=np.exp(MEAN)), rtol=1e-12)
    power = 0.4  # k^-a is lognormal too, of ln k^-a ~ N(-a m, (a s)^2)
    expected = lognorm.mean(power * STD, scale=np.exp(-power * MEAN))
    np.testing.assert_allclose(np.exp(BAND.log_power(np.array([[power]]))), expected, rtol=1e-12)
