"""Exact posteriors of a Gaussian process on a finite set, in several representations."""

from .base import Posterior
from .choice import FORMS, TABLES, posterior
from .dense import DensePosterior
from .discounted import Discounted
from .drifting import Drifting
from .factor import FactorPosterior
from .forgetting import ForgettingPosterior
from .last_plays import LastPlays
from .memory import Memory
from .pairs import PairPosterior
from .table import TablePosterior
from .tally import Tally
from .weight_space import WeightSpacePosterior

__all__ = [
    "FORMS",
    "TABLES",
    "DensePosterior",
    "Discounted",
    "Drifting",
    "FactorPosterior",
    "ForgettingPosterior",
    "LastPlays",
    "Memory",
    "PairPosterior",
    "Posterior",
    "TablePosterior",
    "Tally",
    "WeightSpacePosterior",
    "posterior",
]
