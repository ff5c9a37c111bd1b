"""Bandits as text, for players that read and write: `TextPlayer` in `evaluate`, `TextGame` in other loops.

The package holds no model and opens no connection: a player is a function from text to text.
"""

from gpbandits.text.dialogue import Exchange, UnreadableAnswerError, read_transcript
from gpbandits.text.player import ReplayedPlayer, TextGame, TextPlayer

__all__ = ["Exchange", "ReplayedPlayer", "TextGame", "TextPlayer", "UnreadableAnswerError", "read_transcript"]
