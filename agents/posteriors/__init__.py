"""Exact posteriors of a Gaussian process on a finite set, in several representations."""

from .base import Posterior, SufficientStatistics
from .dense import DensePosterior
from .factor import FactorPosterior, PlayPosterior
from .forgetting.fading import Discounted, Drifting, LastCounts, LastPlays, Wandering
from .forgetting.memory import ForgettingPosterior, Memory
from .pairs import PairPosterior
from .select import FORMS, TABLES, posterior
from .table import TablePosterior
from .weight_space import KroneckerPosterior, WeightSpacePosterior

__all__ = [
    "FORMS",
    "TABLES",
    "DensePosterior",
    "Discounted",
    "Drifting",
    "FactorPosterior",
    "ForgettingPosterior",
    "KroneckerPosterior",
    "LastCounts",
    "LastPlays",
    "Memory",
    "PairPosterior",
    "PlayPosterior",
    "Posterior",
    "SufficientStatistics",
    "TablePosterior",
    "Wandering",
    "WeightSpacePosterior",
    "posterior",
]
