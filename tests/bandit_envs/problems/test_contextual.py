"""Problems in contexts: the kernel over pairs, functions in a box, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, Matern

from bandit_envs import BanditEnv
from bandit_envs.problem.decisions import unit_grid
from bandit_envs.problems import build


@pytest.mark.parametrize("combine", ["product", "sum"])
def test_the_kernel_over_pairs_is_the_product_or_sum_over_contexts_and_arms(combine):
    joint = {"combine": combine, "kernel": "matern52", "length_scale": 0.4}
    problem = build("gp", {"num_arms": 9, "num_contexts": 4, "context_dim": 2, "dim": 2,
                           "kernel": "rbf", "context_kernel": joint})  # fmt: skip
    pairs = problem.decisions.points
    assert pairs.shape == (36, 4)
    of_context, of_arm = Matern(0.4, nu=2.5)(unit_grid(4, 2)), RBF(0.2)(unit_grid(9, 2))
    expected = (
        np.kron(of_context, of_arm)
        if combine == "product"
        else np.kron(of_context, np.ones((9, 9))) + np.kron(np.ones((4, 4)), of_arm)
    )
    np.testing.assert_allclose(problem.kernel(pairs), expected, rtol=1e-12)


def test_without_contexts_the_kernel_is_that_of_the_arms():
    assert build("gp", {"context_kernel": {"length_scale": 0.1}}).kernel == RBF(0.2)


def test_functions_in_a_box_vary_with_the_context():
    problem = build("rkhs", {"num_arms": 12, "num_contexts": 3, "continuous": True, "horizon": 60})
    env = BanditEnv(problem)
    env.reset(seed=0)
    means: dict[float, float] = {}
    observation = env.reset(seed=0)[0]
    for _ in range(60):
        key = float(observation[0])
        observation, _, _, _, info = env.step(np.array([0.3]))
        assert means.setdefault(key, info["oracle"]["mean"]) == info["oracle"]["mean"]
        assert info["oracle"]["regret"] >= -1e-9
    assert sorted(means) == [0.0, 0.5, 1.0]
    assert len(set(means.values())) == 3


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"num_contexts": 0}, "num_contexts must be a positive integer, got 0"),
        ({"context_dim": 0}, "context_dim must be a positive integer, got 0"),
        ({"context_kernel": {"combine": "mean"}}, r'"combine"\] must be "product" or "sum", got \'mean\''),
        ({"context_kernel": {"scale": 1}}, r"context_kernel must be a dict of combine, kernel, length_scale"),
        ({"context_kernel": "rbf"}, "context_kernel must be None or a dict, got 'rbf'"),
        (
            {"num_contexts": 2, "context_kernel": {"kernel": "rfb"}},
            r"context_kernel\[.kernel.\] must be one of .*, got 'rfb'",
        ),
    ],
)
def test_wrong_contexts_are_one_clear_error(keywords, message):
    with pytest.raises(ValueError, match=message):
        build("gp", keywords)
