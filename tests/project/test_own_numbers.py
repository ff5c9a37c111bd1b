"""The guide to numbers of one's own: short blocks of public names, whose problems have the stated numbers."""

from pathlib import Path

import numpy as np
import pytest
from pages import blocks
from sklearn.gaussian_process.kernels import RBF

from bandit_envs import Problem
from bandit_envs.laws import NoNoise, RecordedValues
from bandit_envs.laws.drift import Replay
from gpbandits import evaluate

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "own_numbers.md"
BLOCKS = blocks(GUIDE, "python")


@pytest.mark.parametrize("block", BLOCKS[1:])  # the first one imports
def test_a_block_has_at_most_six_lines_and_a_picture(block):
    assert len([line for line in block.splitlines() if line.strip()]) <= 6
    assert ".plot(" in block


@pytest.fixture(scope="module")
def names():
    """What all blocks have named, after they ran in order."""
    found: dict[str, object] = {"__name__": "__main__"}
    for block in BLOCKS:
        exec(compile(block, GUIDE.name, "exec", dont_inherit=True), found)
    return found


@pytest.mark.long
def test_the_problems_have_the_stated_numbers(names):
    assert names["clicks"].draw(0).optimum.max() == 0.11
    assert names["counted"].draw(0).optimum.max() == 5.0
    assert names["problem"].draw(0).optimum[0] == 0.8  # the best below the limit


@pytest.mark.long
def test_regret_over_time_is_to_the_best_of_each_round(names):
    rewards, total = names["rewards"], names["total"]
    problem = Problem(
        names["arms"], RecordedValues(rewards), RBF(0.5), noise=NoNoise(), drift=Replay(1), horizon=60
    )
    regret = evaluate(problem, ["epsilon-greedy"], trials=3).regret["epsilon-greedy"][:, -1]
    np.testing.assert_allclose(regret, rewards.max(axis=1).sum() - total)
