"""Save agents and tuners as data, without pickle: their construction and their recorded history."""

from .data import decode, encode
from .files import load, read, write
from .recorded import Recorded

__all__ = ["Recorded", "decode", "encode", "load", "read", "write"]
