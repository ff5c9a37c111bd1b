"""The sampler of Optuna: distributions, trials, failures, constraints and budgets."""

import math
import pickle
from datetime import datetime, timedelta

import optuna
import pytest
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.trial import TrialState, create_trial
from tuner_cases import rounds_of

from agents.tuning import Categorical, Integer, Linear, Log, Tuner
from gpbandits.optuna import GPBanditSampler
from gpbandits.optuna.dimensions import ASKED, Dimensions, inform, tunable

optuna.logging.set_verbosity(optuna.logging.ERROR)
START = datetime(2026, 1, 1)
UNIT: dict[str, BaseDistribution] = {"x": FloatDistribution(0.0, 1.0)}


def loss(trial):
    rate = trial.suggest_float("rate", 1e-4, 1.0, log=True)
    width = trial.suggest_int("width", 2, 20, step=3)
    kind = trial.suggest_categorical("kind", ["a", None, 2.5])
    share = trial.suggest_float("share", 0, 1, step=0.1)
    off = (math.log10(rate) + 2) ** 2 + (width - 11) ** 2 / 20 + (kind is not None)
    return off + (share - 0.3) ** 2


def study_of(sampler, **options):
    return optuna.create_study(sampler=sampler, **options)


def played(objective, n=12, agent=None, seed=0, catch=(), **options):
    study = study_of(GPBanditSampler(agent, seed=seed), **options)
    study.optimize(objective, n_trials=n, catch=catch)
    return study


def parameters(study):
    return [trial.params for trial in study.trials]


def over(number, x, value=None, state=TrialState.COMPLETE, seconds=(0, 1), **attributes):
    trial = create_trial(params={"x": x}, distributions=UNIT, value=value, state=state, **attributes)
    trial.number = number
    trial.datetime_start, trial.datetime_complete = (START + timedelta(seconds=s) for s in seconds)
    return trial


def informed(*trials, failures="worst", constraints=(), goal="minimise"):
    """What a tuner knows of some trials: parameter, state, value and costs of each."""
    tuner = Tuner({"x": Linear(0, 1)}, constraints=constraints, goal=goal)
    inform(tuner, Dimensions(UNIT), list(trials), failures)
    return [(each.parameters["x"], each.state, each.value, each.costs) for each in tuner.experiments]


def test_a_sampler_survives_being_pickled():
    sampler = pickle.loads(pickle.dumps(GPBanditSampler(seed=4)))
    study = study_of(sampler)
    study.optimize(loss, n_trials=5)
    assert parameters(study) == parameters(played(loss, n=5, seed=4))


def test_maximising_proposes_what_minimising_the_negative_does():
    up = played(lambda trial: -loss(trial), n=8, direction="maximize")
    assert parameters(up) == parameters(played(loss, n=8))


def test_trials_that_run_are_pending_also_before_they_suggest_anything():
    study = played(loss, n=5)
    running = [study.ask() for _ in range(4)]
    assert not any(each.params for each in running)
    proposed = [each.relative_params for each in running]
    assert len({tuple(each.items()) for each in proposed}) == 4
    for each in running:
        loss(each)
    assert [each.params for each in running] == [
        {name: proposal[name] for name in ("rate", "width", "kind", "share")} for proposal in proposed
    ]


def test_trials_that_begin_at_the_same_time_are_proposed_different_parameters():
    study = played(loss, n=6)
    space = study.sampler.infer_relative_search_space(study, study.trials[0])
    numbers = [study._storage.create_new_trial(study._study_id) for _ in range(3)]  # none has asked yet
    trials = [study._storage.get_trial(number) for number in numbers]
    later_first = [study.sampler.sample_relative(study, trial, space) for trial in reversed(trials)]
    assert len({tuple(each.items()) for each in later_first}) == 3


def test_an_enqueued_trial_that_runs_is_where_it_was_enqueued():
    study = played(lambda trial: trial.suggest_float("x", 0, 1), n=3)
    study.enqueue_trial({"x": 0.625})
    study.ask()
    trials = study.get_trials(deepcopy=False)
    tuner = Tuner({"x": Linear(0, 1)})
    inform(tuner, Dimensions(UNIT), trials, "worst")
    assert [each["x"] for each in tuner.pending.values()] == [0.625]


def test_an_enqueued_trial_out_of_range_is_left_out():
    study = played(lambda trial: trial.suggest_float("x", 0, 1), n=3)
    study.enqueue_trial({"x": 7.0})
    with pytest.warns(UserWarning, match="out of range"):
        study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=1)
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=1)
    assert 0 <= study.trials[-1].params["x"] <= 1


