"""Agents choose hyperparameters in scikit-learn: `GPBanditSearchCV`, beside `GridSearchCV`."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from math import isfinite
from typing import Any

import numpy as np
from numpy import nan
from sklearn.model_selection._search import BaseSearchCV  # its `_run_search` is the documented hook
from sklearn.utils import check_random_state

from agents.tuning import Categorical, Tuner
from agents.tuning.feasibility import NothingLeft
from agents.tuning.parameters import Parameter, as_parameter
from bandit_envs.basics.arguments import is_count, is_number, require

SPACE = "space"  # name of the tuner's parameter that says which of several spaces a candidate is from
FAILED = "fits failed"  # in scikit-learn's error where every fit of a call fails
Values = dict[str, Any]

__all__ = ["GPBanditSearchCV"]


class GPBanditSearchCV(BaseSearchCV):
    """A search fits an estimator with the parameters that an agent proposes, and keeps the best.

        >>> from scipy.stats import loguniform
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.svm import SVC
        >>> from gpbandits.sklearn import GPBanditSearchCV
        >>> ranges = {"C": loguniform(0.1, 100), "gamma": loguniform(1e-3, 1)}
        >>> search = GPBanditSearchCV(SVC(), ranges, n_iter=8, random_state=0)
        >>> search = search.fit(*load_iris(return_X_y=True))
        >>> bool(search.best_score_ > 0.9)
        True

    It is used as `RandomizedSearchCV`, and has the same attributes. Each candidate is proposed from the mean
    test scores of all before it. Splits are drawn once, so that candidates are compared on the same ones. No
    candidate is proposed twice, and the search ends once all were tried. One whose fits all fail, or whose
    score is not finite, counts as a failure of its parameters, from which the tuner learns, unless
    `error_score="raise"`.

    Args:
        estimator: object with `fit`, as for `RandomizedSearchCV`.
        param_distributions: name -> a range in any form that `Tuner` takes, or a list of any values, which
            are choices without an order. Unlike in scikit-learn a tuple of two numbers is a range. A list of
            such dicts are spaces, each with parameters of its own, from which the agent chooses.
        n_iter: number of candidates, fewer where there are no more.
        batch_size: how many candidates are proposed at a time, each given that the others run. More than
            one keeps busy `n_jobs` beyond the number of folds, and learns later.
        agent: a name, or (name, options), and its default, as for `Tuner`.
        stopping: rule that ends the search early, as for `Tuner`, in the unit of the score.
        scoring, n_jobs, refit, cv, verbose, pre_dispatch, error_score, return_train_score: as for
            `RandomizedSearchCV`. Of several metrics the agent maximises the one that `refit` names; from
            verbose=1 on each candidate's mean score of it is printed.
        random_state: seed of the agent.

    Attributes:
        best_params_, best_score_, best_index_, best_estimator_, cv_results_, ...: as of `RandomizedSearchCV`.
            Candidates whose fits all failed are in `tuner_` only, if they were proposed one at a time.
        tuner_: the `Tuner`, with its `plot`, `recommend` and `may_stop`.
    """

    def __init__(
        self,
        estimator: Any,
        param_distributions: Any,
        *,
        n_iter: int = 30,
        batch_size: int = 1,
        agent: Any = None,
        stopping: Any = None,
        scoring: Any = None,
        n_jobs: int | None = None,
        refit: Any = True,
        cv: Any = None,
        verbose: int = 0,
        pre_dispatch: Any = "2*n_jobs",
        random_state: Any = None,
        error_score: Any = nan,
        return_train_score: bool = False,
    ):
        self.param_distributions, self.n_iter, self.batch_size = param_distributions, n_iter, batch_size
        self.agent, self.stopping, self.random_state = agent, stopping, random_state
        super().__init__(
            estimator=estimator,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            pre_dispatch=pre_dispatch,
            error_score=error_score,
            return_train_score=return_train_score,
        )

    def _run_search(  # type: ignore[override] (the base passes `callback_ctx` where a search takes it)
        self, evaluate_candidates: Callable[..., Values]
    ) -> None:
        require(is_count(self.n_iter), "n_iter", "a positive integer", self.n_iter)
        require(is_count(self.batch_size), "batch_size", "a positive integer", self.batch_size)
        ranges = SearchRanges(self.param_distributions)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        given = {"agent": self.agent, "stopping": self.stopping, "seed": seed}
        self.tuner_ = Tuner(ranges.kinds, budget=self.n_iter, repeats=False, possible=ranges.rule, **given)
        evaluate = partial(evaluate_candidates, cv=_OneSplit(self._checked_cv_orig))
        left, scored, error = self.n_iter, False, None
        while left > 0 and not (
            self.stopping is not None and self.tuner_.experiments and self.tuner_.may_stop()
        ):
            asked: list[tuple[int, Values]] = []
            with suppress(NothingLeft):
                while len(asked) < min(left, self.batch_size):
                    asked.append(self.tuner_.ask(only=ranges.entries))
            if not asked:
                break
            left -= len(asked)
            candidates = [ranges.candidate(chosen) for _, chosen in asked]
            scores, error = self._scores(evaluate, candidates)
            scored = scored or error is None
            for (ticket, _), candidate, score in zip(asked, candidates, scores, strict=True):
                if isfinite(score):
                    self.tuner_.tell(ticket, score)
                else:
                    self.tuner_.fail(ticket, f"its score was {score}")
                if self.verbose > 0:
                    self._print(candidate, score)
        if error is not None and not scored:
            raise error

    def _scores(
        self, evaluate: Callable[..., Values], candidates: list[Values]
    ) -> tuple[list[float], ValueError | None]:
        """Return the mean test score of each candidate; where all fits failed NaN, and the error."""
        try:
            results = evaluate(candidates)
        except ValueError as error:
            if self.error_score == "raise" or FAILED not in str(error):
                raise
            warnings.warn(f"all fits failed with {candidates}:{error}", stacklevel=6)
            return [nan] * len(candidates), error
        column = "mean_test_score" if "mean_test_score" in results else f"mean_test_{self.refit}"
        words = "the name of the metric to maximise, where there are several"
        require(column in results, "refit", words, self.refit)
        return [float(score) for score in results[column][-len(candidates) :]], None

    def _print(self, candidate: Values, score: float) -> None:
        """Print a candidate and its score like scikit-learn's single fits."""
        done = sum(each.state != "pending" for each in self.tuner_.experiments)
        best = self.tuner_.best_value
        record = "" if best is None else f", best={best:.3f}"
        chosen = ", ".join(f"{name}={candidate[name]}" for name in sorted(candidate))
        print(f"[{done}/{self.n_iter}] END {chosen}; score={score:.3f}{record}")


