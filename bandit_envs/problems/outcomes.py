"""Problems whose rewards are clicks or counts, composed of the laws that other problems have."""

from typing import Any

from bandit_envs.basics.arguments import is_number, require
from bandit_envs.kernels.kernels import amplified
from bandit_envs.laws.functions import FunctionLaw
from bandit_envs.laws.outcomes import matched
from bandit_envs.problem.decisions import Decisions
from bandit_envs.problem.problem import Problem
from bandit_envs.problems.features import compose

CHANGES_VALUES = ("noise", "noise_std", "normalize", "misspecification", "corruption", "drift", "duel")


def of_outcomes(
    decisions: Decisions, law: FunctionLaw, kernel: Any, outcome: Any, name: str, features: dict[str, Any]
) -> Problem:
    """Compose a problem of clicks or counts; features that change a value would leave their law."""
    for feature in CHANGES_VALUES:
        given = features.get(feature)
        require(
            given is None or given is False, feature, "left out where rewards are clicks or counts", given
        )
    variance = features.get("signal_variance")
    usable = variance is None or (is_number(variance) and variance > 0)
    require(usable, "signal_variance", "None or positive", variance)
    laws = matched(law, amplified(kernel, 1.0 if variance is None else variance), decisions.points, outcome)
    others = {key: value for key, value in features.items() if key != "signal_variance"}
    return compose(decisions, laws.reward, laws.kernel, name=name, **{**others, "noise": laws.noise})