def test_failures_are_the_worst_or_forgotten():
    trials = [
        over(0, 0.1, 3.0),
        over(1, 0.2, 5.0),
        over(2, 0.3, state=TrialState.FAIL),
        over(3, 0.4, state=TrialState.PRUNED),
        over(4, 0.5, 4.0, TrialState.PRUNED),
        over(5, 0.6, math.inf),
    ]
    worst = [3.0, 5.0, 5.0, 5.0, 4.0, 5.0]
    assert [value for _, _, value, _ in informed(*trials)] == worst
    up = [3.0, 5.0, 3.0, 3.0, 4.0, 3.0]
    assert [value for _, _, value, _ in informed(*trials, goal="maximise")] == up
    forgotten = informed(*trials, failures="forget")
    assert [state for _, state, _, _ in forgotten] == [*["told"] * 2, *["dropped"] * 2, "told", "dropped"]
    assert informed(trials[2]) == [(0.3, "dropped", None, {})]  # nothing is known yet


def test_news_come_after_the_trials_that_began_before_them():
    tuner = Tuner({"x": Linear(0, 1)})
    trials = [
        over(0, 0.1, 1.0, seconds=(0, 5)),
        over(1, 0.2, 2.0, seconds=(1, 2)),
        over(2, 0.3, 3.0, seconds=(2, 3)),
    ]
    inform(tuner, Dimensions(UNIT), trials, "worst")
    arrivals = [[arrival.round for arrival in each.arrivals] for each in rounds_of(tuner)]
    assert arrivals == [[], [1], [2, 0]]


def corner(trial):
    x, y = trial.suggest_float("x", 0, 1), trial.suggest_int("y", 0, 10)
    trial.set_user_attr("cost", x + y / 10 - 0.8)
    return -x - y / 5


@pytest.mark.long
@pytest.mark.parametrize("agent", [None, "config"])
def test_constraints_are_kept_however_they_are_given(agent):
    def named(trial):
        value = corner(trial)
        trial.set_constraint("0", trial.user_attrs["cost"])
        return value

    inside = played(named, n=15, agent=agent)
    sampler = GPBanditSampler(agent, seed=0, constraints_func=lambda trial: (trial.user_attrs["cost"],))
    study = study_of(sampler)
    study.optimize(corner, n_trials=15)
    assert parameters(study) == parameters(inside)
    feasible = [trial for trial in study.trials if trial.constraints["0"] <= 0]
    assert study.best_trial in feasible
    assert study.best_value < -1.3  # the best is -1.6: y = 8, x = 0


def test_a_trial_that_lacks_a_constraint_is_a_failure():
    costs = {"constraints:a": -1.0, "constraints:b": 2.0}
    trials = [over(0, 0.1, 3.0, system_attrs=costs), over(1, 0.2, 1.0, system_attrs={"constraints:a": 0.5})]
    told = informed(*trials, constraints=["a", "b"])
    assert told[1] == (0.2, "told", 3.0, {"a": -1.0, "b": 2.0})


def test_parameters_of_a_branch_are_sampled_one_by_one():
    def branches(trial):
        x = trial.suggest_float("x", 0, 1)
        if trial.suggest_categorical("deep", [True, False]):
            return x + trial.suggest_float("depth", 0, 1)
        return x

    study = played(branches, n=10)
    asked = [trial.system_attrs.get("gpbandits:asked", {}) for trial in study.trials]
    assert all(set(each) == {"x", "deep"} for each in asked[3:])
    depths = [trial.params["depth"] for trial in study.trials if "depth" in trial.params]
    assert len(set(depths)) == len(depths) > 0


def test_what_another_process_asks_for_meanwhile_is_not_asked_for_again(monkeypatch):
    study = optuna.create_study(sampler=GPBanditSampler(seed=0))
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1) ** 2, n_trials=5)
    propose, proposals = GPBanditSampler.propose, []
    rival = study._storage.create_new_trial(study._study_id)  # runs, and has no proposal yet

    def slow(*arguments):
        proposal = propose(*arguments)
        if not proposals:
            study._storage.set_trial_system_attr(rival, ASKED, proposal)
        proposals.append(proposal)
        return proposal

    monkeypatch.setattr(GPBanditSampler, "propose", slow)
    asked = study.ask({"x": optuna.distributions.FloatDistribution(0, 1)}).params
    assert len(proposals) == 2
    assert asked == proposals[1] != proposals[0]


