"""Boxes: how the best point of a box is searched, and what is known along the way."""

from .search import AtPoints, Lattice, QuasiRandom, Search

__all__ = ["AtPoints", "Lattice", "QuasiRandom", "Search"]
