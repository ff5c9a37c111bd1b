"""Learning curves of callbacks beside the agents of a result."""

from types import SimpleNamespace

import numpy as np
import pytest
from synthetic import result

from gpbandits.evaluation.learning import learning_curve
from gpbandits.evaluation.statistics import bootstrap_interval


def seed(number: int, steps: int = 100, copies: int = 2) -> SimpleNamespace:
    regret = np.random.default_rng(number).exponential(1.0, steps) / np.arange(1, steps + 1)
    return SimpleNamespace(history=(copies * np.arange(1, steps + 1), regret))


def test_a_curve_is_the_mean_over_seeds_of_stretches_up_to_the_shortest_training():
    runs = [seed(0).history, seed(1, steps=80).history, seed(2).history]
    steps, found = learning_curve(runs, 8)
    stretches = np.array([regret[:80].reshape(8, 10).mean(axis=1) for _, regret in runs])
    np.testing.assert_array_equal(steps, 2 * np.arange(10, 81, 10))
    np.testing.assert_allclose(found, bootstrap_interval(stretches))


def test_learners_have_curves_with_bands_and_agents_lines_at_their_regret_a_round(tmp_path):
    res = result(privileged={"GP-TS"})
    learners = {"PPO": [seed(0), seed(1)], "A2C": seed(2)}
    figure = res.plot_learning(learners, tmp_path / "learning.png", points=10)
    (axes,) = figure.axes
    labels = [text.get_text() for text in axes.get_legend().get_texts()]  # pyright: ignore
    assert labels[:2] == ["PPO, 2 seeds", "A2C, 1 seed"]
    assert labels[2:5] == [res.marked(label) for label in res.ordered]
    assert labels[5].startswith("† privileged")
    levels = [np.asarray(line.get_ydata())[0] for line in axes.lines[2:5]]
    np.testing.assert_allclose(levels, [res.average_regret[x][:, -1].mean() for x in res.ordered])
    assert (tmp_path / "learning.png").stat().st_size > 10_000
    assert len(axes.collections) == 2


@pytest.mark.parametrize("learners", [{}, {"PPO": []}, {"PPO": SimpleNamespace()}, {"PPO": seed(0, steps=0)}])
def test_what_is_no_training_is_named(learners):
    with pytest.raises(ValueError, match="RegretCallback"):
        result().plot_learning(learners)
