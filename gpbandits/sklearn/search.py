"""The search for hyperparameters by cross-validation, in which an agent proposes the next candidates."""

import warnings
from collections.abc import Callable, Hashable, Mapping, Sequence
from math import isfinite
from typing import Any

import numpy as np
from numpy import nan
from scipy.stats.distributions import rv_frozen
from sklearn.model_selection._search import BaseSearchCV  # its `_run_search` is the documented hook
from sklearn.utils import check_random_state

from agents.tuning import Categorical, Integer, Linear, Log, Tuner
from agents.tuning.parameters import Parameter
from bandit_envs.basics.arguments import is_count, require

KINDS = {"uniform": Linear, "loguniform": Log, "reciprocal": Log, "randint": Integer}  # of scipy.stats
ALLOWED = (
    "a Linear, Log, Integer or Categorical, a list of values, or a uniform, loguniform or randint of scipy"
)
FAILED = "fits failed"  # in scikit-learn's error where every fit of a call fails
Values = dict[str, Any]


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
    test scores of all before it. Splits are drawn once, so that candidates are compared on the same ones, and
    a candidate that is proposed again is not fitted again. One whose fits all fail, or whose score is not
    finite, counts as a failure of its parameters, from which the tuner learns, unless `error_score="raise"`.

    Args:
        estimator: object with `fit`, as for `RandomizedSearchCV`.
        param_distributions: name -> `Linear`, `Log`, `Integer` or `Categorical`; a list of values, which are
            choices without an order; or `uniform`, `loguniform` or `randint` of `scipy.stats`.
        n_iter: number of proposals.
        batch_size: how many candidates are proposed at a time, each given that the others run. More than
            one keeps busy `n_jobs` beyond the number of folds, and learns later.
        agent: a name, or (name, options), and its default, as for `Tuner`.
        stopping: rule that ends the search early, as for `Tuner`, in the unit of the score.
        scoring, n_jobs, refit, cv, verbose, pre_dispatch, error_score, return_train_score: as for
            `RandomizedSearchCV`. Of several metrics the agent maximises the one that `refit` names.
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
        self.tuner_ = Tuner(ranges.kinds, budget=self.n_iter, **given)
        fits = _Fits(evaluate_candidates, _OneSplit(self._checked_cv_orig), self.refit, self.error_score)
        left = self.n_iter
        while left > 0 and not (
            self.stopping is not None and self.tuner_.experiments and self.tuner_.may_stop()
        ):
            asked = self.tuner_.ask(min(left, self.batch_size))
            left -= len(asked)
            candidates = [ranges.candidate(chosen) for _, chosen in asked]
            scores = fits.scores(candidates, [tuple(chosen.items()) for _, chosen in asked])
            for (ticket, _), score in zip(asked, scores, strict=True):
                if isfinite(score):
                    self.tuner_.tell(ticket, score)
                else:
                    self.tuner_.fail(ticket, f"its score was {score}")
        fits.require_any()


class _OneSplit:
    """A splitter whose first splits are given again, where others draw anew."""

    def __init__(self, splitter: Any):
        self._splitter, self._splits = splitter, None

    def split(self, *data: Any, **params: Any) -> Any:
        """Return the splits."""
        if self._splits is None:
            self._splits = list(self._splitter.split(*data, **params))
        return self._splits


class _Fits:
    """The fits of a search, each candidate once."""

    def __init__(self, evaluate: Callable[..., Values], splits: _OneSplit, refit: Any, error_score: Any):
        self._evaluate, self._splits, self._refit, self._error_score = evaluate, splits, refit, error_score
        self._known: dict[Hashable, float] = {}
        self._scored, self._error = False, None

    def scores(self, candidates: Sequence[Values], keys: Sequence[Hashable]) -> list[float]:
        """Return the mean test score of each candidate, NaN for one whose fits failed."""
        fresh = {key: each for key, each in zip(keys, candidates, strict=True) if key not in self._known}
        if fresh:
            self._known |= zip(fresh, self._fitted(list(fresh.values())), strict=True)
        return [self._known[key] for key in keys]

    def require_any(self) -> None:
        """Raise scikit-learn's error if the fits of all candidates failed."""
        if not self._scored:
            assert self._error is not None
            raise self._error

    def _fitted(self, candidates: list[Values]) -> list[float]:
        try:
            results = self._evaluate(candidates, cv=self._splits)
        except ValueError as error:
            if self._error_score == "raise" or FAILED not in str(error):
                raise
            self._error = error
            warnings.warn(f"all fits failed with {candidates}:{error}", stacklevel=6)
            return [nan] * len(candidates)
        self._scored = True
        return [float(score) for score in results[self._column(results)][-len(candidates) :]]

    def _column(self, results: Values) -> str:
        if "mean_test_score" in results:
            return "mean_test_score"
        named = isinstance(self._refit, str) and f"mean_test_{self._refit}" in results
        require(named, "refit", "the name of the metric to maximise, where there are several", self._refit)
        return f"mean_test_{self._refit}"


class SearchRanges:
    """Search ranges hold a tuner's parameters by name, and the values of lists.

    Values of lists are choices without an order. Where they are no text or numbers, such as estimators, the
    tuner chooses their place in the list.
    """

    def __init__(self, given: Mapping[str, Any]):
        named = isinstance(given, Mapping) and len(given) > 0
        require(named, "param_distributions", "a dict with at least one name", given)
        self._fixed = {name: values[0] for name, values in given.items() if _is_list(values, 1)}
        left = {name: values for name, values in given.items() if name not in self._fixed}
        require(len(left) > 0, "param_distributions", "a dict with a range of more than one value", given)
        self.kinds: dict[str, Parameter] = {}
        self._places: dict[str, Sequence[Any]] = {}
        for name, values in left.items():
            self.kinds[name], places = _kind(name, values)
            if places is not None:
                self._places[name] = places

    def candidate(self, chosen: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters of an estimator for those that a tuner has chosen."""
        placed = {name: self._places[name][chosen[name]] for name in self._places}
        return {**self._fixed, **chosen, **placed}


def _kind(name: str, values: Any) -> tuple[Parameter, Sequence[Any] | None]:
    """Return a parameter, and the list whose places it chooses, None if it chooses values."""
    if isinstance(values, Parameter):
        return values, None
    if isinstance(values, rv_frozen):
        law = values.dist.name  # type: ignore[attr-defined]
        require(law in KINDS, name, ALLOWED, law)
        low, high = values.support()
        wide = f"a {law} with a lower and a higher end (a list of one value fixes a parameter)"
        require(low < high, name, wide, (float(low), float(high)))
        return KINDS[law](*((int(low), int(high)) if law == "randint" else (float(low), float(high)))), None
    require(_is_list(values, 2), name, ALLOWED, values)
    try:
        return Categorical(list(values)), None
    except (ValueError, TypeError):  # objects, or equal values
        return Categorical(range(len(values))), values


def _is_list(values: Any, size: int) -> bool:
    """Return True for a list of one value, or with a size of 2 for one of at least two."""
    listed = isinstance(values, np.ndarray | Sequence) and not isinstance(values, str)
    return listed and (len(values) == 1 if size == 1 else len(values) >= size)
