"""Agents choose hyperparameters in scikit-learn: `GPBanditSearchCV`, beside `GridSearchCV`."""

from gpbandits.sklearn.search import GPBanditSearchCV

__all__ = ["GPBanditSearchCV"]
