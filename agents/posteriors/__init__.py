"""Exact posteriors of a Gaussian process on a finite set, in several representations."""

from .base import Posterior
from .dense import DensePosterior
from .factor import FactorPosterior
from .forgetting.base import ForgettingPosterior
from .forgetting.discounted import Discounted
from .forgetting.drifting import Drifting
from .forgetting.memory import Memory
from .forgetting.sliding_window import LastCounts, LastPlays
from .forgetting.wandering import Wandering
from .kronecker import KroneckerPosterior
from .pairs import PairPosterior
from .plays import PlayPosterior
from .select import FORMS, TABLES, posterior
from .sufficient_statistics import SufficientStatistics
from .table import TablePosterior
from .weight_space import WeightSpacePosterior

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
