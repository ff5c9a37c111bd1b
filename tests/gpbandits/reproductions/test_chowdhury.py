"""Figure 1a of Chowdhury & Gopalan (2017) at a tenth of its horizon: who is better than whom."""

from pathlib import Path

import numpy as np
import pytest

from gpbandits import Result, evaluate
from gpbandits.evaluation.statistics import log_log_slope, paired_difference
from gpbandits.experiments import load_study

pytestmark = pytest.mark.long  # a reproduction
STUDY = load_study(Path(__file__).parents[3] / "examples" / "studies" / "chowdhury2017-figures-1-2.toml")
TRIALS, HORIZON = 10, 3000
BEST_VALUE = ("GP-EI (best value)", "GP-PI (best value)")


def play(label: str, only: tuple[str, ...] = ()) -> Result:
    (entry,) = (entry for entry in STUDY.environments if entry.label == label)
    chosen = (agent for agent in STUDY.agents if not only or agent.label in only)
    agents = {agent.label: (agent.name, agent.options) for agent in chosen}
    kwargs = {**entry.kwargs, "horizon": HORIZON}
    return evaluate(entry.id, agents, trials=TRIALS, seed=STUDY.seed, env_kwargs=kwargs)


@pytest.fixture(scope="module")
def result() -> Result:
    return play("Figure 1a, SE, paper's B")


def test_igp_ucb_is_better_than_all_but_those_that_improve_on_the_posterior_mean(result):
    igp_ucb = result.regret["IGP-UCB"][:, -1]
    for label in ("GP-UCB (Theorem 3)", "GP-TS", *BEST_VALUE):
        assert paired_difference(result.regret[label][:, -1], igp_ucb).low > 0
    for label in ("GP-EI (posterior mean)", "GP-PI (posterior mean)"):
        assert paired_difference(igp_ucb, result.regret[label][:, -1]).low > 0


def test_gp_ucb_explores_for_ever_and_is_the_worst_of_all(result):
    regret = result.regret["GP-UCB (Theorem 3)"]
    assert max(result.regret, key=lambda label: result.regret[label][:, -1].mean()) == "GP-UCB (Theorem 3)"
    # The study has 0.99 over its last decade; 0.95 is what tells a line from any root.
    assert log_log_slope(regret, result.rounds, (300, HORIZON)).low > 0.95


def test_ei_and_pi_over_the_best_value_cannot_be_told_apart(result):
    # They choose alike once the best value is out of reach; the study's means differ by 1 %.
    ei, pi = (result.regret[label][:, -1].mean() for label in BEST_VALUE)
    assert ei == pytest.approx(pi, rel=0.1)


def test_thompson_sampling_flattens_while_the_best_value_agents_do_not(result):
    slope = {
        label: log_log_slope(result.regret[label], result.rounds, (300, HORIZON)) for label in result.agents
    }
    assert slope["GP-TS"].high < 0.9 < min(slope[label].low for label in BEST_VALUE)


def test_the_true_norm_is_what_igp_ucb_and_gp_ts_needed(result):
    informed = play("Figure 1a, SE, true norm", only=("IGP-UCB", "GP-TS"))
    for label in informed.agents:
        ratio = result.regret[label][:, -1] / informed.regret[label][:, -1]
        assert np.median(ratio) > 5  # the study has factors of 25 and more at ten times the horizon
