"""Boxes: search for the best point of a box, and incumbents there."""

from .search import AtPoints, Lattice, QuasiRandom, Search

__all__ = ["AtPoints", "Lattice", "QuasiRandom", "Search"]
