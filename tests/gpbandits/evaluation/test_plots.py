"""Figures of results and learning curves."""

import dataclasses
from types import SimpleNamespace

import matplotlib.figure
import numpy as np
import pytest
from matplotlib.image import imread
from synthetic import result

from gpbandits.evaluation.learning import learning_curve
from gpbandits.evaluation.marks import marks_in
from gpbandits.evaluation.metrics import Overlay
from gpbandits.evaluation.panels import add_inset
from gpbandits.evaluation.statistics import bootstrap_interval


def legend(figure):
    return [text.get_text() for text in figure.axes[-1].get_legend().get_texts()]


def legend_title(figure):
    return figure.legends[0].get_title().get_text()


def test_pretrained_policies_are_drawn_beside_learners_and_marked():
    """As in tables: what a table shows a figure draws."""
    several = result()
    first, second, *_ = several.agents
    mixed = dataclasses.replace(several, tracks={first: "pretrained", second: "from scratch"})
    drawn = legend(mixed.plot())
    assert {f"{first}‡", second} < set(drawn)
    assert any(each.startswith("‡ pretrained") for each in drawn)


def own_axes(count=1):
    return matplotlib.figure.Figure().subplots(1, count)


def test_the_chosen_agents_are_drawn_in_their_order():
    assert legend(result().plot(agents=["random", "GP-UCB"])) == ["random", "GP-UCB"]


def test_several_metrics_have_a_panel_each_and_one_legend():
    figure = result(num_constraints=1, privileged={"GP-TS"}).plot(metric=["regret", "hard_violation"])
    left, right = figure.axes
    assert "regret" in left.get_ylabel()
    assert "violation" in right.get_ylabel()
    assert left.get_legend() is None
    assert legend(figure)[:3] == ["GP-UCB", "GP-TS†", "random"]
    assert len(legend(figure)) == 4


def test_bounds_are_drawn_in_the_panel_of_their_metric_and_named_in_the_legend():
    res = result()
    mine = Overlay("mine", "upper", res.rounds, res.rounds * 1.0, "regret")
    left, right = (figure := res.plot(metric=["regret", "simple_regret"], bounds=[mine])).axes
    assert len(left.lines) == len(right.lines) + 1
    assert "mine" in legend(figure)


def test_axes_of_ones_own_are_drawn_on():
    axes = own_axes()
    assert result().plot(ax=axes, title="mine") is axes.figure
    assert (axes.get_title(), len(axes.lines)) == ("mine", 3)
    pair = own_axes(2)
    assert result().plot(ax=pair, metric=["regret", "simple_regret"]) is pair[0].figure


def many(count=13):
    """Agents whose regret is that of others with some more, so that no two curves are equal."""
    from gpbandits import evaluate

    arms = [{f"rule {i}": ("gp-ucb", {"width": 0.5 + i})} for i in range(count - 1)]
    entrants = {label: agent for each in arms for label, agent in each.items()} | {"random": "random"}
    return evaluate("GPBandit-GP-v0", entrants, trials=2, env_kwargs={"num_arms": 20, "horizon": 30})


@pytest.mark.long
@pytest.mark.parametrize("count", [1, 2], ids=["one panel", "two panels"])
@pytest.mark.parametrize(("size", "width"), [("column", 3.3), ("page", 6.9)])
def test_print_keeps_its_width_its_text_size_and_all_of_its_text(size, width, count, tmp_path):
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.text import Text

    res = many(13) if count == 1 else result(privileged={"GP-TS"}, num_constraints=1)
    figure = res.plot(tmp_path / "p.png", size=size, metric=["regret", "simple_regret"][:count])
    assert all(mark.footnote[:12] in legend_title(figure) for mark in marks_in([res]))
    assert figure.get_size_inches()[0] == width
    assert imread(tmp_path / "p.png").shape[1] == round(300 * width)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    used = figure.get_tightbbox(canvas.get_renderer())
    assert min(used.x0, used.y0) >= 0
    assert used.x1 <= width + 0.01
    assert used.y1 <= figure.get_size_inches()[1] + 0.01
    sizes = {text.get_fontsize() for text in figure.findobj(Text) if text.get_text()}
    assert 5.0 <= min(sizes) <= max(sizes) <= 7.0


@pytest.mark.long
def test_text_of_vector_figures_is_text_of_embedded_truetype(tmp_path):
    res = result()
    res.plot(tmp_path / "v.pdf", size="column")
    pdf = (tmp_path / "v.pdf").read_bytes()
    assert b"/FontFile2" in pdf
    assert b"/Type3" not in pdf
    res.plot(tmp_path / "v.svg", size="column")
    svg = (tmp_path / "v.svg").read_text(encoding="utf-8")
    assert all(f">{label}</text>" in svg for label in res.agents)


def test_curves_that_another_flattens_are_drawn_again_in_an_inset():
    res = result()
    flat, others = res.plot(inset=True), res.plot(agents=["GP-UCB", "random"], inset=True)
    assert res.plot().axes[0].child_axes == []  # nobody asked
    (inset,) = flat.axes[0].child_axes
    low = [res.regret[label].mean(axis=0)[-1] for label in ("GP-UCB", "GP-TS")]
    assert max(low) < inset.get_ylim()[1] < 1.2 * max(low)
    assert len(inset.lines) == 3
    assert len(inset.collections) == 3  # the intervals
    assert others.axes[0].child_axes == []  # one curve is seen well enough
    assert res.plot(scale="log-log", inset=True).axes[0].child_axes == []


def test_no_inset_hides_a_curve():
    rounds = np.arange(1.0, 101.0)
    fan = [(rounds, height * np.ones(100)) for height in np.linspace(0.05, 1.0, 9)]
    crowded, free = own_axes(2)
    for axes, means in ((crowded, fan), (free, [fan[0], fan[1], (rounds, rounds / 100.0)])):
        for pair in means:
            axes.plot(*pair)
    assert add_inset(crowded, fan) is None
    inset = add_inset(free, [fan[0], fan[1], (rounds, rounds / 100.0)])
    assert inset is not None
    assert inset.get_ylim()[1] < 0.5


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
