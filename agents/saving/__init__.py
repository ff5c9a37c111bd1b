"""Save agents and tuners as data, without pickle: their construction and their recorded history."""

from .data import decode, encode
from .files import load, read, write
from .recorded import RecordedAgent

__all__ = ["RecordedAgent", "decode", "encode", "load", "read", "write"]
