"""Define the laws of a problem's random parts: frozen dataclasses that draw a whole run at once."""

from bandit_envs.basics.options import parse
from bandit_envs.laws import (
    availability,
    changes,
    contexts,
    corruption,
    delays,
    drift,
    functions,
    movement,
    noise,
    play_costs,
)
from bandit_envs.laws.derived import Misspecified, Normalized
from bandit_envs.laws.duels import AgainstBest, PairChances, WhoWins
from bandit_envs.laws.functions import GPSample, KnownFunction, RKHSFunction
from bandit_envs.laws.noise import Gaussian, NoNoise, Pareto, StudentT, UniformNoise
from bandit_envs.laws.outcomes import BernoulliOutcomes, OfOutcome, PoissonCounts
from bandit_envs.laws.tabulated import RecordedValues, SegmentMeans

__all__ = [
    "AgainstBest",
    "BernoulliOutcomes",
    "GPSample",
    "Gaussian",
    "KnownFunction",
    "Misspecified",
    "NoNoise",
    "Normalized",
    "OfOutcome",
    "PairChances",
    "Pareto",
    "PoissonCounts",
    "RKHSFunction",
    "RecordedValues",
    "SegmentMeans",
    "StudentT",
    "UniformNoise",
    "WhoWins",
    "availability",
    "changes",
    "contexts",
    "corruption",
    "delays",
    "drift",
    "functions",
    "movement",
    "noise",
    "parse",
    "play_costs",
]

Uniform, Recorded = UniformNoise, RecordedValues  # former names, shared by two kinds
