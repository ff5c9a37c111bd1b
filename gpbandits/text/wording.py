"""A published problem, its plays and its next round in words; numbers have four significant digits."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from bandit_envs.basics.arguments import require
from bandit_envs.basics.types import Bools, Floats
from bandit_envs.problem.setting import Setting

FACTS = {  # field of a setting -> its meaning in a line
    "rkhs_bound": "The RKHS norm of the mean reward is at most {}.",
    "reward_lower_bound": "The mean reward is never or seldom below {}.",
    "noise_bound": "The noise of a reward is at most {} in absolute value.",
    "misspecification": "The mean reward differs by at most {} from a function of this model.",
    "corruption": "An adversary changes rewards by at most {} in sum.",
    "lipschitz": "Lipschitz constants of the costs, in units of the features: {}.",
    "constraint_prior_std": "Prior standard deviations of the costs: {}.",
    "constraint_noise_std": "Standard deviations of the noise of observed costs: {}.",
    "cost_min": "A play takes at least {} of the budget.",
}


class Play(NamedTuple):
    """A play of a round and its feedback so far."""

    round: int  # counted from 1
    action: Any  # arm, or (d,) in [-1, 1]
    context: Floats | None  # (dz,)
    reward: float | None = None  # None while it is pending
    costs: Sequence[float] = ()
    spent: float | None = None


def numbers(values: Any) -> str:
    """Return numbers as text: `0.25, 3`."""
    return ", ".join(f"{value:.4g}" for value in np.atleast_1d(values).tolist())


def rules(setting: Setting) -> str:
    """Return the aim, the published facts and the arms of a problem."""
    lines = [*_aim(setting), "", "Known beforehand:", *_known(setting), "", *_choices(setting)]
    return "\n".join(lines)


def tried(setting: Setting, plays: Sequence[Play], latest: int | None) -> str:
    """Return the plays with their feedback, all or the latest."""
    kept = plays if latest is None else plays[-latest:]
    left = len(plays) - len(kept)
    lines = [f"Rounds 1 to {left} are left out."] if left else []
    now = len(plays) + 1
    lines += [_line(setting, play, now) for play in kept] or ["no round"]
    return "\n".join(["Played so far:", *lines])


def choice(setting: Setting, now: int, context: Floats | None, mask: Bools | None, spent: float) -> str:
    """Return the next round, its context, the arms that may be played, and the form of the answer."""
    lines = [f"Now: round {now} of {setting.horizon}."]
    if context is not None:
        lines.append(f"Context: ({numbers(context)}).")
    if mask is not None:
        lines.append(f"Available arms: {', '.join(map(str, np.flatnonzero(mask)))}.")
    if setting.budget is not None:
        lines.append(f"Observed spending so far: {numbers(spent)} of {numbers(setting.budget)}.")
    form = f"{setting.dim} numbers separated by commas" if setting.continuous else "the number of an arm"
    lines.append(f"Write a last line PLAY: followed by {form}. Only the last line that starts so is read.")
    return "\n".join(lines)


def require_tellable(setting: Setting, max_arms: int) -> None:
    """Raise where the text would leave out what a player needs."""
    require(not setting.duel, "setting", "of single arms: the text asks for one arm, not for a pair", "duels")
    many = setting.arms is not None and len(setting.arms) > max_arms
    given = 0 if setting.arms is None else len(setting.arms)
    require(not many, "max_arms", f"at least {given} here, as the text lists all arms", max_arms)
    formula = callable(setting.known_costs)
    remedy = "those of a finite set: the text cannot state a function of a box"
    require(not formula, "known_costs", remedy, setting.known_costs)


def _aim(setting: Setting) -> Iterable[str]:
    what = "one point" if setting.continuous else "one arm"
    yield f"You play a bandit of {setting.horizon} rounds."
    yield f"In each round you choose {what} and earn its reward."
    yield "The aim is the largest sum of mean rewards over all rounds."
    if setting.num_constraints:
        several = "1 cost" if setting.num_constraints == 1 else f"{setting.num_constraints} costs"
        yield f"A play also has {several}. It is feasible if every mean cost is at most 0."
    if setting.budget is not None:
        yield f"Plays take from a budget of {numbers(setting.budget)}."
        yield "The run ends early with a play that would take more than what is left; it is not made."


def _known(setting: Setting) -> Iterable[str]:
    std = "unknown" if setting.noise_std is None else numbers(setting.noise_std)
    yield f"Standard deviation of the noise of a reward: {std}."
    of = "context and point" if setting.continuous else "context and arm"
    features = of if setting.has_contexts else of.rpartition(" ")[2]
    if setting.kernel is None:
        yield "The kernel of the mean reward is withheld."
    else:
        yield f"Mean rewards: Gaussian process with kernel {setting.kernel} of the features of {features}."
        if "OnColumns" in str(setting.kernel):
            yield "OnColumns(k, [i]) is the kernel k of feature i, counted from 0, the context's first."
    if setting.outcome is not None:
        latent = f"f a Gaussian process with kernel {setting.latent_kernel}"
        yield f"A reward is an outcome of the law {setting.outcome!r}, its mean a link of base + f, {latent}."
    if not np.ndim(setting.prior_mean):
        yield f"Prior mean: {numbers(setting.prior_mean)}."
    if setting.max_delay:
        law = "" if setting.delay is None else f" The law of delays is {setting.delay!r}."
        yield f"Feedback arrives up to {setting.max_delay} rounds after its round, or never.{law}"
    if setting.has_contexts:
        yield "Rewards depend on a context, which is given before each choice."
    if setting.may_change:
        yield "Rewards may change during the run; changes are not announced."
    if setting.volatile:
        yield "Only some arms are available in a round."
    if setting.safe_seed is not None:
        yield f"Arms known to be feasible: {', '.join(map(str, np.asarray(setting.safe_seed)))}."
    for name, words in FACTS.items():
        value = getattr(setting, name)
        if value is not None and not (name.startswith("constraint") and not setting.num_constraints):
            yield words.format(numbers(value))


def _choices(setting: Setting) -> Iterable[str]:
    """Yield the arms with features and all that is published of each, or the ranges of a box."""
    if setting.arms is None:
        low, high = setting.decisions.box
        ranges = [f"{a:.4g} to {b:.4g}" for a, b in zip(low, high, strict=True)]
        yield f"A point has {setting.dim} numbers, with ranges {'; '.join(ranges)}."
        return
    named = {"prior mean": setting.prior_mean, "cost of a play": setting.known_costs}
    named["std of noise over the largest"] = setting.noise_profile
    columns = {name: each for name, each in named.items() if np.shape(each) == (len(setting.arms),)}
    yield f"Arms: {len(setting.arms)}, as number: ({'; '.join(['features', *columns])})."
    for i, arm in enumerate(setting.arms):
        yield f"{i}: ({'; '.join([numbers(arm), *(numbers(each[i]) for each in columns.values())])})"


def _line(setting: Setting, play: Play, now: int) -> str:
    parts = [] if play.context is None else [f"context ({numbers(play.context)})"]
    point = f"({numbers(setting.to_point(play.action))})"
    parts.append(f"point {point}" if setting.continuous else f"arm {int(play.action)} {point}")
    if play.reward is None:
        late = now - play.round > setting.max_delay
        return f"round {play.round}: {', '.join(parts)}, {'no feedback' if late else 'feedback pending'}"
    parts.append(f"reward {numbers(play.reward)}")
    if play.costs:
        parts.append(f"costs ({numbers(play.costs)})")
    if play.spent is not None:
        parts.append(f"spent {numbers(play.spent)}")
    return f"round {play.round}: {', '.join(parts)}"
