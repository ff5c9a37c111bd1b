"""One Gaussian process on given points, squared exponential with unit prior variance, by each library.

All condition on the same plays with the same length-scale and noise variance, and learn nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import NamedTuple, Protocol

import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF

LENGTH_SCALE, NOISE = 0.2, 0.025  # of all of them; the noise is a variance
BLOCK = 1000  # points that BoTorch is asked about at a time: it computes their joint covariance
GPY_JITTER = 1e-8  # which GPy adds to the noise variance


class Peer(Protocol):
    """A library's posterior."""

    def fit(self, x: np.ndarray, y: np.ndarray) -> None:
        """Condition on plays, (n, d) and (n,)."""
        ...

    def believed(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean and deviation of the function, (N, d) -> (N,) each."""
        ...

    def sample(self, points: np.ndarray) -> np.ndarray:
        """One joint draw, (N, d) -> (N,)."""
        ...


class ScikitLearn:
    """`GaussianProcessRegressor` without an optimiser."""

    def __init__(self) -> None:
        self._model = GaussianProcessRegressor(RBF(LENGTH_SCALE), alpha=NOISE, optimizer=None)

    def fit(self, x: np.ndarray, y: np.ndarray) -> None:
        """A new factor of all plays."""
        self._model.fit(x, y)

    def believed(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """By `predict`."""
        return self._model.predict(points, return_std=True)  # type: ignore[return-value]

    def sample(self, points: np.ndarray) -> np.ndarray:
        """By `sample_y`."""
        return self._model.sample_y(points, random_state=0)[:, 0]


class BoTorch:
    """`SingleTaskGP` without transforms, by Cholesky factors at every size."""

    def __init__(self) -> None:
        import torch

        torch.set_num_threads(1)
        self._tensor = lambda values: torch.as_tensor(np.asarray(values), dtype=torch.float64)

    def fit(self, x: np.ndarray, y: np.ndarray) -> None:
        """A new model: caches belong to its data."""
        from botorch.models import SingleTaskGP
        from gpytorch.kernels import RBFKernel
        from gpytorch.likelihoods import GaussianLikelihood
        from gpytorch.means import ZeroMean

        kernel, likelihood = RBFKernel().double(), GaussianLikelihood().double()
        kernel.lengthscale, likelihood.noise = LENGTH_SCALE, NOISE
        self._model = SingleTaskGP(
            self._tensor(x),
            self._tensor(y)[:, None],
            likelihood=likelihood,
            covar_module=kernel,
            mean_module=ZeroMean(),
            outcome_transform=None,
        ).eval()

    def believed(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """By `posterior`, a block of points at a time."""
        import torch
        from gpytorch.settings import max_cholesky_size

        found = []
        with torch.no_grad(), max_cholesky_size(10**6):
            for start in range(0, len(points), BLOCK):
                posterior = self._model.posterior(self._tensor(points[start : start + BLOCK]))
                found.append((posterior.mean[:, 0].numpy(), posterior.variance[:, 0].clamp_min(0.0).numpy()))
        mean, variance = map(np.concatenate, zip(*found, strict=True))
        return mean, np.sqrt(variance)

    def sample(self, points: np.ndarray) -> np.ndarray:
        """By `rsample`."""
        import torch
        from gpytorch.settings import max_cholesky_size

        with torch.no_grad(), max_cholesky_size(10**6):
            return self._model.posterior(self._tensor(points)).rsample()[0, :, 0].numpy()


class GPy:
    """`GPRegression` with everything fixed."""

    def fit(self, x: np.ndarray, y: np.ndarray) -> None:
        """A new model, as `set_XY` costs the same."""
        from GPy.kern import RBF as Kernel
        from GPy.models import GPRegression

        kernel = Kernel(x.shape[1], variance=1.0, lengthscale=LENGTH_SCALE)
        self._model = GPRegression(x, y[:, None], kernel, noise_var=NOISE - GPY_JITTER)

    def believed(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """By `predict_noiseless`."""
        mean, variance = self._model.predict_noiseless(points)
        return mean[:, 0], np.sqrt(np.maximum(variance[:, 0], 0.0))

    def sample(self, points: np.ndarray) -> np.ndarray:
        """By `posterior_samples_f`."""
        return self._model.posterior_samples_f(points, size=1)[:, 0, 0]


class Library(NamedTuple):
    """How a library is called, found and used."""

    name: str
    module: str
    distribution: str
    make: Callable[[], Peer]


LIBRARIES = (
    Library("scikit-learn", "sklearn", "scikit-learn", ScikitLearn),
    Library("BoTorch", "botorch", "botorch", BoTorch),
    Library("GPy", "GPy", "GPy", GPy),
)


def installed() -> list[Library]:
    """The libraries that are here."""
    return [library for library in LIBRARIES if find_spec(library.module)]
