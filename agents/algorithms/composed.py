"""A GP agent composed of named parts or the user's own; parts left out are chosen from the setting."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Unpack

from bandit_envs.basics.arguments import require
from bandit_envs.basics.options import one_of
from bandit_envs.problem.setting import Setting

from ..acquisition.by_name import IMPROVED, UNITLESS, make_rule, own_rule
from ..acquisition.improvement import INCUMBENTS, MaxWorth, improvable, incumbent_of
from ..agent.assembly import Agent, TrialList, assemble, each_trial
from ..agent.assumptions import in_scales_of_first_plays, learnt_separately
from ..agent.model_ensemble import in_epochs
from ..beliefs.by_name import make_belief
from ..kernels.amplitude import without_contexts
from ..model.defaults import ModelOptions
from ..model.model import Model
from ..named import chosen, is_name, made, name_of, own_builder, require_called_with
from ..objectives.by_name import APART, BY_RULE, CONSTRAINTS, constraint_for
from ..options import require_left_out
from ..protocol import handles
from ..real.agent import RealAgent
from ..real.choice import publishes, real_agent, refused, suited
from ..real.earlier import EarlierTasks, checked_results, sides
from ..real.improving import ImprovingAgent
from ..real.quantities import RealParts
from ..restarts.by_name import make_restart

Options = Mapping[str, Any]
GOALS = REGRET, BEST = ("regret", "best")
IMPROVING = ("ei", "pi")  # the rules that use an incumbent


@handles("delay", "context", "constraint", "change", "box", "noise", "availability", "horizon")
def gp_agent(
    setting: Setting,
    *,
    goal: Annotated[str, one_of(*GOALS)] = "regret",
    like: Any = None,
    parts: Options | None = None,
    rule: Any = None,
    width: Any = None,
    delta: float | None = None,
    belief: Any = None,
    constraint: str | None = None,
    objective: Any = None,
    restart: Any = None,
    context: bool = True,
    incumbent: Any = None,
    rule_options: Options | None = None,
    belief_options: Options | None = None,
    constraint_options: Options | None = None,
    restart_options: Options | None = None,
    num_trials: int | None = None,
    **options: Unpack[ModelOptions],
) -> Agent | RealAgent | ImprovingAgent | TrialList:
    """The agent for real problems; with named parts or the user's own a GP agent composed of them.

    Without parts it is `agents.real.agent.RealAgent` wherever that plays, see `agents.real.choice`: it learns
    length-scales, noise and the scale of values from the first values on, and explores as much as the rounds
    that are left can use. The options `kernel`, `length_scale`, `noise_std`, `noise_variance` and
    `prior_mean` then say where its prior lies.

    With a part, `agents.compose(setting, rule=MyRule())`, or with another option of the model it is composed;
    parts that are not given are chosen from the setting. A rule or a width of one's own is any object with
    the same call signature. A belief, an objective or a restart has state, and is given as a builder from the
    model and the number of trials: a class with these two arguments, or a `functools.partial` of one. If it
    also has an argument `rngs`, it is given one generator a trial.

    Args:
        goal: "regret" of all rounds, or "best": the best point at the end, for which exact values are never
            asked for twice; the default of a `Tuner`, without parts, contexts and costs. See
            `agents.real.choice`.
        like: results of earlier tasks on the same parameters, a list of (features, values), (n, d) and (n,),
            the features as those of the arms or of the box; see `agents.real.earlier`. Not with parts or a
            model of your own, nor with contexts; for the best at the end without costs.
        parts: of the agent for real problems by name, such as {"chains": 0, "pending": False}; see
            `agents.real.quantities.RealParts`. Not where the agent is composed, nor for the best at the end.
        rule: "ucb" (default of a composed agent), "thompson", "random-ucb", "dmm", "irgp", "ei", "pi",
            "pims", "eims", "mean", "variance", or a `Rule`. With separate models of reward and costs its
            scores must be in the units of the reward, which those of "ei", "pi", "pims" and "eims" are not.
        width: of the first three: "improved" (default; IGP-UCB, GP-TS), or a width of `make_width`.
        delta: failure probability of the widths, default 0.1.
        belief: how pending feedback is treated: "delivered" (ignored), "hallucinated" (counted as its
            posterior mean; default where feedback is delayed), "censored" (counted as the smallest possible
            value; under constraints the prior mean of the modelled objective), "ridges" (ignored, under
            several regularisations; default with "dmm"), or a builder of a `Belief`.
        constraint: "none"; "config" (default where there are costs); "rpol" or "epbo", which penalise
            violations that are certain, in every round, without a multiplier; "pdcbo" or "ckb", for costs
            that must balance on average; "safe", for costs that must be kept in every round, starting from a
            safe seed; "rule", where a rule of your own reads `candidates.costs` and nothing changes its
            scores; "dual" (Algorithm 3 of Shi & Eryilmaz 2022) or "multiplicative" (Algorithm 2); see the
            agents of these names and `safe_ucb`. Scores without a unit, such as those of "ei", cannot be
            weighed against costs: with such rules the default is "dual" where costs are noisy and
            "multiplicative" where they are exact.
        objective: a builder of an `Objective`, which defines what is maximised, in place of a constraint.
        restart: "never"; "evidence" (an alarm by likelihood ratios that needs no uniform plays, after which
            plays since the likeliest change are kept; default where the functions may change);
            "evidence-archive" (as "evidence", and plays of an earlier segment are used again when its
            functions return; not with "safe" or with `initial`, which keep no plays); "cpd" (change-point
            detection); "et" (a value outside the posterior's band); "bocpd" (Bayesian run lengths); "glr"
            (the mean of standardised residuals); "periodic"; "oracle" (privileged); or a builder of a
            `Restart`.
        context: False ignores contexts.
        incumbent: the value that "ei" and "pi" improve on; see `gp_ei`, whose default is that of "ei". The
            other named rules have none. Not "best_value" under constraints, where the values of plays change.
            Or, on a finite set, a builder of an `Incumbent` from the number of trials and the decision set.
        rule_options: {"xi": ...} of "ei" and "pi"; {"size": ...} of "irgp", see `irgp_ucb`.
        belief_options: {"window": ..., "reward_bound": ..., "noisy": ...} of "censored", see `Censored`;
            {"ratios": ...} of "ridges", see `dmm_ucb`.
        constraint_options: of "dual" and "multiplicative" {"step": ...} or {"psi": ..., "psi_options": ...},
            {"epoch": ...}, ..., see `parts_of`, and {"reading": "paper"}. Of the others {"cost_width": ...,
            ...}, see `model_and_costs`, and {"rho": ...} of "epbo", {"step": ...} of "pdcbo"; those of "ckb"
            are in `Dual`, those of "safe" in `safe_parts`.
        restart_options: {"xi_squared": ...} of "cpd" and "oracle". Of "cpd" also {"false_alarm_rate": 0.1} in
            a whole run, for the reward and all costs together, provided that the model is right, or {"theta":
            ...}, and {"ridge": ...}, by default the noise variance, see `gp_ucb_cpd`. {"every": ...} of
            "periodic". {"false_alarm_rate": 0.1, "step": 10, "anytime": False, "noise_scales": (1, 1.5, 2.2)}
            of "evidence" and "evidence-archive", see `Evidence` and `Archive`, where the rate also covers
            segments that are wrongly reused. Several noise scales are compared because a noise std that is
            published too small raises false alarms. {"false_alarm_rate": 0.1} of "et" and "glr". {"segment":
            ...} of "bocpd": expected rounds between changes, by default a third of the horizon.
    """
    of_rule = (rule, width, delta, belief, constraint, objective, restart, incumbent)
    their_options = (rule_options, belief_options, constraint_options, restart_options)
    parts_left_out = context and all(each is None for each in (*of_rule, *their_options))
    given = {name: value for name, value in options.items() if value is not None}
    of_real = RealParts.of(parts)
    earlier = None if like is None else EarlierTasks.of(checked_results(like, setting), *sides(setting))
    model = suited(setting, given) if parts_left_out and goal == REGRET else None
    if model is not None:
        return real_agent(model, publishes(setting, given), num_trials, of_real, earlier)
    composed = "where the agent is composed; `agents.real.choice` says where, and why"
    require(not parts, "parts", f"left out {'for the best at the end' if goal == BEST else composed}", parts)
    if goal == BEST:
        return _improving(setting, parts_left_out, given, num_trials, earlier)
    remedy = 'left out with parts of your own and where `agents.real.choice` names no agent; or goal="best"'
    require(not like, "like", remedy, like)
    rule, width = "ucb" if rule is None else rule, IMPROVED if width is None else width
    delta = 0.1 if delta is None else delta
    seen = setting if context else without_contexts(setting)
    named = name_of(rule)
    unitless = own_rule(rule).unitless if named is None else named in UNITLESS
    kept = _constraint(seen, constraint, objective, unitless)
    if kept != "none":
        separate = (constraint_options or {}).get("models") == "separate"
        _require_comparable(rule, unitless, incumbent, kept in APART or separate)
    for name in {*options} & {*(constraint_options or ())}:
        words = f"left out where the agent is given {name}"
        require(False, f'constraint_options["{name}"]', words, (constraint_options or {})[name])
    found = made("constraint", kept, CONSTRAINTS, constraint_options, seen, delta, options)
    model = found.model
    learns = in_scales_of_first_plays(model) if kept == BY_RULE else learnt_separately(model, found.separate)
    observed = model if kept == "none" else Model.of_reward(seen, options)
    return assemble(
        model,
        make_rule(rule, width, found.delta, rule_options),
        num_trials,
        belief=make_belief("ridges" if belief is None and named == "dmm" else belief, seen, belief_options),
        incumbent=_incumbent(incumbent, named, seen, kept),
        objective=found.objective if objective is None else own_builder("objective", objective, {}),
        restart=make_restart(restart, seen, observed, restart_options),
        **in_epochs(found.incumbent_first),
        **learns,
    )


def _improving(
    setting: Setting,
    parts_left_out: bool,
    options: Options,
    num_trials: int | None,
    earlier: EarlierTasks | None,
) -> ImprovingAgent | TrialList:
    plain = parts_left_out and set(options) <= {"search"}
    require(plain, "goal", '"regret" with parts or a model of your own', BEST)
    without = refused(setting)
    require(not without, "goal", f'"regret" with {" and ".join(without)}', BEST)
    return each_trial(lambda trial: ImprovingAgent(setting, options.get("search"), earlier), num_trials)


def _constraint(setting: Setting, constraint: str | None, objective: Any, together: bool) -> str:
    """Return the name of the constraint; an objective of the user's own handles constraints itself."""
    if objective is not None and constraint is not None:
        raise ValueError(f"constraint must be left out where an objective is given, got {constraint!r}")
    called_for = constraint_for(setting, together) if objective is None else "none"
    kept = called_for if constraint is None else constraint
    chosen("constraint", kept, CONSTRAINTS)
    if kept != "none" and not setting.num_constraints:
        raise ValueError(f'constraint must be "none" in a setting without constraints, got {constraint!r}')
    return kept


def _incumbent(incumbent: Any, rule: str | None, setting: Setting, constraint: str) -> Any:
    """Return the builder of the incumbent; "ei" has its own default on a box."""
    if incumbent is None and constraint == BY_RULE:
        return MaxWorth  # the best play that is believed to keep the costs
    if rule is not None and rule not in IMPROVING:
        where, remedy = f"with the rule {rule!r}, which improves on nothing", 'take rule="ei" or "pi"'
        require_left_out("incumbent", incumbent, None, where, remedy)
    if incumbent is not None and name_of(incumbent) is None:
        builder = f"one of {', '.join(INCUMBENTS)}, or a builder (num_trials, decisions) -> incumbent"
        require_called_with("incumbent", incumbent, 2, builder)
        return incumbent
    if rule == "ei":
        return improvable(incumbent, setting)
    return incumbent_of("max_mean" if incumbent is None else incumbent)


def _require_comparable(rule: Any, unitless: bool, incumbent: Any, separate: bool) -> None:
    if is_name(incumbent, "best_value"):
        raise ValueError(
            'incumbent must not be "best_value" under constraints, where multipliers change the values of '
            'plays; take "max_mean"'
        )
    if unitless and separate:
        raise ValueError(
            "rule must score in the units of the reward with separate models, which weigh scores against "
            f'costs, got {rule!r}; take "ucb" or "thompson", or models="penalised"'
        )
