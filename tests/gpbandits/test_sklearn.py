"""The search passes scikit-learn's checks of its own searches, and has their results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import loguniform, norm
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_classification
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold, RandomizedSearchCV, ShuffleSplit, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from gpbandits import Categorical, Integer, Linear, Log
from gpbandits.sklearn import GPBanditSearchCV, SearchRanges

X, Y = make_classification(n_samples=90, n_features=5, random_state=0)
RATE = {"C": Log(1e-3, 1e3)}
WIDE = {"C": Log(1e-2, 1e2), "gamma": Log(1e-3, 1e1)}

# As scikit-learn makes its own searches for the checks, `RandomizedSearchCV` with lists.
CHECKED = [
    (Ridge(), "alpha"),
    (LogisticRegression(), "C"),
    (Pipeline([("pca", PCA()), ("ridge", Ridge())]), "ridge__alpha"),
    (Pipeline([("pca", PCA()), ("logisticregression", LogisticRegression())]), "logisticregression__C"),
]
SEARCHES = [
    GPBanditSearchCV(inner, {name: [0.1, 1.0]}, n_iter=3, cv=2, error_score="raise", random_state=0)
    for inner, name in CHECKED
]


def expected_failures(estimator):
    """Those of scikit-learn's own searches, which it does not hold them to strictly."""
    known = {"check_requires_y_none": "no message of its own"}
    inner = estimator.estimator[-1] if isinstance(estimator.estimator, Pipeline) else estimator.estimator
    return known | ({"check_supervised_y_2d": "no warning of the shape"} if isinstance(inner, Ridge) else {})


@pytest.mark.sampled(4)
@pytest.mark.filterwarnings("ignore")  # the checks fit on what estimators warn of
@parametrize_with_checks(SEARCHES, expected_failed_checks=expected_failures)
def test_the_search_passes_the_checks_of_estimators(estimator, check):
    check(estimator)


def search(inner=None, ranges=None, **options):
    keywords: dict[str, Any] = {"n_iter": 6, "cv": 3, "random_state": 0} | options
    return GPBanditSearchCV(inner or SVC(), WIDE if ranges is None else ranges, **keywords)


def test_the_best_is_the_largest_mean_test_score_and_the_estimator_is_fitted_with_it():
    found = search().fit(X, Y)
    scores = found.cv_results_["mean_test_score"]
    assert found.best_score_ == scores.max()
    assert found.best_params_ == found.cv_results_["params"][found.best_index_]
    again = SVC(**found.best_params_)
    assert found.best_score_ == pytest.approx(cross_val_score(again, X, Y, cv=3).mean())
    np.testing.assert_array_equal(found.predict(X), again.fit(X, Y).predict(X))


def test_the_tuner_was_given_the_scores_of_the_results():
    found = search().fit(X, Y)
    told: Any = [each.value for each in found.tuner_.experiments]
    np.testing.assert_allclose(told, found.cv_results_["mean_test_score"])
    assert [each.parameters for each in found.tuner_.experiments] == found.cv_results_["params"]


def test_results_have_the_columns_of_a_random_search():
    ours = search(return_train_score=True).fit(X, Y)
    theirs = RandomizedSearchCV(
        SVC(), {"C": [1, 2], "gamma": [1, 2]}, n_iter=3, return_train_score=True, cv=3
    )
    assert set(ours.cv_results_) == set(theirs.fit(X, Y).cv_results_)
    assert set(vars(ours)) - {"tuner_", "batch_size", "agent", "stopping"} == set(vars(theirs))


@pytest.mark.long
def test_a_seed_repeats_the_search_however_many_jobs():
    one = search(batch_size=2).fit(X, Y)
    two = search(batch_size=2, n_jobs=2).fit(X, Y)
    assert one.cv_results_["params"] == two.cv_results_["params"]
    np.testing.assert_array_equal(one.cv_results_["mean_test_score"], two.cv_results_["mean_test_score"])
    assert search(random_state=1).fit(X, Y).cv_results_["params"] != one.cv_results_["params"]


def test_all_candidates_are_compared_on_the_same_splits():
    class Counting(ShuffleSplit):
        calls = 0

        def split(self, *data, **params):
            Counting.calls += 1
            return super().split(*data, **params)

    found = search(cv=Counting(2, test_size=0.5, random_state=np.random.RandomState(0))).fit(X, Y)
    assert Counting.calls == 1
    assert len(found.cv_results_["params"]) == 6


