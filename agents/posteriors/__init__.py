"""Exact posteriors of a Gaussian process on a finite set, in several representations."""

from .base import Posterior, SufficientStatistics
from .select import FORMS, TABLES, posterior

__all__ = ["FORMS", "TABLES", "Posterior", "SufficientStatistics", "posterior"]
