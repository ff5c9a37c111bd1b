"""Ask and tell: tuning parameters by name, with any agent."""

from .history import Experiment
from .parameters import Categorical, Integer, Linear, Log
from .player import Advice
from .preferences import ComparedPair, Favourite, PreferenceTuner
from .tuner import Tuner

__all__ = [
    "Advice",
    "Categorical",
    "ComparedPair",
    "Experiment",
    "Favourite",
    "Integer",
    "Linear",
    "Log",
    "PreferenceTuner",
    "Tuner",
]
