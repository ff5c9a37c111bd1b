"""The sampler lets an agent propose the next trial of a study from all earlier ones."""

import copy
import warnings
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from math import isnan
from typing import Any

import numpy as np
from optuna.distributions import BaseDistribution
from optuna.samplers import BaseSampler, RandomSampler
from optuna.study import Study, StudyDirection
from optuna.trial import FrozenTrial, TrialState

from agents.tuning import Linear, Tuner
from agents.tuning.history import as_number
from agents.tuning.may_stop import MayStop
from bandit_envs.basics.arguments import is_integer, require, require_choice
from gpbandits.optuna.dimensions import (
    ASKED,
    FAILURES,
    Dimensions,
    about_to_begin,
    asked_since,
    constraint_names,
    inform,
    ranges_that_changed,
    spent_by,
    tunable,
)

CONSTRAINTS = "constraints"  # attribute of a trial, from which `FrozenTrial.constraints` reads


class GPBanditSampler(BaseSampler):
    """A sampler lets an agent propose the trials of an Optuna study.

        >>> import optuna
        >>> from gpbandits.optuna import GPBanditSampler
        >>> study = optuna.create_study(sampler=GPBanditSampler(seed=0))
        >>> study.optimize(lambda trial: trial.suggest_float("x", -1, 1) ** 2, n_trials=20)

    The study holds all state: each proposal is made by a new agent that is given all trials, so processes may
    be stopped, restarted and added at any time. Trial n depends on the seed, n and the other trials, with its
    own random draws. Running trials, also those of other processes, are pending feedback.

    The agent proposes the parameters that all completed trials have; parameters of a branch that some trials
    lack are sampled one by one. Where a range has changed, that of the latest completed trial counts, and the
    sampler warns once a study. Kernels see integers, steps and choices as they are used, see `Tuner`. Trials
    with parameters out of range, of a wider range before or enqueued, are left out. A proposal takes 0.1 to
    0.3 s at 20 to 200 trials.

    Args:
        agent: a name, or (name, options), and its default, as for `Tuner`. One of your own must handle
            constraints if there are any, and learn from trials that others chose.
        seed: seed of all random draws; None takes entropy from the system.
        constraints_func: trial -> values of the constraints, each feasible at most 0, called after each trial
            that completed or was pruned. `trial.set_constraint(name, value)` in the objective does the same.
        failures: treatment of a trial that failed, was pruned before it reported a value, has an infinite
            value, or lacks a constraint. "worst" gives it the worst value and the largest costs of the study,
            so that it is not tried again; "forget" drops it, for instance if the machine was the cause.
        independent_sampler: samples the parameters that the agent does not propose; by default at random.
        budget, num_arms, noise_std, standardise: see `Tuner`.
        cost_budget: total cost that all trials may have, in any unit, see `Tuner`. Each trial then reports
            its own by `trial.set_user_attr("spent", cost)`, and `study.optimize` ends once it is spent. The
            default agent is then `ei-per-cost`.
        stopping: rule by which `study.optimize` ends, see `Tuner`, such as ("knowledge-gradient", {"price":
            0.01}) in the value's unit; by default it ends after its trials. Users of `ask` and `tell` call
            `may_stop`.

    Raises:
        ValueError: an argument is invalid; the message names it.
    """

    def __init__(
        self,
        agent: Any = None,
        *,
        seed: int | None = None,
        constraints_func: Callable[[FrozenTrial], Sequence[float]] | None = None,
        failures: str = "worst",
        independent_sampler: BaseSampler | None = None,
        budget: int = 100,
        num_arms: int = 1024,
        noise_std: float | None = None,
        standardise: bool = True,
        stopping: Any = None,
        cost_budget: float | None = None,
    ):
        require(seed is None or (is_integer(seed) and seed >= 0), "seed", "None or an integer >= 0", seed)
        require_choice("failures", failures, FAILURES)
        self._entropy = np.random.SeedSequence(seed).entropy
        self._constraints_func, self._failures = constraints_func, failures
        self._independent_sampler = independent_sampler
        self._warned: set[str] = set()  # names of studies whose ranges have changed
        self._options: dict[str, Any] = {"agent": agent, "budget": budget, "num_arms": num_arms}
        self._options |= {"noise_std": noise_std, "standardise": standardise, "stopping": stopping}
        self._options["cost_budget"] = cost_budget
        probe = Tuner({"x": Linear(0, 1)}, **self._options)
        for _ in range(2 if agent is not None else 0):  # raises now rather than in the second trial
            probe.tell(probe.ask()[0], 0.0, spent=None if cost_budget is None else 0.1 * cost_budget)

    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        """Return the parameters of all completed trials, but single values, and ranges beyond floats."""
        trials = study.get_trials(deepcopy=False)
        moved = ranges_that_changed(trials)
        if moved and study.study_name not in self._warned:
            self._warned.add(study.study_name)
            warnings.warn(
                f"the ranges of {', '.join(moved)} have changed in this study: where only their ends have, "
                "the sampler proposes from those of the latest completed trial and learns from the trials "
                "inside; others are sampled one by one",
                stacklevel=2,
            )
        return tunable(trials)

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """Return the agent's proposal, and store it for other processes."""
        if not search_space:
            return {}
        dimensions, others = Dimensions(search_space), _others(study, trial)
        while True:
            proposal = self.propose(study, trial, dimensions, others)
            before, others = others, _others(study, trial)
            if not dimensions.among(proposal, asked_since(before, others)):
                break  # else another process has asked for the same meanwhile
        study._storage.set_trial_system_attr(trial._trial_id, ASKED, proposal)
        return proposal

    def sample_independent(
        self, study: Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        """Sample a parameter that the agent does not propose."""
        seed = self._seed(trial, zlib.crc32(param_name.encode()))
        sampler = self._independent_sampler or RandomSampler(seed)
        return sampler.sample_independent(study, trial, param_name, param_distribution)

    def before_trial(self, study: Study, trial: FrozenTrial) -> None:
        """Refuse studies of several objectives."""
        require(len(study.directions) == 1, "study", "one of a single objective", study.directions)
        if self._independent_sampler is not None:
            self._independent_sampler.before_trial(study, trial)

    def after_trial(
        self, study: Study, trial: FrozenTrial, state: TrialState, values: Sequence[float] | None
    ) -> None:
        """Store the constraints of a trial in the study, where every process reads them."""
        if self._constraints_func is not None and state in (TrialState.COMPLETE, TrialState.PRUNED):
            returned = self._constraints_func(trial)
            costs = [as_number(cost) for cost in returned] if isinstance(returned, Iterable) else [None]
            known = not any(cost is None or isnan(cost) for cost in costs)
            require(known, "constraints_func", "one that returns a list of numbers", returned)
            study._storage.set_trial_system_attr(trial._trial_id, CONSTRAINTS, costs)
        if self._independent_sampler is not None:
            self._independent_sampler.after_trial(study, trial, state, values)
        looping = getattr(study._thread_local, "in_optimize_loop", False)  # `stop` is for `optimize` alone
        if looping and (budget := self._options["cost_budget"]) is not None:
            spent = [spent_by(each) or 0.0 for each in (*_others(study, trial), trial)]
            if sum(spent) >= budget:
                study.stop()
        if self._options["stopping"] is not None and looping and state == TrialState.COMPLETE:
            ended = copy.copy(trial)  # the storage learns of its end afterwards
            ended.state, ended.values, ended.datetime_complete = state, values, datetime.now()
            if self._stop(study, [*_others(study, trial), ended]):
                study.stop()

    def may_stop(self, study: Study) -> MayStop:
        """Return whether further trials are worth their price, with the reason; see `Tuner.may_stop`."""
        return self._stop(study, study.get_trials(deepcopy=False))

    def _stop(self, study: Study, trials: list[FrozenTrial]) -> MayStop:
        space = tunable(trials)
        if not space:
            return MayStop(False, "no trial has completed with parameters of a range", None)
        answer = self.tuner_of(study, Dimensions(space), trials, 0).may_stop()
        known = None if answer.parameters is None else Dimensions(space).to_optuna(answer.parameters)
        return replace(answer, parameters=known)

    def tuner_of(self, study: Study, dimensions: Dimensions, begun: list[FrozenTrial], seed: int) -> Tuner:
        """Return a tuner that has been told of the trials of a study."""
        goal = "maximise" if study.direction == StudyDirection.MAXIMIZE else "minimise"
        given = {"goal": goal, "constraints": constraint_names(begun), "seed": seed, **self._options}
        tuner = Tuner(dimensions.kinds, **given)
        inform(tuner, dimensions, begun, self._failures)
        return tuner

    def propose(
        self, study: Study, trial: FrozenTrial, dimensions: Dimensions, begun: list[FrozenTrial]
    ) -> dict[str, Any]:
        """Return the parameters of a trial, other than those that running trials have."""
        tuner = self.tuner_of(study, dimensions, begun, self._seed(trial))
        for _ in range(about_to_begin(begun, trial.number)):
            tuner.ask()  # guesses the proposals that other processes are computing, to avoid repeating them
        _, parameters = tuner.ask()
        return dimensions.to_optuna(parameters)

    def _seed(self, trial: FrozenTrial, *words: int) -> int:
        """Return the seed of a trial, or with `words` of one of its parameters."""
        entropy: Any = self._entropy
        return int(np.random.SeedSequence([entropy, trial.number, *words]).generate_state(1)[0])


def _others(study: Study, trial: FrozenTrial) -> list[FrozenTrial]:
    others = [each for each in study.get_trials(deepcopy=False) if each.number != trial.number]
    return [each for each in others if each.state != TrialState.WAITING]
