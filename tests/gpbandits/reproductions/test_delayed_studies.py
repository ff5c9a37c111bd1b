"""The studies of Verma et al. (2022) can be played, and what they say most clearly holds in short, too."""

from dataclasses import replace

import numpy as np
import pytest
from study_cases import STUDIES, study_cases

from gpbandits import Result, evaluate
from gpbandits.evaluation.statistics import paired_difference
from gpbandits.experiments import Cell, EnvironmentEntry, compute, load_study

HORIZON, ROUNDS = 200, 12  # of the comparisons, and of a look at every study


def shortened(cell: Cell) -> Cell:
    """One trial of a few rounds."""
    kwargs = {**cell.environment.kwargs, "horizon": ROUNDS}
    entry = EnvironmentEntry(cell.environment.id, cell.environment.label, kwargs)
    return replace(cell, environment=entry, trials=1)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("path", study_cases("verma2022-*.toml"))
def test_every_agent_of_a_study_plays_its_first_environment(path):
    study = load_study(path)
    assert study.trials >= 20
    for agent in study.agents:
        result = compute(shortened(study.cells_of(study.environments[0], agent)[0]))
        assert result.regret[agent.name].shape == (1, ROUNDS)
        assert np.isfinite(result.regret[agent.name]).all()


def play(amplitude: float) -> Result:
    """The agents of Figure 1 that use UCB, at Poisson delays of mean 10."""
    study = load_study(STUDIES / "verma2022-figures-1-5-known.toml")
    agents = {agent.label: (agent.name, agent.options) for agent in study.agents if "UCB" in agent.label}
    prior = {"signal_variance": amplitude, "prior_mean": False}
    kwargs = {"horizon": HORIZON, "delay": {"law": "poisson", "mean": 10}, **prior}
    return evaluate("GPBandit-Delayed-v0", agents, trials=20, seed=study.seed, env_kwargs=kwargs)


@pytest.fixture(scope="module")
def ample() -> Result:
    return play(1.0)


@pytest.fixture(scope="module")
def matched() -> Result:
    return play(0.05)


def difference(result: Result, label: str, baseline: str, metric: str = "regret"):
    """Of the regret at the horizon, paired by trial."""
    curves = result.curves("simple_regret" if metric == "simple_regret" else "regret")
    return paired_difference(curves[label][:, -1], curves[baseline][:, -1])


@pytest.mark.long
def test_censoring_beats_waiting_for_what_is_delivered(ample):
    # The study's difference at 500 rounds is 35 [32, 38].
    assert difference(ample, "GP-UCB", "GP-UCB-SDF, m = 20").low > 10


@pytest.mark.long
def test_at_amplitude_1_hallucination_is_enough_and_censoring_pays_for_exploration(ample):
    assert difference(ample, "GP-UCB-SDF, m = 20", "GP-BUCB").low > 10


@pytest.mark.long
@pytest.mark.parametrize("label", ["GP-UCB", "GP-BUCB"])
def test_at_the_matched_amplitude_only_censoring_leaves_lesser_peaks(matched, label):
    assert difference(matched, label, "GP-UCB-SDF, m = 20", "simple_regret").low > 0


@pytest.mark.long
@pytest.mark.parametrize("amplitude", ["ample", "matched"])
def test_a_small_window_costs_much_and_a_large_one_nothing(amplitude, request):
    result = request.getfixturevalue(amplitude)
    assert difference(result, "GP-UCB-SDF, m = 5", "GP-UCB-SDF, m = 20").low > 20
    assert abs(difference(result, "GP-UCB-SDF, m = 40", "GP-UCB-SDF, m = 20").estimate) < 5
