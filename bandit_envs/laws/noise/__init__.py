"""Draw observation noise at standard deviation 1; trial and play set the scale."""

from bandit_envs.laws.noise.base import Noise
from bandit_envs.laws.noise.laws import ByArm, Gaussian, NoNoise, Pareto, StudentT, Uniform

__all__ = ["LAWS", "ByArm", "Gaussian", "NoNoise", "Noise", "Pareto", "StudentT", "Uniform"]

LAWS: dict[str, type[Noise]] = {
    "gaussian": Gaussian,
    "uniform": Uniform,
    "student-t": StudentT,
    "pareto": Pareto,
    "by-arm": ByArm,
    "none": NoNoise,
}
