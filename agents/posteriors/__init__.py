"""Exact posteriors of a Gaussian process on a finite set, in several representations."""

from .base import Posterior
from .choice import FORMS, TABLES, posterior
from .dense import DensePosterior
from .factor import FactorPosterior
from .pairs import PairPosterior
from .table import TablePosterior
from .tally import Tally
from .weight_space import WeightSpacePosterior

__all__ = [
    "FORMS",
    "TABLES",
    "DensePosterior",
    "FactorPosterior",
    "PairPosterior",
    "Posterior",
    "TablePosterior",
    "Tally",
    "WeightSpacePosterior",
    "posterior",
]
