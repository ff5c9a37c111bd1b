"""`reading="paper"` plays what the pseudocode of Shi & Eryilmaz (2022) says, and nothing else."""

import numpy as np
import pytest
from penalised_cases import BOTH, discs
from sklearn.gaussian_process.kernels import ConstantKernel, Matern

import agents
from gpbandits import evaluate


@pytest.mark.parametrize("name", BOTH)
def test_options_override_the_paper_reading(name):
    agent = agents.make(name, discs(), reading="paper", initial=3, epoch=5)
    assert agent.model.initial == 3


@pytest.mark.sampled(1)
@pytest.mark.parametrize("constraint", ["dual", "multiplicative"])
def test_a_composed_agent_reads_the_paper_too(constraint):
    name = BOTH[constraint == "dual"]
    problem = discs(horizon=45)
    kernel = ConstantKernel(4.0) * Matern(2.0, nu=2.5)
    options = {"reading": "paper", "epoch": 10}
    specs = {
        "composed": ("gp-agent", {"kernel": kernel, "constraint": constraint, "constraint_options": options}),
        "named": (name, {"kernel": kernel, **options}),
    }
    plays = evaluate(problem, specs, trials=2).actions
    np.testing.assert_array_equal(plays["composed"], plays["named"])