def moving(low, high):
    def objective(trial):
        return (trial.suggest_float("x", low, high) - 0.3) ** 2 + (trial.suggest_int("n", 0, 9) - 4) ** 2 / 50

    return objective


@pytest.mark.parametrize("later", [(-1.0, 2.0), (0.2, 0.9)])
def test_where_a_range_changes_the_agent_goes_on_with_what_lies_inside_and_warns_once(later):
    study = played(moving(0.0, 1.0), n=10)
    with pytest.warns(UserWarning, match="ranges of x have changed in this study") as warned:
        study.optimize(moving(*later), n_trials=12)
    assert len([each for each in warned if "have changed" in str(each.message)]) == 1
    asked = [trial.system_attrs.get(ASKED, {}) for trial in study.trials]
    assert all(set(each) == {"n", "x"} for each in asked[1:])
    assert all(later[0] <= trial.params["x"] <= later[1] for trial in study.trials[10:])
    tuner = study.sampler.tuner_of(study, Dimensions(tunable(study.trials)), study.trials, 0)
    inside = [trial for trial in study.trials if later[0] <= trial.params["x"] <= later[1]]
    assert len(tuner.experiments) == len(inside)
    assert study.best_value < 0.05


def test_a_parameter_that_changes_its_scale_is_sampled_on_its_own():
    def objective(trial):
        x = trial.suggest_float("x", 0.1, 1.0, step=None if trial.number % 2 else 0.1)
        return x + trial.suggest_float("y", 0, 1)

    study = study_of(GPBanditSampler(seed=0))
    study.optimize(objective, n_trials=2)
    with pytest.warns(UserWarning, match="ranges of x have changed"):
        study.optimize(objective, n_trials=4)
    assert set(study.trials[-1].system_attrs[ASKED]) == {"y"}


def test_seeds_that_floats_do_not_tell_apart_are_sampled_on_their_own():
    def seeded(trial):
        return trial.suggest_int("seed", 0, 2**60) * 0.0 + trial.suggest_float("x", 0, 1)

    study = played(seeded, n=6)
    asked = [trial.system_attrs.get("gpbandits:asked", {}) for trial in study.trials]
    assert all(set(each) == {"x"} for each in asked[3:])
    assert len({trial.params["seed"] for trial in study.trials}) == 6


@pytest.mark.parametrize("returned", [0.5, None, [float("nan")], ["cold"]])
def test_constraints_that_are_no_list_of_numbers_are_named(returned):
    sampler = GPBanditSampler(constraints_func=lambda trial: returned)
    with pytest.raises(ValueError, match="constraints_func must be one that returns a list of numbers, got"):
        study_of(sampler).optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=1)


IMPOSSIBLE = {
    "options": ({"agent": ("gp-ei", {"widht": 2.0})}, "widht"),
    "seed": ({"seed": -1}, "seed must be None or an integer >= 0, got -1"),
    "failures": ({"failures": "ignore"}, "failures must be .*worst.*forget"),
    "budget": ({"budget": 0}, "budget must be a positive integer"),
    "noise": ({"noise_std": -1.0}, "noise_std must be 0 or positive or None"),
    "standardise": ({"standardise": 3}, "standardise must be True or False"),
}