@pytest.mark.parametrize("batch_size", [1, 5])
def test_each_candidate_is_proposed_and_told_once_and_the_search_ends_when_all_are_tried(batch_size):
    ranges = {"alpha": [0.1, 1.0, 10.0], "solver": ["svd", "lsqr"], "fit_intercept": [True, False]}
    found = search(Ridge(), ranges, n_iter=48, batch_size=batch_size).fit(X, Y)
    assert len({str(each) for each in found.cv_results_["params"]}) == 12
    assert len(found.cv_results_["params"]) == len(found.tuner_.experiments) == 12
    assert {each.state for each in found.tuner_.experiments} == {"told"}


def test_a_mean_that_was_told_once_leaves_its_doubt():
    """Told again at each proposal it would collapse to the noise of equal numbers."""
    ranges = {"C": [0.1, 1.0, 10.0], "gamma": [0.01, 0.1, 1.0, 10.0]}
    advice = search(ranges=ranges, n_iter=48).fit(X, Y).tuner_.recommend()
    assert advice.std > 1e-3


def test_candidates_that_fail_are_tried_once_too():
    levels = {"level": [0.1, 0.2, 0.8, 0.9]}
    with pytest.warns(Warning, match="fits failed"):
        found = search(Fragile(), levels, n_iter=9).fit(X, Y)
    states = {each.parameters["level"]: each.state for each in found.tuner_.experiments}
    assert states == {0.1: "told", 0.2: "told", 0.8: "failed", 0.9: "failed"}


SPACES = [
    {"kernel": ["linear"], "C": Log(1e-2, 1e2)},
    {"kernel": ["rbf"], "C": Log(1e-2, 1e2), "gamma": Log(1e-3, 1e1)},
    {"kernel": ["poly"], "degree": [2, 3], "C": [0.5, 2.0]},
]


def test_a_list_of_spaces_is_searched_as_scikit_learn_takes_it():
    found = search(ranges=SPACES, n_iter=12).fit(X, Y)
    tried = found.cv_results_["params"]
    assert len(tried) == 12
    names = {"linear": {"kernel", "C"}, "rbf": {"kernel", "C", "gamma"}, "poly": {"kernel", "degree", "C"}}
    assert all(set(each) == names[each["kernel"]] for each in tried)
    assert all(each["C"] in (0.5, 2.0) for each in tried if each["kernel"] == "poly")
    assert set(found.tuner_.plan.parameters.kinds) == {"space", "C", "gamma", "degree", "C 2"}
    RandomizedSearchCV(SVC(), [{"C": [1.0]}], n_iter=1)  # which takes a list, too


def test_of_spaces_that_overlap_each_candidate_is_tried_once():
    ranges = [{"C": [0.1, 1.0], "gamma": [0.1]}, {"C": [1.0, 10.0], "gamma": [0.1]}]
    found = search(ranges=ranges, n_iter=20).fit(X, Y)
    assert sorted(each["C"] for each in found.cv_results_["params"]) == [0.1, 1.0, 10.0]


@pytest.mark.parametrize(
    "ranges", [{"C": [2.0], "gamma": [0.1]}, [{"C": [2.0]}], [{"C": [1.0]}, {"C": [2.0]}]]
)
def test_lists_of_one_value_are_candidates(ranges):
    found = search(ranges=ranges, n_iter=5).fit(X, Y)
    assert len(found.cv_results_["params"]) == (2 if len(ranges) == 2 and isinstance(ranges, list) else 1)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (loguniform(0.1, 10), Log(0.1, 10.0)),
        (Integer(2, 6, log=True), Integer(2, 6, log=True)),
        ([1, 2.5], Categorical([1, 2.5])),
        ((1, 6), Integer(1, 6)),
        ((1.0, 2.5), Linear(1.0, 2.5)),
        ((True, False), Categorical([True, False])),
        (np.array([1, 2]), Categorical([1, 2])),
    ],
)
def test_ranges_become_parameters_of_a_tuner(values, kind):
    assert SearchRanges({"max_depth": values}).kinds == {"max_depth": kind}


