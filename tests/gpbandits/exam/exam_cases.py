"""Entrants of an exam whose results are known beforehand."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest

from gpbandits.exam import PARTS, PlayedPart
from gpbandits.exam.entrants import Entrant

PLAYED = {name: part for name, part in PARTS.items() if isinstance(part, PlayedPart)}
WHEELS = {"hpo-b": ("bocode",), "crossed-barrel": ("bocode",)}  # that hold a part's tables
TABLES = {"hpo-b": "4796-3549", "crossed-barrel": "crossed-barrel"}  # a small one of each part of tables


def cases(names):
    """The parts of these names, skipped where their tables are absent."""
    return [
        pytest.param(PLAYED[name], id=name, marks=pytest.mark.needs_packages(*WHEELS.get(name, ())))
        for name in names
    ]


class Plain:
    """An agent of three methods that plays at random and knows of no rows that are left out."""

    def __init__(self, setting):
        self.setting, self.observed = setting, []

    def reset(self, seed):
        self.rng = np.random.default_rng(seed)

    def act(self, observation):
        if self.setting.arms is None:
            return self.rng.uniform(-1.0, 1.0, self.setting.dim)
        return int(self.rng.integers(len(self.setting.arms)))

    def update(self, observation, action, reward, info):
        self.observed.append((action, reward))


class Failing(Plain):
    """An agent that cannot play."""

    def act(self, observation):
        raise RuntimeError("no idea")


@dataclass(frozen=True)
class Oracle(Entrant):
    """An entrant that knows the values of a table, or the points at which functions are least."""

    values: tuple[float, ...] = ()
    point: tuple[float, ...] = ()

    def on_table(self, rows, questions, seed):
        return _Knowing(np.array(self.values))

    def on_box(self, parameters, questions, seed, **plan):
        asked = (0, dict(zip(parameters, self.point, strict=True)))
        return SimpleNamespace(ask=lambda: asked, tell=lambda *told: None, add=lambda *told: None)


class _Knowing:
    def __init__(self, values):
        self.values = values.copy()

    def ask(self):
        return int(self.values.argmax())

    def tell(self, row, value):
        assert value == self.values[row]
        self.values[row] = -np.inf


def oracle(**known):
    return Oracle("oracle", "oracle", {}, **known)
