"""Figures of results as people ask for them: of some agents, of several metrics, on axes of their own."""

import os

import matplotlib.figure
import pytest
from synthetic import result

from gpbandits.evaluation.overlay import Overlay


def legend(figure):
    return [text.get_text() for text in figure.axes[-1].get_legend().get_texts()]


def own_axes(count=1):
    return matplotlib.figure.Figure().subplots(1, count)


def test_a_plot_is_the_figure_and_writes_nothing_without_a_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    figure = result().plot()
    assert isinstance(figure, matplotlib.figure.Figure)
    assert os.listdir() == []
    assert result().plot("r.png").axes
    assert os.listdir() == ["r.png"]


def test_a_notebook_shows_the_figure_without_pyplot():
    assert result().plot()._repr_png_().startswith(b"\x89PNG")  # pyright: ignore


def test_the_chosen_agents_are_drawn_in_their_order():
    assert legend(result().plot(agents=["random", "GP-UCB"])) == ["random", "GP-UCB"]


def test_several_metrics_have_a_panel_each_and_one_legend():
    figure = result(num_constraints=1, privileged={"GP-TS"}).plot(metric=["cumulative", "hard-violation"])
    left, right = figure.axes
    assert "regret" in left.get_ylabel()
    assert "violation" in right.get_ylabel()
    assert left.get_legend() is None
    assert legend(figure)[:3] == ["GP-UCB", "GP-TS†", "random"]
    assert len(legend(figure)) == 4


def test_bounds_are_drawn_in_the_panel_of_their_metric_and_named_in_the_legend():
    res = result()
    mine = Overlay("mine", "upper", res.rounds, res.rounds * 1.0, "cumulative")
    left, right = (figure := res.plot(metric=["cumulative", "simple"], bounds=[mine])).axes
    assert len(left.lines) == len(right.lines) + 1
    assert "mine" in legend(figure)


def test_axes_of_ones_own_are_drawn_on():
    axes = own_axes()
    assert result().plot(ax=axes, title="mine") is axes.figure
    assert (axes.get_title(), len(axes.lines)) == ("mine", 3)
    pair = own_axes(2)
    assert result().plot(ax=pair, metric=["cumulative", "simple"]) is pair[0].figure


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
        ({"size": 3}, "size must be a positive width and height"),
        ({"size": (3, 2), "ax": own_axes()}, "size must be left out beside ax"),
        ({"ax": "left"}, "ax must be 1 axes"),
        ({"ax": own_axes(), "metric": ["cumulative", "simple"]}, "ax must be 2 axes"),
        ({"metric": []}, "metric must be the name"),
        ({"metric": 3}, "metric must be the name"),
        ({"metric": ["cumulative", "total"]}, "choose one of cumulative, average"),
    ],
)
def test_options_of_a_figure_that_make_no_sense_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        result().plot(**options)
