"""Agents and tuners in a file: data that says how they were made and what they were told, no pickle."""

from .data import decode, encode
from .files import load, read, write
from .recorded import Recorded

__all__ = ["Recorded", "decode", "encode", "load", "read", "write"]
