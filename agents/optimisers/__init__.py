"""Bayesian optimisation of other libraries as agents; each library is imported when its agent is made."""

__distributions__ = (  # whose versions name cells
    "optuna",
    "botorch",
    "gpytorch",
    "torch",
    "smac",
    "bayesian-optimization",
    "scikit-optimize",
)
