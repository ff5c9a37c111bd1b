"""Figures of results as people ask for them: of some agents, of several metrics, on axes of their own."""

import itertools
from types import SimpleNamespace

import matplotlib.figure
import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.image import imread
from synthetic import result

from gpbandits.evaluation.formats import GREY, marks_in, styles
from gpbandits.evaluation.measures import Overlay
from gpbandits.evaluation.panels import add_inset, flattened
from gpbandits.evaluation.plots import learning_curve
from gpbandits.evaluation.statistics import bootstrap_interval


def legend(figure):
    return [text.get_text() for text in figure.axes[-1].get_legend().get_texts()]


def legend_title(figure):
    return figure.legends[0].get_title().get_text()


def own_axes(count=1):
    return matplotlib.figure.Figure().subplots(1, count)


def test_the_chosen_agents_are_drawn_in_their_order():
    assert legend(result().plot(agents=["random", "GP-UCB"])) == ["random", "GP-UCB"]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("label", ["$\\frac$ cost", "a $b$ c", "_hidden", "100 %"])
def test_labels_are_drawn_as_they_are(label):
    """Not as mathematics, and not left out of the legend."""
    figure = result(labels=(label, "random")).plot()
    assert figure._repr_png_().startswith(b"\x89PNG")  # pyright: ignore
    assert [text.replace("\\$", "$").strip() for text in legend(figure)] == [label, "random"]


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


@pytest.mark.parametrize("scale", ["linear", "log-log"])
def test_panels_that_share_their_height_show_all_curves(scale):
    low, high = result(), result(factor=50.0)
    left, right = axes = matplotlib.figure.Figure().subplots(1, 2, sharey=True)
    for each, shown in zip(axes, (low, high), strict=True):
        shown.plot(ax=each, scale=scale, legend=False)
        assert each.get_legend() is None
    assert left.get_ylim() == right.get_ylim()
    assert right.get_ylim()[1] >= max(regret[:, -1].mean() for regret in high.regret.values())


def test_a_band_below_zero_is_not_cut():
    axes = result(shift=-1.0, num_constraints=1).plot().axes[0]
    assert axes.get_ylim()[0] <= min(path.vertices[:, 1].min() for path in bands(axes))
    assert result().plot().axes[0].get_ylim()[0] == 0.0


def bands(axes):
    return [path for each in axes.collections for path in each.get_paths()]


def test_simple_regret_is_logarithmic_unless_a_scale_is_named():
    left, right = result().plot(metric=["regret", "simple_regret"]).axes
    assert (left.get_yscale(), right.get_yscale(), right.get_xscale()) == ("linear", "log", "linear")
    assert result().plot(metric="simple_regret", scale="linear").axes[0].get_yscale() == "linear"


def test_an_axis_that_leaves_out_values_says_so():
    cut = result(shift=-0.3).plot(scale="log-log").axes[0], result().plot(scale="log-log").axes[0]
    assert ["where positive" in axes.get_ylabel() for axes in cut] == [True, False]
    assert "where positive" not in result(shift=-0.3).plot().axes[0].get_ylabel()


def test_direct_labels_leave_no_mark_unexplained():
    marked = result(privileged={"GP-TS"})
    assert legend_title(marked.plot(legend="direct")) == marks_in([marked])[0].footnote
    assert result().plot(legend="direct").legends == []


@pytest.mark.parametrize("scale", ["linear", "log-log"])
def test_direct_labels_have_the_colours_and_the_order_of_the_curves_and_do_not_overlap(scale):
    figure = result(labels=("first", "second", "third")).plot(scale=scale, legend="direct")
    axes = figure.axes[0]
    figure.canvas.draw()
    assert axes.get_legend() is None
    assert [text.get_text() for text in axes.texts] == ["first", "second", "third"]
    for text, line in zip(axes.texts, axes.lines, strict=True):
        assert text.get_color() == line.get_color()
    ends = [line.get_ydata()[-1] for line in axes.lines]
    boxes = [axes.texts[i].get_window_extent() for i in np.argsort(ends)]
    assert all(below.y1 <= above.y0 + 1 for below, above in itertools.pairwise(boxes))


