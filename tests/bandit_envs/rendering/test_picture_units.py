"""Pictures of rewards in any unit: nothing that is written lies outside of them."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from sklearn.gaussian_process.kernels import RBF

import agents
from bandit_envs import BanditEnv, Decisions, Problem
from bandit_envs.laws import SegmentMeans, changes
from bandit_envs.problem.decisions import unit_grid
from bandit_envs.rendering.picture import draw
from bandit_envs.rendering.scene import Scene

UNITS = (1e-12, 1e-6, 1e-3, 1.0, 1e3, 1e6, 1e12)


def scene(unit: float, dim: int, watched: bool) -> Scene:
    angle = 5 * unit_grid(49, dim).sum(axis=1)
    problem = Problem(
        Decisions(unit_grid(49, dim)),
        SegmentMeans(-unit * (5.0 + np.stack([np.sin(angle), np.cos(angle)]))),
        unit**2 * RBF(0.3),
        changes=changes.AtRounds((7,)),
        horizon=12,
    )
    env = BanditEnv(problem)
    env.reset(seed=0)
    agent = agents.make("gp-ucb", env) if watched else None
    if agent is not None:
        agent.reset(0)
    for arm in range(5):
        seen, reward, *_, info = env.step(arm)
        if agent is not None:
            agent.update(seen, arm, reward, info)
    return Scene.of(env.simulator, agent)


@pytest.mark.long
@pytest.mark.parametrize("watched", [False, True], ids=["truth", "belief"])
@pytest.mark.parametrize("dim", [1, 2])
@pytest.mark.parametrize("unit", UNITS)
def test_everything_that_is_written_is_inside_the_picture(unit, dim, watched, monkeypatch):
    drawn = []
    monkeypatch.setattr(FigureCanvasAgg, "draw", _keeping(drawn, FigureCanvasAgg.draw))
    picture = draw(scene(unit, dim, watched))
    canvas = drawn[-1]
    used = canvas.figure.get_tightbbox(canvas.get_renderer())  # of what is drawn, in inches
    height, width = (pixels / canvas.figure.dpi for pixels in picture.shape[:2])
    assert used.x0 >= 0
    assert used.y0 >= 0
    assert used.x1 <= width
    assert used.y1 <= height


def _keeping(drawn, original):
    def drawing(canvas):
        drawn.append(canvas)
        original(canvas)

    return drawing