def test_lists_may_hold_estimators_and_single_values_are_fixed():
    pipe = make_pipeline(StandardScaler(), SVC())
    scalers = [StandardScaler(), MinMaxScaler()]
    ranges = {"standardscaler": scalers, "svc__C": Log(0.1, 10), "svc__kernel": ["linear"]}
    found = search(pipe, ranges).fit(X, Y)
    assert {type(each["standardscaler"]) for each in found.cv_results_["params"]} == {
        StandardScaler,
        MinMaxScaler,
    }
    assert {each["svc__kernel"] for each in found.cv_results_["params"]} == {"linear"}
    assert type(found.best_estimator_[0]) is type(found.best_params_["standardscaler"])


def test_of_several_metrics_the_one_that_refit_names_is_maximised():
    found = search(scoring=["accuracy", "roc_auc"], refit="roc_auc").fit(X, Y)
    told: Any = [each.value for each in found.tuner_.experiments]
    np.testing.assert_allclose(told, found.cv_results_["mean_test_roc_auc"])
    assert found.best_score_ == found.cv_results_["mean_test_roc_auc"].max()
    with pytest.raises(ValueError, match="refit must be the name of the metric"):
        search(scoring=["accuracy", "roc_auc"], refit=False).fit(X, Y)


class Fragile(ClassifierMixin, BaseEstimator):
    """Cannot be fitted where level > 0.5, or ever."""

    def __init__(self, level=0.0, always=False):
        self.level, self.always = level, always

    def fit(self, x, y):
        if self.always or self.level > 0.5:
            raise FloatingPointError("the melt froze")
        self.classes_ = np.unique(y)
        return self

    def predict(self, x):
        return np.full(len(x), self.classes_[int(self.level > 0.25)])


@pytest.mark.filterwarnings("ignore:One or more of the test scores are non-finite")
@pytest.mark.parametrize("batch_size", [1, 4])
def test_fits_that_fail_are_failures_from_which_the_tuner_learns(batch_size):
    hot = search(Fragile(), {"level": Linear(0, 1)}, n_iter=12, batch_size=batch_size)
    with pytest.warns(Warning, match="fits failed"):
        hot.fit(X, Y)
    states = [each.state for each in hot.tuner_.experiments]
    levels = [each.parameters["level"] for each in hot.tuner_.experiments]
    assert states == ["failed" if level > 0.5 else "told" for level in levels]
    assert 0 < states.count("failed") < 12
    assert hot.best_params_["level"] <= 0.5


def test_errors_are_raised_where_asked_and_where_nothing_can_be_fitted():
    with pytest.raises(FloatingPointError, match="the melt froze"):
        search(Fragile(always=True), {"level": Linear(0, 1)}, error_score="raise").fit(X, Y)
    broken = search(Fragile(always=True), {"level": Linear(0, 1)}, n_iter=2)
    with pytest.warns(UserWarning, match="all fits failed"), pytest.raises(ValueError, match="fits failed"):
        broken.fit(X, Y)


def test_a_stopping_rule_ends_the_search():
    rule = ("knowledge-gradient", {"price": 10.0})
    found = search(ranges=RATE, n_iter=20, stopping=rule).fit(X, Y)
    assert 1 <= len(found.tuner_.experiments) < 20


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ranges": {}}, "param_distributions must be a dict with at least one name"),
        ({"ranges": []}, "param_distributions must be a dict"),
        ({"ranges": [{"C": [1, 2]}, 3]}, "param_distributions must be a dict"),
        ({"ranges": [{"C": [1, 2]}, {}]}, "param_distributions must be a dict"),
        ({"ranges": {"C": "12"}}, "C must be a range"),
        ({"ranges": {"C": norm()}}, "C must be a range.*norm"),
        ({"n_iter": 0}, "n_iter must be"),
        ({"batch_size": 0}, "batch_size must be"),
        ({"agent": "nobody"}, "unknown agent"),
        ({"stopping": "nothing"}, "stopping"),
    ],
)
def test_wrong_arguments_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        search(**options).fit(X, Y)


def test_a_clone_has_the_same_arguments_and_a_search_may_be_nested():
    outer: Any = clone(search(ranges=RATE, n_iter=3, agent=("gp-ei", {"initial": 2})))
    assert outer.agent == ("gp-ei", {"initial": 2})
    assert cross_val_score(outer, X, Y, cv=KFold(2)).shape == (2,)
