"""Named algorithms that keep every cost in every round, and their rules: SafeOpt, StageOpt, LoSBO, ISE.

The setting must publish a safe seed, and for `losbo` L and E too.

Readable form: tests/references/safe.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Unpack

import numpy as np

from bandit_envs.basics.options import whole
from bandit_envs.basics.types import Bools, Floats, Ints
from bandit_envs.problem.setting import Setting

from ..acquisition.by_name import with_width
from ..acquisition.candidates import Candidates, Rule
from ..acquisition.rules import UCB
from ..agent.assembly import Agent, assemble
from ..agent.assumptions import learnt_separately
from ..beliefs.by_name import make_belief
from ..beliefs.safety import Safety
from ..model.model import Model
from ..objectives.safe import SafeModelOptions, safe_parts
from ..options import typed
from ..protocol import handles
from ..restarts.by_name import make_restart
from ..widths.base import Width
from .separate_models import PartsOptions

WIDTH = 2.0  # of the reward's band, on which safety does not depend
BLOCK = 64  # safe arms tested as expanders in one block
TIE = 1e-9  # in prior stds
C1 = 1.0 / (np.pi * np.log(2.0))
C2 = 2.0 * C1 - 1.0
LEAST = 1e-12  # smallest variance; below it the cost at an arm is known
ARMS_AT_ONCE = 256  # safe arms at once


class SafeOptions(SafeModelOptions, PartsOptions, total=False):
    """Options of agents that choose among safe arms; costs are learnt as they are delivered.

    After a restart S = S0; between a change and its alarm nothing is proved.
    """

    width: Any
    """w of the reward's band; default 2.0, as the authors' code of SafeOpt. Safety does not rest on it."""


class PatientOptions(SafeOptions, total=False):
    """Options of agents that choose among safe arms, without a stage that ends where S has settled."""

    patience: int | None
    """Rounds with feedback in which S does not grow after which a trial has settled; default None: never."""


class SetsOptions(PatientOptions, total=False):
    """Options of agents that choose among safe arms, however these are found."""

    sets: str
    """What finds S, see `SafeSpec`; default "bands"."""


@handles("delay", "context", "constraint", "change", "availability", "seed", "horizon")
def safe_ucb(setting: Setting, *, num_trials: int | None = None, **options: Unpack[SetsOptions]) -> Agent:
    """Safe UCB: argmax uf over S, a safe seed and all arms with ug_j <= 0 (Sui et al. 2015, a rival).

    Every play is safe as long as the bands of the costs hold. S grows only through plays that maximise the
    reward, so that the agent may stay at a local optimum.
    """
    return safely(setting, UCB, num_trials, **options)


@handles("delay", "context", "constraint", "change", "availability", "seed", "horizon")
def safeopt(setting: Setting, *, num_trials: int | None = None, **options: Unpack[SetsOptions]) -> Agent:
    """SafeOpt: the widest band of what may be best in S and of what may enlarge S (Sui et al. 2015).

    With one cost S, M and G are those of the authors' code (SafeOpt-MC, Berkenkamp et al. 2016), without
    Lipschitz constants, at the arms of the round's context; with two or more costs they are not. The width
    of the reward's band is 2, which has no guarantee; that of the costs is `cost_width`. With
    `cost_width="real-beta"` it is Real-beta-SafeOpt (Fiedler et al. 2024), which is proved for a known B.
    """
    return safely(setting, SafeOpt, num_trials, **options)


@handles("delay", "context", "constraint", "change", "availability", "seed", "horizon")
def stageopt(
    setting: Setting,
    *,
    rounds: Annotated[int, whole(0, "it is the length of the first stage")] | None = None,
    patience: int = 10,
    sets: str = "bands",
    num_trials: int | None = None,
    **options: Unpack[SafeOptions],
) -> Agent:
    """StageOpt: the expander of the widest cost band, then argmax_S uf (Sui et al. 2018).

    Args:
        rounds: T0, the longest first stage; default 80 % of the horizon, as in its experiments.
        patience: rounds with feedback and no growth of S that end the first stage, 10 as in its experiments.
        sets: what finds S, see `SafeSpec`.
    """
    until = setting.horizon * 4 // 5 if rounds is None else rounds
    rule = partial(StageOpt, rounds=until)
    return safely(setting, rule, num_trials, sets=sets, patience=patience, **options)


@handles("delay", "context", "constraint", "change", "availability", "seed", "horizon")
def losbo(setting: Setting, *, num_trials: int | None = None, **options: Unpack[PatientOptions]) -> Agent:
    """LoSBO: SafeOpt on what delivered costs certify by their slopes and a noise bound (Fiedler et al. 2024).

    Where |noise| <= E and the Lipschitz constants L are right every play is safe with certainty, whatever the
    kernel; bands only decide among safe arms. Unbounded noise is assumed to stay within 3 stds, without a
    guarantee.
    """
    return safely(setting, SafeOpt, num_trials, sets="plays", **options)


@handles("delay", "context", "constraint", "change", "availability", "seed", "horizon")
def ise(
    setting: Setting,
    *,
    rounds: Annotated[int, whole(0, "it is the number of rounds that explore")] | None = None,
    num_trials: int | None = None,
    **options: Unpack[SetsOptions],
) -> Agent:
    """ISE: the safe arm most informative about where costs are kept (Bottero et al. 2022), then safe UCB.

    The paper only explores, with one cost; the later change to maximising rewards is ours. Of several costs
    the largest gain counts: a constraint that is never active changes plays.

    Args:
        rounds: how many of them explore; default half of the horizon.
    """
    until = setting.horizon // 2 if rounds is None else rounds
    return safely(setting, partial(ISE, rounds=until), num_trials, **options)


@typed
def safely(
    setting: Setting,
    rule: Callable[[Width], Rule],
    num_trials: int | None,
    *,
    width: Any = WIDTH,
    belief: Any = "delivered",
    belief_options: Mapping[str, Any] | None = None,
    restart: Any = None,
    restart_options: Mapping[str, Any] | None = None,
    sets: str = "bands",
    patience: int | None = None,
    delta: float = 0.1,
    **options: Unpack[SafeModelOptions],
) -> Agent:
    """Return the agent of a rule, made from the width of the reward's band, that chooses among safe arms."""
    parts = safe_parts(setting, sets=sets, patience=patience, delta=delta, **options)
    observed = Model.of_reward(setting, options)
    return assemble(
        parts.model,
        with_width(rule, 1, width, parts.delta),
        num_trials,
        belief=make_belief(belief, setting, belief_options),
        objective=parts.objective,
        restart=make_restart(restart, setting, observed, restart_options),
        **learnt_separately(parts.model, parts.separate),
    )


