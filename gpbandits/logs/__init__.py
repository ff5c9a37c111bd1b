"""Logs of plays, and what another agent or policy would have earned: `value_of(policy, read_log(file))`."""

from gpbandits.logs.log import PlayLog
from gpbandits.logs.policies import ContextPolicy
from gpbandits.logs.reading import read_log
from gpbandits.logs.value import LogWarning, Valuation, value_of

__all__ = ["ContextPolicy", "LogWarning", "PlayLog", "Valuation", "read_log", "value_of"]
