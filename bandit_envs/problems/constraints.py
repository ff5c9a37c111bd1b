"""Make the laws of the costs from `constraints={"law": "gp", "quantile": 0.3}` and `num_constraints`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from bandit_envs.basics.arguments import is_integer, require, written_as
from bandit_envs.kernels.kernels import make_kernel
from bandit_envs.kernels.white import require_no_white
from bandit_envs.laws import functions
from bandit_envs.laws.by_name import parse
from bandit_envs.laws.derived import UnderKernel
from bandit_envs.laws.feasibility import AS_DRAWN, Feasibility, FeasibleShare
from bandit_envs.laws.functions import FunctionLaw

DEFAULT = {"law": "gp"}
MOST = 1000  # costs


class Constraints(NamedTuple):
    """Hold the laws of the costs and the law that shifts them."""

    laws: tuple[FunctionLaw, ...] = ()
    feasibility: Feasibility = AS_DRAWN


def constraints_of(spec: Any, count: int | None) -> Constraints:
    """Return the constraints that the keywords describe; none if both are None, or `count` is 0.

    Args:
        spec: a law's name or dict, for `count` costs (default 1) that are shifted together; or a sequence
            of laws, one a cost, used unshifted.
        count: number of costs C.
    """
    valid = count is None or (is_integer(count) and 0 <= count <= MOST)
    require(valid, "num_constraints", f"None or an integer in 0..{MOST}", count)
    if count == 0 or (spec is None and count is None):
        return Constraints()
    if isinstance(spec, Sequence) and not isinstance(spec, str):
        require(all(isinstance(law, FunctionLaw) for law in spec), "constraints", "a dict or laws", spec)
        require(count in (None, len(spec)), "num_constraints", f"{len(spec)}, the number of laws", count)
        return Constraints(tuple(spec))
    law, feasibility = _drawn(DEFAULT if spec is None else spec)
    return Constraints((law,) * (1 if count is None else count), feasibility)


def _drawn(spec: Any) -> tuple[FunctionLaw, Feasibility]:
    """Return the law of each cost, and the feasible share."""
    spec = {"law": spec} if isinstance(spec, str) else spec
    if not isinstance(spec, Mapping):
        return parse("constraints", spec, functions.LAWS), FeasibleShare()
    own = {"quantile": FeasibleShare.quantile, "kernel": None, "length_scale": None}
    quantile, kernel, length_scale = (spec.get(key, default) for key, default in own.items())
    law = parse("constraints", {key: spec[key] for key in spec if key not in own}, functions.LAWS)
    if kernel is not None or length_scale is not None:
        kernel = "rbf" if kernel is None else kernel
        with written_as({name: f'constraints["{name}"]' for name in ("kernel", "length_scale")}):
            own_kernel = make_kernel(kernel, 0.2 if length_scale is None else length_scale)
        require_no_white('constraints["kernel"]', own_kernel, "constraint_noise_std={}")
        law = UnderKernel(law, own_kernel)
    with written_as({"quantile": 'constraints["quantile"]'}):
        return law, FeasibleShare(quantile)
