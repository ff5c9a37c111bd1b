"""Define the costs of plays and the budget that ends an episode."""

from bandit_envs.laws.play_costs.base import PlayCosts
from bandit_envs.laws.play_costs.laws import ConstantCosts, Free, GPCosts, LogGPCosts, UnitCosts

__all__ = ["FREE", "LAWS", "ConstantCosts", "Free", "GPCosts", "LogGPCosts", "PlayCosts", "UnitCosts"]

FREE = Free()

LAWS: dict[str, type[PlayCosts]] = {"none": Free, "unit": UnitCosts, "gp": GPCosts, "log-gp": LogGPCosts}
