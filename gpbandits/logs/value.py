"""What an agent or a policy would have earned, from the log of another: `value_of`."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from agents.registry import AgentFactory, AgentSpec, resolve_agent
from bandit_envs.basics.arguments import is_count, is_number, require, require_choice, require_seed
from bandit_envs.basics.threads import one_thread
from bandit_envs.basics.types import Bools, Floats, Ints
from gpbandits.logs import cautions
from gpbandits.logs.estimators import (
    DELAYS,
    ESTIMATORS,
    WITH_MODEL,
    WeightedRows,
    accepted,
    delivery_weights,
    interval,
    switch_at,
)
from gpbandits.logs.log import PlayLog
from gpbandits.logs.model import cross_fitted
from gpbandits.logs.policies import FixedPolicy, allowed_actions, is_fixed, probabilities_of, restricted
from gpbandits.logs.replay import replayed, rounds_of

PARTS = 10


class LogWarning(UserWarning):
    """Warn of what in a log speaks against an estimate."""


class Estimate(NamedTuple):
    """Hold an estimate of the mean reward a play, with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, repr=False)
class Valuation(Mapping[str, Estimate]):
    """Hold the estimates by method: `valuation["dr"].value`.

    Args:
        estimates: method -> estimate.
        logged: mean reward of the log's own policy.
        acceptance: share of the rows that replay accepted; NaN without replay.
        rounds: accepted rounds; of a learning agent in each part of the log.
        cautions: what in the log speaks against the estimates.
        tau: threshold of the weights that switch chose; None without it.
    """

    estimates: Mapping[str, Estimate]
    logged: float
    acceptance: float
    rounds: int
    cautions: tuple[str, ...] = ()
    tau: float | None = None

    def __getitem__(self, method: str) -> Estimate:
        return self.estimates[method]

    def __iter__(self) -> Any:
        return iter(self.estimates)

    def __len__(self) -> int:
        return len(self.estimates)

    def __repr__(self) -> str:
        lines = [f"Mean reward a play; the log's own policy earned {self.logged:.4g}."]
        for method, (value, low, high) in self.items():
            lines.append(f"  {method:<8}{value:.4g} [{low:.4g}, {high:.4g}]")
        if self.rounds:
            lines.append(f"Replay accepted {self.acceptance:.2%} of the rows it read; {self.rounds} rounds.")
        return "\n".join([*lines, *(f"Caution: {each}." for each in self.cautions)])


@one_thread()
def value_of(
    policy: FixedPolicy | Sequence[float] | AgentSpec,
    log: PlayLog,
    *,
    methods: Sequence[str] | None = None,
    delays: str = "kaplan-meier",
    seed: int = 0,
    tau: float | None = None,
    model: tuple[Floats, Floats] | None = None,
    now: PlayLog | None = None,
    least: float = cautions.LEAST,
    parts: int = PARTS,
    rounds: int | None = None,
    never: Sequence[Any] = (),
) -> Valuation:
    """Estimate the mean reward a play of an agent or a policy from the log of another.

    The page on logs says when to believe which estimate. Of the actions of a row only those count that were
    available: probabilities of others are left out, and the rest divided by their sum.

    Args:
        policy: probabilities of the actions, (A,), or (n, A) for each row; a `ContextPolicy`; or an agent as
            for `evaluate`, which learns as it plays and is valued by replay alone.
        log: of a policy that chose at random, with its propensities.
        methods: some of "replay", "ips", "snips", "dr", "switch"; by default all that apply.
        delays: "kaplan-meier" or "delivered"; see `gpbandits.logs.estimators` for what each assumes.
        seed: of the acceptance, the folds and the agent.
        tau: threshold of the weights of "switch"; by default the one of least estimated squared error.
        model: predictions of a model of your own in place of the Gaussian process: of the policy's reward in
            each context, and of the reward of each row, (n,) each; they must not have seen the row's reward.
        now: another log, later than this one, of which contexts and rewards are compared with this one's:
            those of actions of one label, or of one index where one of the logs has no labels.
        least: propensity below which there is a caution.
        parts: independent parts of the log, taken in turn, on each of which a learning agent plays; their
            estimates give the interval. One part has the most rounds and no interval.
        rounds: of a learning agent in each part; by default as many as nearly every replay reaches.
        never: actions, by label or index, that the agent or policy must never choose.

    Example:
        >>> log = PlayLog(action=[0, 1] * 100, reward=[0.0, 1.0] * 100, propensity=[0.5] * 200)
        >>> round(value_of([0.0, 1.0], log, methods=["ips"])["ips"].value, 2)
        1.0
    """
    require(isinstance(log, PlayLog), "log", "a PlayLog; `read_log` reads one from a file", log)
    require_choice("delays", delays, DELAYS)
    require_seed("seed", seed)
    require(is_count(parts), "parts", "a positive integer", parts)
    require(rounds is None or is_count(rounds), "rounds", "None or a positive integer", rounds)
    positive = tau is None or (is_number(tau) and tau > 0.0) or tau == np.inf
    require(positive, "tau", "None or a positive number", tau)
    require(is_number(least) and least >= 0.0, "least", "a number of at least 0", least)
    require(now is None or isinstance(now, PlayLog), "now", "None or a PlayLog", now)
    _require_model(model, len(log))
    fixed = is_fixed(policy)
    known = list(ESTIMATORS) if fixed else ["replay"]
    asked = known if methods is None else list(methods)
    why = ", ".join(known) + ("" if fixed else ": an agent that learns is valued by replay alone")
    require(asked and set(asked) <= set(known), "methods", f"some of {why}", methods)
    cautions.require_propensities(log)
    allowed = allowed_actions(log, never)
    if fixed:
        probabilities = restricted(probabilities_of(policy, log), allowed)
        found = _of_policy(probabilities, log, asked, delays, seed, tau, model)
    else:
        agent = resolve_agent(policy)  # type: ignore[arg-type]
        found = _of_agent(agent, log, delays, seed, parts, rounds, allowed)
    low, drift = cautions.of_propensities(log, least), cautions.of_drift(log, now)
    found = replace(found, cautions=(*low, *found.cautions, *drift))
    for caution in found.cautions:
        warnings.warn(caution, LogWarning, stacklevel=3)
    return found


