"""Tables and figures of a tuner show its experiments and what a model makes of them."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from tuner_cases import rounds_of

from agents import Categorical, Integer, Linear, Log, Tuner
from agents.tuning.pictures.figures import KINDS
from agents.tuning.reading import Reading

SPACE = {
    "rate": Log(1e-5, 1e-1),
    "depth": Integer(1, 12),
    "kernel": Categorical(["rbf", "poly", "linear"]),
    "momentum": Linear(0, 1),
}


def loss(rate, depth, kernel, momentum):
    if rate > 0.02:
        raise ValueError("diverged")
    return (np.log10(rate) + 3) ** 2 + 0.1 * (depth - 5) ** 2 + 0.5 * (kernel == "poly")


@pytest.fixture(scope="module")
def tuned():
    tuner = Tuner(SPACE, goal="minimise", seed=1)
    tuner.optimise(loss, 24)
    tuner.fail(tuner.ask()[0], "diverged")
    tuner.drop(tuner.ask()[0])
    tuner.ask()
    return tuner


@pytest.mark.long
def test_a_table_has_a_row_an_experiment(tuned):
    frame = tuned.to_frame()
    assert list(frame) == ["ticket", *SPACE, "state", "value", "std", "reason"]
    assert set(frame.state) == {"told", "failed", "dropped", "pending"}
    for row, each in zip(frame.itertuples(), tuned.experiments, strict=True):
        assert (row.ticket, row.state, row.reason) == (each.ticket, each.state, each.reason)
        assert {name: getattr(row, name) for name in SPACE} == each.parameters
        np.testing.assert_equal(row.value, np.nan if each.value is None else each.value)


def test_a_table_has_all_that_was_told():
    tuner = Tuner(
        {"depth": Integer(1, 9)},
        agent=("constrained-ei", {}),
        constraints=["depth", "heat"],
        contexts={"oven": Integer(1, 2)},
        clock=9.0,
        cost_budget=50.0,
    )
    tuner.add({"depth": 3}, 1.5, {"depth": -1, "heat": 2}, {"oven": 2}, spent=4.0, time=0.5)
    (row,) = tuner.to_frame().to_dict("records")
    assert row == {
        **{"ticket": row["ticket"], "depth": 3, "oven": 2, "time": 0.5, "state": "told", "value": 1.5},
        **{"std": row["std"], "cost depth": -1.0, "heat": 2.0, "spent": 4.0, "reason": None},
    }
    told = Tuner({"x": Linear(0, 1)})
    told.add({"x": 0.5}, 1.0, std=0.2)
    assert told.to_frame()["std"].tolist() == [0.2]


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_every_figure_is_drawn_and_saved_only_with_a_path(tuned, kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    figure = tuned.plot(kind)
    assert isinstance(figure, Figure)
    assert figure._repr_png_()[1:4] == b"PNG"
    assert not list(tmp_path.iterdir())
    assert tuned.plot(kind, size=(7, 5), path="figure.pdf").get_size_inches().tolist() == [7, 5]
    assert (tmp_path / "figure.pdf").stat().st_size > 1000


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", KINDS)
def test_figures_are_drawn_on_axes_that_are_given(tuned, kind):
    figure = Figure()
    axes = figure.subplots(1, len(SPACE) if kind == "slices" else 1)
    assert tuned.plot(kind, ax=axes) is figure
    assert all(ax.has_data() for ax in np.ravel(axes))


def test_the_history_shows_all_values_and_the_best_so_far(tuned):
    (ax,) = tuned.plot("history").axes
    drawn = {line.get_label(): line for line in ax.lines}
    values = [each.value for each in tuned.experiments if each.state == "told"]
    shown = [float(line.get_ydata()[0]) for line in ax.lines if line.get_label() == "value"]
    assert shown == values
    best = drawn["best so far"].get_ydata()
    np.testing.assert_array_equal(best[:-1], np.minimum.accumulate(values))
    failed = [i + 1 for i, each in enumerate(tuned.experiments) if each.state == "failed"]
    assert list(drawn["failed"].get_xdata()) == failed


def test_importance_is_what_correlation_the_kernel_loses():
    tuner = Tuner({"x": Linear(0, 1), "k": Categorical(["a", "b"])}, contexts={"oven": Integer(1, 11)})
    rng = np.random.default_rng(0)
    for x, k, oven in zip(rng.random(20), rng.integers(2, size=20), [1, 6] * 10, strict=True):
        tuner.add({"x": float(x), "k": "ab"[k]}, float(np.sin(3 * x) + 0.3 * k), context={"oven": oven})
    reading = Reading(tuner.plan, rounds_of(tuner), {"oven": 1})
    kernel = reading._player.agent.model.kernel
    at = np.array([[0, 0, 0.5**0.5, 0], [0.5, 0, 0.5**0.5, 0], [0, 1, 0.5**0.5, 0], [0, 0, 0, 0.5**0.5]])
    lost = 1 - kernel(at)[0, 1:] / kernel(at)[0, 0]
    np.testing.assert_allclose([reading.importance[each] for each in ("oven", "x", "k")], lost, atol=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda tuner: tuner.plot("histogram"), "kind must be"),
        (lambda tuner: tuner.plot("slices", parameters=["width"]), "parameters must be names of rate"),
        (lambda tuner: tuner.plot("contour", parameters=["rate"]), "parameters must be two names"),
        (lambda tuner: tuner.plot("slices", ax=Figure().subplots()), "ax must be 4 axes"),
        (lambda tuner: tuner.plot(size=3), "size must be a positive width and height"),
        (lambda tuner: Tuner(SPACE).plot(), "with experiments"),
        (lambda tuner: started().plot("slices"), "with at least 2 values"),
    ],
    ids=["kind", "parameters", "pair", "axes", "size", "none", "few"],
)
def test_what_cannot_be_drawn_is_refused(tuned, call, message):
    with pytest.raises(ValueError, match=message):
        call(tuned)


def started():
    tuner = Tuner(SPACE)
    tuner.fail(tuner.ask()[0])
    return tuner


def test_two_categories_and_an_old_time_can_be_drawn():
    tuner = Tuner({"a": Categorical([1, 2]), "b": Categorical(["x", "y", "z"])}, clock=5.0)
    tuner.optimise(lambda a, b: a + (b == "y"), 8, time=iter(range(99)).__next__)
    tuner.plot("contour", context={"time": 0.0})
    tuner.plot("slices")
    assert "time" in [label.get_text() for label in tuner.plot("importance").axes[0].get_yticklabels()]


def test_a_history_of_failures_alone_is_drawn():
    (ax,) = started().plot("history").axes
    assert [line.get_label() for line in ax.lines] == ["failed"]
