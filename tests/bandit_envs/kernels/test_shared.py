"""What is computed of a kernel on some points serves all that are alive, and changes no number."""

import copy
import gc
import pickle

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, DotProduct, Matern

import agents
from bandit_envs.kernels import gram as shared
from bandit_envs.kernels.gram import Gram
from bandit_envs.problems import build
from gpbandits.experiments.work import nbytes

SIZE = shared.FEWEST
POINTS = np.linspace(0.0, 1.0, SIZE)[:, None]
PARTS = [name for name, each in vars(Gram).items() if isinstance(each, shared.shared)]


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("kernel", [RBF(0.3), Matern(0.3, nu=1.5), DotProduct()], ids=str)
def test_a_part_is_the_same_object_in_two_and_the_same_numbers_in_one_alone(kernel, part):
    first, second = Gram(kernel, POINTS), Gram(copy.deepcopy(kernel), POINTS.copy())
    assert getattr(first, part) is getattr(second, part)
    kept = pickle.dumps(getattr(first, part))
    del first, second
    assert pickle.dumps(getattr(Gram(kernel, POINTS), part)) == kept


@pytest.mark.parametrize("part", PARTS)
def test_what_was_asked_before_changes_no_part(part):
    alone = pickle.dumps(getattr(Gram(DotProduct(), POINTS), part))
    asked = Gram(DotProduct(), POINTS)
    assert asked.dense.shape == (SIZE, SIZE)
    assert pickle.dumps(getattr(asked, part)) == alone


def test_other_kernels_and_points_have_parts_of_their_own():
    one = Gram(RBF(0.3), POINTS)
    others = [Gram(RBF(0.3001), POINTS), Gram(RBF(0.3), POINTS[::-1]), Gram(1.0 * RBF(0.3), POINTS)]
    assert all(one.dense is not other.dense for other in others)


def test_a_kernel_that_is_changed_later_is_another():
    kernel = RBF(0.3)
    early, late = Gram(kernel, POINTS), Gram(RBF(0.3), POINTS)
    kernel.length_scale = 0.6
    np.testing.assert_array_equal(early.dense, RBF(0.6)(POINTS))
    np.testing.assert_array_equal(late.dense, RBF(0.3)(POINTS))


class Unnamed(RBF):
    """A kernel that cannot be told from others."""

    def __reduce__(self):
        raise TypeError("it is not data")


def test_a_kernel_that_is_no_data_is_shared_with_nobody():
    first, second = Gram(Unnamed(0.3), POINTS), Gram(Unnamed(0.3), POINTS)
    np.testing.assert_array_equal(first.dense, second.dense)
    assert first.dense is not second.dense


@pytest.mark.long
def test_nothing_outlives_those_who_use_it():
    gc.collect()
    before = len(shared.alive)
    one = Gram(RBF(0.37), POINTS)
    assert one.root.shape[1] == SIZE
    assert len(shared.alive) > before
    del one
    gc.collect()
    assert len(shared.alive) == before


def test_a_copy_takes_nothing_of_others_along():
    one, other = Gram(RBF(0.3), POINTS), Gram(RBF(0.3), POINTS)
    assert one.diagonal.shape == other.diagonal.shape
    size = len(pickle.dumps(one))
    assert other.dense is not None
    assert "dense" in (one.known() or ())  # now it holds what the other has computed
    assert len(pickle.dumps(one)) < size + SIZE


@pytest.mark.parametrize("name", ["gp-ucb", "gp-ts"])
def test_agents_after_agents_find_what_the_environment_keeps(name, monkeypatch):
    problem = build("gp", {"num_arms": SIZE, "horizon": 5, "kernel": "matern32"})
    assert problem.draw(0) is not None
    seen = np.zeros(1)

    def first_arm() -> int:
        agent = agents.make(name, problem)
        agent.reset(0)
        return agent.act(seen)

    arm = first_arm()
    assert nbytes(problem, set()) > 8 * SIZE  # what agents have computed counts as the environment's

    def never(*_):
        raise AssertionError("this was done before")

    monkeypatch.setattr(shared.definite, "pivoted_root", never)
    monkeypatch.setattr(Gram, "pivoted_cholesky", never)
    assert first_arm() == arm