@pytest.mark.parametrize(("options", "message"), IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_what_is_impossible_is_refused_by_name(options, message):
    with pytest.raises(ValueError, match=message):
        GPBanditSampler(**options)


def test_studies_of_several_objectives_are_refused():
    study = study_of(GPBanditSampler(), directions=["minimize", "maximize"])
    with pytest.raises(ValueError, match="study must be one of a single objective"):
        study.ask()


def test_a_study_stops_once_no_trial_is_worth_its_price():
    sampler = GPBanditSampler(seed=0, stopping=("knowledge-gradient", {"price": 0.01}))
    study = study_of(sampler)
    study.optimize(lambda trial: (trial.suggest_float("x", 0, 1) - 0.3) ** 2, n_trials=40)
    assert 3 <= len(study.trials) < 40
    answer = sampler.may_stop(study)
    assert answer
    assert "worth its price of 0.01" in answer.reason


def test_users_of_ask_and_tell_ask_the_sampler_whether_to_stop():
    sampler = GPBanditSampler(seed=0, stopping=("knowledge-gradient", {"price": 1e-9}))
    study = study_of(sampler)
    assert not sampler.may_stop(study)
    for _ in range(4):
        trial = study.ask()
        study.tell(trial, trial.suggest_float("x", 0, 1))  # ends no loop, as there is none
    assert not sampler.may_stop(study)


def paying(trial):
    x = trial.suggest_float("x", 0.0, 1.0)
    trial.set_user_attr("spent", 0.5 + x)
    return (x - 0.3) ** 2


def test_a_study_ends_once_its_budget_of_costs_is_spent():
    study = study_of(GPBanditSampler(seed=0, cost_budget=5.0))
    study.optimize(paying, n_trials=50)
    spent = [trial.user_attrs["spent"] for trial in study.trials]
    assert sum(spent) >= 5.0 > sum(spent[:-1])
    assert study.best_value < 0.1


def test_the_tuner_is_told_what_trials_spent_also_those_that_failed():
    trials = [
        over(0, 0.2, 1.0, user_attrs={"spent": 2.0}),
        over(1, 0.4, 3.0, user_attrs={"spent": 4.0}),
        over(2, 0.6, state=TrialState.FAIL, user_attrs={"spent": 1.0}),
        over(3, 0.8, state=TrialState.FAIL),
    ]
    tuner = Tuner({"x": Linear(0, 1)}, cost_budget=20.0, goal="minimise")
    inform(tuner, Dimensions(UNIT), trials, "worst")
    known = [(each.value, each.spent) for each in tuner.experiments]
    assert known == [(1.0, 2.0), (3.0, 4.0), (3.0, 1.0), (3.0, 4.0)]


@pytest.mark.parametrize("spent", [None, 0.0, "much"])
def test_a_trial_under_a_budget_says_what_it_spent(spent):
    def silent(trial):
        if spent is not None:
            trial.set_user_attr("spent", spent)
        return trial.suggest_float("x", 0.0, 1.0)

    study = study_of(GPBanditSampler(seed=0, cost_budget=5.0))
    with pytest.raises(ValueError, match=r"user attribute 'spent' of trial 0 must be"):
        study.optimize(silent, n_trials=3)


DISTRIBUTIONS = {
    "float": (FloatDistribution(-1.0, 3.0), Linear(-1.0, 3.0)),
    "log": (FloatDistribution(1e-5, 1e-1, log=True), Log(1e-5, 1e-1)),
    "float-step": (FloatDistribution(0.1, 1.0, step=0.3), Linear(0.1, 1.0, step=0.3)),
    "fine-step": (FloatDistribution(0.0, 1.0, step=0.1), Linear(0.0, 1.0, step=0.1)),
    "int": (IntDistribution(-3, 9), Integer(-3, 9)),
    "int-log": (IntDistribution(1, 512, log=True), Integer(1, 512, log=True)),
    "int-step": (IntDistribution(2, 18, step=4), Integer(2, 18, step=4)),
    "choice": (CategoricalDistribution((None, "a", 3, 1.5, False)), Categorical(range(5))),
}
ALL = pytest.mark.parametrize(("distribution", "kind"), DISTRIBUTIONS.values(), ids=DISTRIBUTIONS)


@ALL
def test_what_the_tuner_asks_is_possible_in_optuna_and_told_as_it_was_asked(distribution, kind):
    dimensions = Dimensions({"x": distribution})
    for place in range(101):
        value = kind.at(place / 100)
        asked = distribution.to_external_repr(value)
        assert distribution._contains(distribution.to_internal_repr(asked))
        assert dimensions.to_tuner({"x": asked}) == {"x": value}


@ALL
def test_what_optuna_samples_is_told_and_asked_again(distribution, kind):
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    dimensions = Dimensions({"x": distribution})
    for _ in range(20):
        values = study.ask({"x": distribution}).params
        told = dimensions.to_tuner(values)
        assert told is not None
        assert dimensions.to_optuna(told)["x"] == pytest.approx(values["x"]) or values["x"] is None


@pytest.mark.parametrize("values", [{}, {"x": 5.0}, {"x": "a"}])
def test_values_that_are_missing_or_impossible_are_told_to_nobody(values):
    assert Dimensions({"x": FloatDistribution(0, 1)}).to_tuner(values) is None


@pytest.mark.parametrize("distribution", [IntDistribution(1, 1), CategoricalDistribution((0,))])
def test_a_single_value_is_a_constant(distribution):
    dimensions, value = Dimensions({"x": distribution}), getattr(distribution, "low", 0)
    told = dimensions.to_tuner({"x": value})
    assert told is not None
    assert dimensions.to_optuna(told) == {"x": value}