@dataclass(frozen=True)
class SafeOpt(Rule):
    """The widest band among maximisers M and expanders G (Sui et al. 2015, Berkenkamp et al. 2016).

    M = {x in S: uf(x) >= max_S lf}, bands are max(uf - lf, max_j (ug_j - lg_j)) in prior stds. Only arms
    outside M with bands at least as wide as M's widest are tested as expanders, in descending order until one
    expands, as in the authors' code: no other arm could be played. Where arms are missing from a round, M and
    G contain available arms of S only; the arms that they may certify are sought among all.
    """

    width: Width

    def __call__(self, candidates: Candidates) -> Floats:
        safety = safety_of(candidates)
        wide, scores = _bands_of_maximisers(candidates, self.width, safety)
        wanted = wide >= scores.max(axis=1, keepdims=True) - TIE
        others = np.asarray(safety.playable & np.isneginf(scores) & wanted)
        found = widest_expanders(safety, others, wide)
        return np.where(found, wide, scores)


@dataclass(frozen=True)
class StageOpt(Rule):
    """The expander of the widest cost band, then argmax_S uf (Sui et al. 2018).

    The first stage ends after `rounds`, or when S has settled. Where no arm expands, it plays the widest band
    of the maximisers, as in the authors' code. Line 12 of the paper's Algorithm 1 says "if all eps_t^i <
    eps then expand" with eps_t^i undefined; we read it the other way round, with eps = 0.
    """

    width: Width
    rounds: int  # T0, the longest first stage

    def __call__(self, candidates: Candidates) -> Floats:
        """Return widths in the first stage, uf in the second, minus infinity elsewhere, (B, A)."""
        safety = safety_of(candidates)
        expanding = np.asarray((candidates.t[:, 0] <= self.rounds) & ~safety.settled)
        later = UCB(self.width)(candidates)
        if not expanding.any():
            return later
        among = np.asarray(safety.playable & expanding[:, None])
        found = widest_expanders(safety, among, safety.widest)
        _, without = _bands_of_maximisers(candidates, self.width, safety)
        expands = found.any(axis=1, keepdims=True)
        first = np.where(expands, np.where(found, safety.widest, -np.inf), without)
        return np.where(expanding[:, None], first, later)


