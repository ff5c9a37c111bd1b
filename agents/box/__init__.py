"""Gaussian-process agents on boxes: the same parts as on finite sets, and how a box is searched."""

from .box_agent import BoxAgent
from .search import AtPoints, Lattice, QuasiRandom, Search

__all__ = ["AtPoints", "BoxAgent", "Lattice", "QuasiRandom", "Search"]
