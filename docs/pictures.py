"""Draw the pictures of the README and of the site's first page: `python docs/pictures.py`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes

from bandit_envs.environment.making import make
from bandit_envs.rendering.picture import ShownFigure
from bandit_envs.rendering.scene import Scene
from gpbandits import Result, evaluate, watch
from gpbandits.report.film import scenes

FOLDER = Path(__file__).parent / "figures" / "front"
FILM = {"horizon": 30}
COMPARED = {
    "GP-UCB": "gp-ucb",
    "GP-UCB, beta/5": ("gp-ucb", {"beta_scale": 0.2}),
    "GP-EI": "gp-ei",
    "random": "random",
}
TRUTH, PLAYS, BAND, SHADE = "tab:blue", "tab:orange", "tab:purple", "0.85"


def compared() -> Result:
    """Return the comparison of the README."""
    return evaluate("GPBandit-GP-v0", COMPARED, trials=20, env_kwargs={"horizon": 200})


def line(axes: Axes, scene: Scene) -> None:
    """Draw the mean reward over a line, the agent's band, the plays, and where costs are violated."""
    x = scene.features[:, 0]
    if scene.belief is not None:
        mean, half = scene.belief[0], scene.band
        axes.fill_between(x, mean - half, mean + half, color=BAND, alpha=0.2, lw=0)
    if not scene.feasible.all():
        up = axes.get_xaxis_transform()
        axes.fill_between(x, 0, 1, where=~scene.feasible, color=SHADE, lw=0, transform=up)
    axes.plot(x, scene.truth, color=TRUTH)
    for chosen, fill in ((scene.arrived, PLAYS), (scene.pending, "none")):
        axes.plot(scene.places[chosen], scene.observed[chosen], "o", color=PLAYS, mfc=fill, ms=4)
    axes.set_ylim(
        scene.truth.min() - 0.5 * np.ptp(scene.truth), scene.truth.max() + 0.5 * np.ptp(scene.truth)
    )


def played(env_id: str, agent: str, rounds: int, **keywords: object) -> Callable[[Axes], None]:
    """Return a drawing of the problem after some rounds of an agent."""
    return lambda axes: line(axes, scenes(env_id, agent, 1, 41, {"horizon": 40} | keywords)[rounds])


def changing(axes: Axes) -> None:
    """Draw the functions of all segments of one trial, later ones darker."""
    env = make("GPBandit-PiecewiseStationary-v0").unwrapped
    env.reset(seed=0)
    means = env.simulator.trials[0].means[:, 0]  # type: ignore[attr-defined]
    for i, mean in enumerate(means):
        axes.plot(env.setting.arms[:, 0], mean, color=TRUTH, alpha=(i + 1) / len(means))  # type: ignore


def plane(env_id: str, columns: tuple[int, int]) -> Callable[[Axes], None]:
    """Return a drawing of the arms' mean rewards over two features; infeasible arms are pale."""

    def draw(axes: Axes) -> None:
        env = make(env_id).unwrapped
        env.reset(seed=0)
        scene = Scene.of(env.simulator)  # type: ignore[attr-defined]
        look = {"c": scene.truth, "cmap": "Blues", "s": 1.5 if len(scene.features) > 2000 else 9.0, "lw": 0}
        axes.scatter(*scene.features[:, columns].T, alpha=np.where(scene.feasible, 1.0, 0.3), **look)

    return draw


FAMILIES = {
    "samples": played("GPBandit-GP-v0", "gp-ucb", 8),
    "late": played("GPBandit-Delayed-v0", "gp-bucb", 20, length_scale=0.1),
    "limits": played("GPBandit-Constrained-v0", "config", 10),
    "changes": changing,
    "test-functions": plane("GPBandit-SmallFeasibleRegion-v0", (0, 1)),
    "measured": plane("GPBandit-LogisticTuning-v0", (1, 2)),
}


def draw_all() -> None:
    """Write every picture."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    watch("GPBandit-GP-v0", "gp-ucb", count=31, env_kwargs=FILM, fps=2).save(FOLDER / "film.gif")
    figure = compared().plot(scale="log-log", legend="direct", size=(6.4, 4.8))
    figure.savefig(FOLDER / "regret.png", dpi=100)
    for name, draw in FAMILIES.items():
        small = ShownFigure.of_size(2.4, 1.4)
        axes = small.subplots()
        draw(axes)
        axes.set(xticks=(), yticks=())
        small.savefig(FOLDER / f"{name}.png", dpi=120)


if __name__ == "__main__":
    print(compared().table())
    draw_all()
