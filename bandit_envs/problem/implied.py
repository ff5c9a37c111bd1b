"""Derive fields of a setting from its law of delays and its kernel."""

from __future__ import annotations

from typing import Any

import numpy as np

from bandit_envs.basics.arguments import require_size
from bandit_envs.kernels.white import require_same_noise, split_white
from bandit_envs.laws.by_name import parse
from bandit_envs.laws.delays import LAWS, Delay
from bandit_envs.problem.told import check_times


def implied_by_delay(horizon: Any, delay: Any, max_delay: Any, query_times: Any) -> dict[str, Any]:
    """Return the law, and the largest delay and start times that it implies where none are given."""
    require_size("horizon", horizon)
    own = delay is None or isinstance(delay, Delay)
    law = delay if own else parse("delay", delay, LAWS)
    check_times(query_times)
    times = None if law is None else law.query_times(horizon)
    if law is not None and times is None and query_times is not None:
        raise ValueError(f"delay must be in units of time, as query_times are, got {law!r}")
    implied: dict[str, Any] = {"delay": law, "query_times": times if query_times is None else query_times}
    if max_delay is None:
        implied["max_delay"] = 0 if law is None else law.window(horizon, query_times)
    return implied


def implied_by_kernel(kernel: Any, noise_std: Any) -> dict[str, Any]:
    """Return kernel and noise std if the kernel has a WhiteKernel, whose variance is the noise's."""
    rest, white = split_white(kernel)
    if not white:
        return {}
    require_same_noise("noise_std", noise_std, float(np.sqrt(white)))
    return {"kernel": rest, "noise_std": float(np.sqrt(white))}
