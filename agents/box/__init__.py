"""Gaussian-process agents on boxes: the same parts as on finite sets, and how a box is searched."""

from .box_agent import BoxAgent
from .nearest_arm import NearestArm
from .search import AtPoints, Lattice, QuasiRandom, Search

__all__ = ["AtPoints", "BoxAgent", "Lattice", "NearestArm", "QuasiRandom", "Search"]
