"""What cannot be a covariance is refused where it comes in; the nearest that can is an option."""

import numpy as np
import pytest
from players import at_once
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Exponentiation, PairwiseKernel

import agents
from bandit_envs import BanditEnv, Decisions, Problem, Setting
from bandit_envs.kernels.definite import nearest_definite, require_definite
from bandit_envs.kernels.kernels import NAMED, OnColumns, TableKernel, make_kernel
from bandit_envs.laws import KnownFunction

EPS = np.finfo(np.float64).eps


def pairwise_covariances_of_sensors_with_gaps(sensors=12, times=20, seed=0):
    """Each entry from the times at which both sensors were read: no covariance of anything."""
    rng = np.random.default_rng(seed)
    readings = rng.standard_normal((times, sensors)).cumsum(axis=1)
    read = rng.random(readings.shape) < 0.7
    covariance = np.empty((sensors, sensors))
    for i, j in np.ndindex(sensors, sensors):
        both = read[:, i] & read[:, j]
        covariance[i, j] = np.cov(readings[both, i], readings[both, j])[0, 1]
    return covariance


INDEFINITE = pairwise_covariances_of_sensors_with_gaps()
SENSORS = np.arange(12.0)[:, None]


class Table(TableKernel):
    def __init__(self, covariance):
        self.covariance = covariance


BAD = {
    "a gap": (np.array([[1.0, np.nan], [np.nan, 1.0]]), "finite numbers"),
    "a row": (np.ones((1, 3)), r"shape \(n, n\)"),
    "skew": (np.array([[1.0, 0.5], [0.4, 1.0]]), "symmetric"),
    "text": (np.array([["a"]]), "finite numbers"),
    "negative": (-np.eye(2), "positive semi-definite"),
    "pairs with gaps": (INDEFINITE, r"positive semi-definite, got .*-.*nearest\("),
}


@pytest.mark.parametrize(("covariance", "message"), BAD.values(), ids=BAD.keys())
def test_what_is_no_covariance_is_refused(covariance, message):
    with pytest.raises(ValueError, match=f"covariance must be .*{message}"):
        TableKernel(covariance)


@pytest.mark.parametrize("seed", range(20))
def test_covariances_of_complete_records_are_accepted_whatever_their_rank(seed):
    rng = np.random.default_rng(seed)
    times, sensors = rng.integers(2, 30, size=2)
    units = 10.0 ** rng.uniform(-3, 3, sensors)
    TableKernel(np.atleast_2d(np.cov(units * rng.standard_normal((times, sensors)), rowvar=False)))


@pytest.mark.parametrize("seed", range(20))
def test_the_nearest_covariance_is_one_and_keeps_the_variances(seed):
    given = pairwise_covariances_of_sensors_with_gaps(seed=seed)
    near = nearest_definite(given)
    require_definite("near", near, "")
    np.testing.assert_allclose(np.diag(near), np.diag(given), rtol=1e-12)
    np.testing.assert_allclose(nearest_definite(near), near, atol=20 * len(near) * EPS * near.max())


def test_there_is_no_nearest_covariance_of_what_was_never_read_together():
    with pytest.raises(ValueError, match="covariance must be finite numbers"):
        nearest_definite(np.array([[1.0, np.nan], [np.nan, 1.0]]))


def test_the_nearest_covariance_is_no_farther_than_the_clipped_eigenvalues_but_for_the_scaling():
    values, vectors = np.linalg.eigh(INDEFINITE)
    clipped = (vectors * np.maximum(values, 0.0)) @ vectors.T
    correlation = clipped / np.sqrt(np.outer(np.diag(clipped), np.diag(clipped)))
    near = TableKernel.nearest(INDEFINITE).covariance
    deviation = np.sqrt(np.diag(INDEFINITE))
    np.testing.assert_allclose(near, correlation * np.outer(deviation, deviation), rtol=1e-9, atol=1e-12)


def test_an_agent_on_the_nearest_kernel_has_variances_of_its_own():
    setting = Setting(arms=SENSORS, kernel=TableKernel.nearest(INDEFINITE), horizon=12, noise_std=0.1)
    agent = agents.gp_ucb(setting, form="dense")
    agent.reset(0)
    for t in range(12):
        agent.update(np.zeros(1), t, 1.0, at_once(t, 1.0))
    _, deviation = agent.posterior(np.zeros(1))
    assert (deviation > 0.0).all()
    assert (deviation < 0.1).all()  # each was read once, with this noise


KERNELS = {
    "of somebody's own": Table(INDEFINITE),
    "in a sum": RBF(1e-6) * ConstantKernel(1e-6) + Table(INDEFINITE),
    "on columns": OnColumns(Table(INDEFINITE), [0]),
}


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS.keys())
def test_every_way_in_refuses_an_indefinite_kernel(kernel):
    message = r"kernel .* must be positive semi-definite, got a smallest eigenvalue of -.*TableKernel.nearest"
    for call in (
        lambda: Problem(Decisions(SENSORS), KnownFunction(lambda x: x[:, 0]), kernel),
        lambda: agents.gp_ucb(Setting(arms=SENSORS, kernel=kernel)),
        lambda: agents.gp_ucb(Setting(arms=SENSORS), kernel=kernel),
    ):
        with pytest.raises(ValueError, match=message):
            call()


def test_a_kernel_is_tried_all_over_a_box():
    sigmoid = PairwiseKernel(gamma=5.0, metric="sigmoid")
    box = Setting(low=np.array([-1.0]), high=np.array([1.0]))
    with pytest.raises(ValueError, match="positive semi-definite"):
        agents.gp_ucb(box, kernel=sigmoid)
    agents.gp_ucb(box, kernel=PairwiseKernel(gamma=5.0, metric="rbf"))


@pytest.mark.parametrize("name", NAMED)
def test_kernels_of_somebodys_own_that_are_covariances_are_accepted(name):
    kernel = make_kernel(name)
    for own in (Exponentiation(kernel, 2), Table(kernel(np.linspace(0, 1, 12)[:, None]))):
        BanditEnv(Problem(Decisions(SENSORS), KnownFunction(lambda x: x[:, 0]), own)).reset(seed=0)
