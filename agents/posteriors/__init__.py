"""Exact posteriors of a Gaussian process on a finite set, in several representations."""

from .base import Posterior
from .choice import FORMS, posterior
from .dense import DensePosterior
from .factor import FactorPosterior
from .weight_space import WeightSpacePosterior

__all__ = ["FORMS", "DensePosterior", "FactorPosterior", "Posterior", "WeightSpacePosterior", "posterior"]
