"""Draw the pictures of the README, by `python docs/pictures.py`, and those of the environments' pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from bandit_envs.basics.types import Ints
from bandit_envs.environment.envs import make
from bandit_envs.rendering.picture import ShownFigure, draw, strip
from bandit_envs.rendering.scene import Limits, Picture, Scene
from gpbandits import Result, evaluate, watch
from gpbandits.report.film import FilmedTrial, scenes

FOLDER = Path(__file__).parent / "figures" / "front"
# Its first play misses the optimum, which is found in round 6; before round 3 the band is the prior's.
FILM = {"seed": 7, "count": 28, "start": 3, "env_kwargs": {"horizon": 30}}
COMPARED = {
    "GP-UCB": "gp-ucb",
    "GP-UCB, beta/5": ("gp-ucb", {"beta_scale": 0.2}),
    "GP-EI": "gp-ei",
    "random": "random",
}
TRUTH, PLAYS, BAND, SHADE, PRICE = "tab:blue", "tab:orange", "tab:purple", "0.85", "tab:green"
SHOWN = 20  # plays of a picture of an environment, or of a part of one
PARTS = 4  # most segments or contexts
ON_A_PLANE = ("GPBandit-Rosenbrock-v0", "GPBandit-SmallFeasibleRegion-v0")  # others are clearer by rank


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
    return lambda axes: line(
        axes, scenes(FilmedTrial(env_id, 1, 41, {"horizon": 40} | keywords), agent)[rounds]
    )


def changing(axes: Axes) -> None:
    """Draw the functions of all segments of one trial, later ones darker."""
    env = make("GPBandit-PiecewiseStationary-v0").unwrapped
    env.reset(seed=0)
    means = env.simulator.trials[0].means[:, 0]  # type: ignore[attr-defined]
    for i, mean in enumerate(means):
        axes.plot(env.setting.arms[:, 0], mean, color=TRUTH, alpha=(i + 1) / len(means))  # type: ignore


def plane(env_id: str, columns: tuple[int, int]) -> Callable[[Axes], None]:
    """Return a drawing of the arms' mean rewards over two features; infeasible arms are pale."""

    def drawn(axes: Axes) -> None:
        env = make(env_id).unwrapped
        env.reset(seed=0)
        scene = Scene.of(env.simulator)  # type: ignore[attr-defined]
        look = {"c": scene.truth, "cmap": "Blues", "s": 1.5 if len(scene.features) > 2000 else 9.0, "lw": 0}
        axes.scatter(*scene.features[:, columns].T, alpha=np.where(scene.feasible, 1.0, 0.3), **look)

    return drawn


FAMILIES = {
    "samples": played("GPBandit-GP-v0", "gp-ucb", 8),
    "late": played("GPBandit-Delayed-v0", "gp-bucb", 20, length_scale=0.1),
    "limits": played("GPBandit-Constrained-v0", "config", 10),
    "changes": changing,
    "test-functions": plane("GPBandit-SmallFeasibleRegion-v0", (0, 1)),
    "measured": plane("GPBandit-LogisticTuning-v0", (1, 2)),
}


def portrait(env_id: str) -> ShownFigure | Picture:
    """Draw an environment after random plays; if it changes or has contexts, in up to four of them."""
    plane = env_id in ON_A_PLANE
    env: Any = make(env_id, **{"horizon": SHOWN} if plane else {}).unwrapped
    env.reset(seed=0)
    env.action_space.seed(0)
    if plane:
        for _ in range(SHOWN):
            env.step(env.action_space.sample())
        return draw(Scene.of(env.simulator)).view(Picture)
    trial = env.simulator.trials[0]
    changes = trial.segment[-1] > 0
    name, parts = ("segment", trial.segment) if changes else ("context", trial.context[:-1])
    found = _visited(env, parts)
    flat = [_by_rank(scene) if scene.features.shape[1] == 2 else scene for _, scene in found]
    figure = strip([flat], [Limits.of(flat)])
    for axes, (part, _) in zip(figure.axes, found, strict=True):
        axes.set_title(f"{name} {part + 1} of {parts.max() + 1}" if len(found) > 1 else "", fontsize="small")
    if not env.simulator.problem.play_costs.is_free:
        axes, price = figure.axes[0], trial.play_costs.values
        axes.plot(flat[0].order, price, color=PRICE, ls="--")
        axes.set_title("dashed: the cost of a play", color=PRICE, fontsize="small")
        axes.set_ylim(min(axes.get_ylim()[0], price.min()), max(axes.get_ylim()[1], 1.05 * price.max()))
    return figure


def _visited(env: Any, parts: Ints) -> list[tuple[int, Scene]]:
    """Play at random; return up to `PARTS` parts of the trial, each with its last scene of few plays."""
    trial, plays, last = env.simulator.trials[0], Counter(), {}
    for round_, here in enumerate(zip(trial.segment.tolist(), trial.context.tolist(), strict=False)):
        if plays[here] <= SHOWN:
            last[int(parts[round_])] = round_
        plays[here] += 1
    present = sorted(last)
    wanted = {present[i] for i in np.linspace(0, len(present) - 1, PARTS).astype(int)}
    rounds = {last[part]: part for part in wanted}
    found = []
    for round_ in range(max(rounds) + 1):
        if round_ in rounds:
            found.append((rounds[round_], Scene.of(env.simulator)))
        env.step(env.action_space.sample())
    return sorted(found, key=lambda pair: pair[0])


def _by_rank(scene: Scene) -> Scene:
    """Return the scene with a third feature that is 0, so that its arms are drawn by rank."""
    points, plays = (np.pad(each, ((0, 0), (0, 1))) for each in (scene.features, scene.plays))
    return scene._replace(features=points, plays=plays)


def draw_all() -> None:
    """Write every picture."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    watch("GPBandit-GP-v0", "gp-ucb", fps=2, **FILM).save(FOLDER / "film.gif")
    heroes = ["GP-EI", "GP-UCB"]
    figure = compared().plot(scale="log-log", legend="direct", highlight=heroes, size=(6.4, 4.8))
    figure.savefig(FOLDER / "regret.png", dpi=100)
    for name, family in FAMILIES.items():
        small = ShownFigure.of_size(2.4, 1.4)
        axes = small.subplots()
        family(axes)
        axes.set(xticks=(), yticks=())
        small.savefig(FOLDER / f"{name}.png", dpi=120)


if __name__ == "__main__":
    print(compared().table())
    draw_all()
