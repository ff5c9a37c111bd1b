"""Slow readable forms: textbook formulas, and one module a family of algorithms, written from the papers."""

from .formulas import *  # noqa: F403 (one name for all of them)
