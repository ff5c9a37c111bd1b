"""Save agents and tuners as data, without pickle: their construction and their recorded history."""

from .data import decode, encode
from .files import load, read, write
from .recorded import Saving

__all__ = ["Saving", "decode", "encode", "load", "read", "write"]