def _require_model(model: Any, count: int) -> None:
    """Raise unless this is None, or two arrays of a finite number for each row."""
    if model is None:
        return
    pair = isinstance(model, list | tuple) and len(model) == 2
    words = f"None, or two arrays of {count} finite numbers, of the policy and of the rows' actions"
    arrays = [np.asarray(each) for each in model] if pair else []
    right = [x.dtype.kind in "biuf" and x.shape == (count,) and np.isfinite(x).all() for x in arrays]
    require(pair and all(right), "model", words, model)


def _of_policy(
    probabilities: Floats,
    log: PlayLog,
    methods: list[str],
    delays: str,
    seed: int,
    tau: float | None,
    model: tuple[Floats, Floats] | None,
) -> Valuation:
    weight = probabilities[np.arange(len(log)), log.action] / log.propensity
    rng = np.random.default_rng(seed)
    rows = WeightedRows(
        reward=np.where(log.is_delivered, log.reward, 0.0),
        weight=weight,
        delivery=delivery_weights(log, delays),
        uniform=rng.random(len(log)),
    )
    if set(methods) & set(WITH_MODEL):
        value, reward = cross_fitted(log, probabilities, rng) if model is None else model
        rows = rows._replace(model_value=value, model_reward=reward)
    found = {method: ESTIMATORS[method](rows) for method in methods}
    if "switch" in found and tau is not None:
        found["switch"] = switch_at(rows, tau)
    kept = accepted(rows) if "replay" in methods else np.zeros(len(log), dtype=bool)
    return Valuation(
        {x: Estimate(each.value, *interval(each.value, each.influence)) for x, each in found.items()},
        log.mean,
        float(kept.mean()) if "replay" in methods else float("nan"),
        int(np.count_nonzero(kept)),
        (*cautions.of_support(log, probabilities), *cautions.of_weights(weight)),
        found["switch"].tau if "switch" in found else None,
    )


def _of_agent(
    factory: AgentFactory,
    log: PlayLog,
    delays: str,
    seed: int,
    parts: int,
    rounds: int | None,
    allowed: tuple[Bools, Ints] | None,
) -> Valuation:
    require(parts <= len(log), "parts", f"at most {len(log)}, the rows of the log", parts)
    horizon = rounds_of(log, parts) if rounds is None else rounds
    weights = delivery_weights(log, delays)
    means, read, kept = [], 0, []
    for i in range(parts):  # rows in turn, so that each part sees the whole time of the log
        part = np.arange(i, len(log), parts)
        rows, last = replayed(log, factory, part, horizon, seed + i, allowed)
        read += last
        kept.append(len(rows))
        given = weights[rows].sum()
        means.append(float(weights[rows] @ np.nan_to_num(log.reward[rows])) / given if given else np.nan)
    words = []
    if min(kept) < horizon:
        words.append(f"a part of the log ended after {min(kept)} of {horizon} rounds: its value is of fewer")
    values = np.array(means)
    if empty := np.count_nonzero(np.isnan(values)):
        words.append(
            f"in {empty} of {parts} parts no reward of the agent's rounds is delivered: there is no value"
        )
    mean, share = float(values.mean()), sum(kept) / read if read else 0.0
    estimate = Estimate(mean, *interval(mean, values - values.mean()))
    return Valuation({"replay": estimate}, log.mean, share, horizon, tuple(words))