class _OneSplit:
    """A splitter whose first splits are given again, where others draw anew."""

    def __init__(self, splitter: Any):
        self._splitter, self._splits = splitter, None

    def split(self, *data: Any, **params: Any) -> Any:
        self._splits = self._splits or list(self._splitter.split(*data, **params))
        return self._splits


class SearchRanges:
    """Search ranges hold a tuner's parameters by name, and the values of lists.

    Values of lists are choices without an order. Where they are no text or numbers, such as estimators, the
    tuner chooses their place in the list. Of several spaces it also chooses one: equal parameters are shared,
    and those that a space lacks are kept at one value, which has no effect.
    """

    def __init__(self, given: Any):
        spaces = given if _is_list(given, 1) or _is_list(given, 2) else [given]
        self._spaces = [_Ranges(each, given) for each in spaces]
        self._choice = SPACE
        while any(self._choice in each.given for each in self._spaces):
            self._choice += "_"
        self.kinds: dict[str, Parameter] = {}
        for space in self._spaces:
            space.names = {name: self._named(name, kind) for name, kind in space.kinds.items()}
        if len(self._spaces) > 1 or not self.kinds:
            self.kinds[self._choice] = Categorical(range(len(self._spaces)))

    @property
    def entries(self) -> list[Values] | None:
        """What a tuner may choose among: each space with the others' parameters kept; None for one space."""
        if len(self._spaces) == 1:
            return None
        own = [{*space.names.values(), self._choice} for space in self._spaces]
        kept = {name: kind.at(0.0) for name, kind in self.kinds.items()}
        others = [{name: kept[name] for name in kept if name not in each} for each in own]
        return [{self._choice: i, **each} for i, each in enumerate(others)]

    @property
    def rule(self) -> Callable[..., bool] | None:
        """Whether a tuner's choice is a candidate of no earlier space; None for one space."""
        return None if len(self._spaces) == 1 else self._is_first

    def candidate(self, chosen: Values) -> Values:
        """Return the parameters of an estimator for those that a tuner has chosen."""
        return self._spaces[chosen.get(self._choice, 0)].candidate(chosen)

    def _is_first(self, **chosen: Any) -> bool:
        candidate = self.candidate(chosen)
        return not any(space.has(candidate) for space in self._spaces[: chosen[self._choice]])

    def _named(self, name: str, kind: Parameter) -> str:
        """Return the tuner's name of a parameter; that of another space with other values gets a number."""
        names = [name, *(f"{name} {i}" for i in range(2, len(self._spaces) + 1))]
        free = next(each for each in names if self.kinds.get(each, kind) == kind)
        self.kinds[free] = kind
        return free