def safety_of(candidates: Candidates) -> Safety:
    """Return the belief about costs, or raise an error where the rule has none."""
    if candidates.safety is None:
        words = "with a safe set, got none; take one of the agents for safe plays"
        raise ValueError(f"rule must be played {words}")
    return candidates.safety


def _bands_of_maximisers(candidates: Candidates, width: Width, safety: Safety) -> tuple[Floats, Floats]:
    """Return the widths of all bands and those of M, the safe arms that may be the best, (B, A) each."""
    reach = (width(candidates.t[:, 0], candidates.gain[:, 0])[:, None] + candidates.bias) * candidates.std
    surely = np.where(safety.playable, candidates.mean - reach, -np.inf).max(axis=1, keepdims=True)
    wide = np.maximum(2.0 * reach, safety.widest)
    best = safety.playable & (candidates.mean + reach >= surely)
    return wide, np.where(best, wide, -np.inf)


def widest_expanders(safety: Safety, among: Bools, wide: Floats) -> Bools:
    """Return the mask of the widest-band expanders among some safe arms, (B, A), tested trial by trial."""
    found = np.zeros_like(among)
    for i in np.flatnonzero(among.any(axis=1)).tolist():
        (arms,) = among[i].nonzero()
        arms = arms[np.argsort(-wide[i, arms], kind="stable")]
        best = -np.inf
        for begin in range(0, len(arms), BLOCK):
            block = arms[begin : begin + BLOCK]
            if wide[i, block[0]] < best - TIE:
                break
            these = block[safety.expands(i, block)]
            found[i, these] = True
            best = max(best, wide[i, these].max(initial=-np.inf))
    return found


@dataclass(frozen=True)
class ISE(Rule):
    r"""argmax_{x in S} max_z H(z) - EH(z | x), then argmax_S uf (Bottero et al. 2022).

    H is the entropy of the event that a cost is kept at z, and EH its expectation after a play of x:

        H = ln 2 exp(-c1 r),    r = mu(z)^2 / sd(z)^2,
        EH = ln 2 sqrt((1 - q) / (1 + c2 q)) exp(-c1 r / (1 + c2 q)),
        q = sd(x)^2 / (sd(x)^2 + lambda) corr(x, z)^2,    c1 = 1 / (pi ln 2),    c2 = 2 c1 - 1.
    """

    width: Width
    rounds: int  # number of first rounds that explore

    def __call__(self, candidates: Candidates) -> Floats:
        safety = safety_of(candidates)
        scores = UCB(self.width)(candidates)
        for i in (candidates.t[:, 0] <= self.rounds).nonzero()[0].tolist():
            (arms,) = safety.playable[i].nonzero()
            scores[i] = -np.inf
            for begin in range(0, len(arms), ARMS_AT_ONCE):
                block = arms[begin : begin + ARMS_AT_ONCE]
                scores[i, block] = information(safety, i, block)
        return scores


def information(safety: Safety, trial: int, arms: Ints) -> Floats:
    """Return max_z H(z) - EH(z | x) of arms x of a trial, over arms z and costs, (n,); 0 without costs."""
    best = np.zeros(len(arms))
    for j, belief in enumerate(safety.costs):
        mean, variance = safety.mean[j, trial], np.maximum(safety.std[j, trial] ** 2, LEAST)
        own = variance[arms]
        squared = safety.covariance(j, trial, arms) ** 2 / (own[:, None] * variance)
        share = (own / (own + belief.std_posterior.noise[trial]))[:, None] * np.minimum(squared, 1.0)
        gain = _entropy(mean**2 / variance, np.zeros(1)) - _entropy(mean**2 / variance, share)
        best = np.maximum(best, gain.max(axis=1))
    return best


def _entropy(ratio: Floats, share: Floats) -> Floats:
    """Return EH from r, (A,), and q, (n, A); H where q is 0."""
    left = 1.0 + C2 * share
    return np.log(2.0) * np.sqrt((1.0 - share) / left) * np.exp(-C1 * ratio / left)
