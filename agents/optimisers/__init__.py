"""Bayesian optimisation of other libraries as agents; each library is imported when its agent is made."""

__distributions__ = (  # packages whose versions are part of a cell's name
    "optuna",
    "botorch",
    "gpytorch",
    "torch",
    "smac",
    "bayesian-optimization",
    "scikit-optimize",
)