class _Ranges:
    """The ranges of one space."""

    def __init__(self, given: Any, whole: Any):
        expected = "a dict with at least one name, or a list of such dicts"
        named = isinstance(given, Mapping) and len(given) > 0
        require(named, "param_distributions", expected, whole)
        self.given = given
        self.names: dict[str, str] = {}  # of the tuner's parameters
        self._fixed = {name: values[0] for name, values in given.items() if _is_list(values, 1)}
        self._places: dict[str, Sequence[Any]] = {}
        free = {name: values for name, values in given.items() if name not in self._fixed}
        self.kinds = {name: self._kind(name, values) for name, values in free.items()}

    def candidate(self, chosen: Values) -> Values:
        """Return the parameters of an estimator."""
        own = {name: chosen[known] for name, known in self.names.items()}
        placed = {name: self._places[name][own[name]] for name in self._places}
        return {**self._fixed, **own, **placed}

    def has(self, candidate: Values) -> bool:
        """Return True if a candidate is one of this space."""
        return set(candidate) == set(self.given) and all(map(self._has, candidate, candidate.values()))

    def _kind(self, name: str, values: Any) -> Parameter:
        ends = isinstance(values, tuple) and len(values) == 2 and all(map(is_number, values))
        if ends or not _is_list(values, 2):
            return as_parameter(name, values)
        try:
            return as_parameter(name, list(values))
        except (ValueError, TypeError):  # objects, or equal values, whose places are chosen
            self._places[name] = values
            return Categorical(range(len(values)))

    def _has(self, name: str, value: Any) -> bool:
        if name in self.kinds and name not in self._places:
            try:
                self.kinds[name].check(name, value)
            except ValueError:
                return False
            return True
        plain = isinstance(value, str | bool | None) or is_number(value)  # else it may not be comparable
        listed = self._places.get(name, [self._fixed.get(name)])
        return any(
            each is value or (plain and type(each) is type(value) and each == value) for each in listed
        )


def _is_list(values: Any, size: int) -> bool:
    """Return True for a list of one value, or with a size of 2 of at least two."""
    listed = isinstance(values, np.ndarray | Sequence) and not isinstance(values, str)
    return listed and (len(values) == 1 if size == 1 else len(values) >= size)