def test_size_and_title_are_those_that_are_given():
    figure = result().plot(size=(3, 2), title="mine")
    assert tuple(figure.get_size_inches()) == (3, 2)
    assert figure.axes[0].get_title() == "mine"
    assert result().plot().axes[0].get_title() == result().environment


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"agents": "random"}, "agents must be a list of labels"),
        ({"agents": ["sarsa"]}, "unknown agent 'sarsa'"),
        ({"size": (3, -1)}, "size must be a positive width and height"),
        ({"size": "poster"}, 'size must be "column", "page" or'),
        ({"size": 3}, "size must be a positive width and height"),
        ({"size": (3, 2), "ax": own_axes()}, "size must be left out beside ax"),
        ({"ax": "left"}, "ax must be 1 axes"),
        ({"ax": own_axes(), "metric": ["regret", "simple_regret"]}, "ax must be 2 axes"),
        ({"legend": True}, 'legend must be False, "outside" or "direct"'),
        ({"metric": []}, "metric must be the name"),
        ({"metric": 3}, "metric must be the name"),
        ({"metric": ["regret", "total"]}, "choose one of budget_regret, regret, average_regret"),
    ],
)
def test_options_of_a_figure_that_make_no_sense_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        result().plot(**options)


def many(count=13):
    """Agents whose regret is that of others with some more, so that no two curves are equal."""
    from gpbandits import evaluate

    arms = [{f"rule {i}": ("gp-ucb", {"width": 0.5 + i})} for i in range(count - 1)]
    entrants = {label: agent for each in arms for label, agent in each.items()} | {"random": "random"}
    return evaluate("GPBandit-GP-v0", entrants, trials=2, env_kwargs={"num_arms": 20, "horizon": 30})


def test_no_colour_is_used_twice_up_to_sixteen_lines_and_no_style_up_to_eighty():
    assert len({style.colour for style in styles(16)}) == 16
    assert len({(style.colour, style.dashes) for style in styles(80)}) == 80
    figure = many().plot()
    colours = [line.get_color() for line in figure.axes[0].lines[:13]]
    assert len(set(colours)) == 13


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


def inset_of(curves):
    axes = own_axes()
    for pair in curves:
        axes.plot(*pair)
    return add_inset(axes, curves)


def test_no_inset_hides_a_curve():
    rounds = np.arange(1.0, 101.0)
    fan = [(rounds, height * np.ones(100)) for height in np.linspace(0.05, 1.0, 9)]
    assert inset_of(fan) is None
    inset = inset_of([fan[0], fan[1], (rounds, rounds / 100.0)])
    assert inset is not None
    assert inset.get_ylim()[1] < 0.5


def test_an_inset_of_curves_that_fall_shows_where_they_settle():
    rounds = np.arange(1.0, 101.0)
    falling = [(rounds, end + (1.0 - end) * np.exp(-rounds / 5.0)) for end in (0.02, 0.04, 0.3)]
    inset = inset_of(falling)
    assert inset is not None
    assert 0.04 < inset.get_ylim()[1] < 0.1  # not the 1 at which all begin
    late = [(rounds, np.where(rounds < 99, 1.0, end)) for end in (0.02, 0.04, 0.3)]
    assert inset_of(late) is None  # it would show what the axes show


def test_a_steep_curve_of_few_rounds_is_not_hidden():
    rounds = np.arange(1.0, 1001.0)
    curves = [(rounds, 0.01 * np.ones(1000)), (rounds, 0.02 * np.ones(1000))]
    cliff = np.where(rounds < 300, 1.0, 0.9)
    cliff[300:] = 0.02 + 0.4 * (rounds[300:] > 990)
    inset = inset_of([*curves, (rounds, cliff)])
    assert inset is not None
    left, *_ = inset.get_position().bounds
    assert left > 0.4  # beyond the cliff at 0.3


@pytest.mark.parametrize(
    ("means", "low"),
    [
        ([[0, 1], [0, 2], [0, 8]], [0, 1]),
        ([[0, 8], [0, 1], [0, 2]], [1, 2]),
        ([[8, 1], [8, 2], [8, 3]], [0, 1]),  # by their own first rounds
        ([[0, 1], [0, 8]], []),
        ([[0, 1], [0, 3], [0, 8]], []),
        ([[0, -3], [0, 0], [0, 8]], []),
        ([[0, 0], [0, 0], [0, 0]], []),
    ],
)
def test_what_is_flattened_ends_below_a_quarter_of_the_highest_point(means, low):
    assert flattened(np.array(means, dtype=float)) == low


@pytest.mark.parametrize("count", [1, 2])
def test_the_legend_of_a_users_axes_is_inside_of_them(count):
    figure = Figure(figsize=(9, 4))
    axes = figure.subplots(1, 2)
    metric = ["regret", "simple_regret"][:count]
    result().plot(ax=axes[:count], metric=metric)
    figure.draw_without_rendering()
    last = axes[count - 1]
    drawn, box = last.get_legend().get_window_extent(), last.get_window_extent()
    assert box.x0 <= drawn.x0
    assert drawn.x1 <= box.x1
    assert box.y0 <= drawn.y0
    assert drawn.y1 <= box.y1


def test_highlighted_curves_keep_their_colour_and_others_are_grey():
    plain, chosen = result().plot(), result().plot(highlight=["GP-TS"])
    colours = [
        {line.get_label(): line.get_color() for line in figure.axes[0].lines} for figure in (plain, chosen)
    ]
    assert colours[1]["GP-TS"] == colours[0]["GP-TS"]
    assert colours[1]["GP-UCB"] == colours[1]["random"] == GREY
    assert colours[0]["GP-UCB"] != GREY
    for wrong in ("GP-TS", ["nobody"]):
        with pytest.raises(ValueError, match="highlight must be a list of some of"):
            result().plot(highlight=wrong)


def seed(number: int, steps: int = 100, copies: int = 2) -> SimpleNamespace:
    regret = np.random.default_rng(number).exponential(1.0, steps) / np.arange(1, steps + 1)
    return SimpleNamespace(history=(copies * np.arange(1, steps + 1), regret))


def test_a_curve_is_the_mean_over_seeds_of_stretches_up_to_the_shortest_training():
    runs = [seed(0).history, seed(1, steps=80).history, seed(2).history]
    steps, found = learning_curve(runs, 8)
    stretches = np.array([regret[:80].reshape(8, 10).mean(axis=1) for _, regret in runs])
    np.testing.assert_array_equal(steps, 2 * np.arange(10, 81, 10))
    np.testing.assert_allclose(found, bootstrap_interval(stretches))


@pytest.mark.parametrize("learners", [{}, {"PPO": []}, {"PPO": SimpleNamespace()}, {"PPO": seed(0, steps=0)}])
def test_what_is_no_training_is_named(learners):
    with pytest.raises(ValueError, match="RegretCallback"):
        result().plot_learning(learners)


def test_no_agents_line_is_hidden_by_an_axis_of_learning_curves():
    """The curve's own margin of 5 % ends here a little below the line of the least regret."""
    given = result()
    levels = [given.average_regret[label][:, -1].mean() for label in given.agents]
    top = max(levels) + 1.0
    bottom = (min(levels) - 1e-6 + 0.05 * top) / 1.05
    learner = SimpleNamespace(history=(np.arange(1, 3), np.array([top, bottom])))
    figure = given.plot_learning({"PPO": learner}, points=2)
    figure.draw_without_rendering()
    low, high = figure.axes[0].get_ylim()
    assert (min(levels) - low) / (high - low) > 0.02
