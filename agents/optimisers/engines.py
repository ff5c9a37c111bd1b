"""Optimisers of other libraries as engines; each library is imported when an engine is made."""

# Packages of the extra `peers` are not installed where types are checked.
# pyright: reportMissingImports=false

from __future__ import annotations

import abc
import shutil
import tempfile
import warnings
import weakref
from collections import defaultdict
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bandit_envs.basics.arguments import require_choice, require_integer
from bandit_envs.basics.types import Floats

from ..options import require_taken

ACQUISITIONS = ("log-ei", "log-nei")
RESTARTS, RAW = 8, 256  # of the search of a box
BATCH = 512  # arms that are scored at a time


def quietly() -> warnings.catch_warnings:
    """Suppress a library's warnings, about deprecations and fits that did not converge."""
    return warnings.catch_warnings(action="ignore")


class OptimiserTask(NamedTuple):
    """Problem of an optimiser, with decisions scaled to [0, 1]^d."""

    dim: int
    horizon: int
    seed: int
    arms: Floats | None  # (A, d); None on a box


class Engine(abc.ABC):
    """Optimiser that maximises over points of [0, 1]^d, (d,)."""

    def __init__(self) -> None:
        self._points: dict[int, Floats] = {}  # round -> play

    @abc.abstractmethod
    def ask(self) -> Floats:
        """Return the proposed point."""

    def start(self, round: int, point: Floats) -> None:
        """Record the point played in a round, which may differ from the proposal, for libraries that wait."""
        self._points[round] = point

    @abc.abstractmethod
    def tell(self, round: int, reward: float) -> None:
        """Record the reward of an earlier round."""


class BoTorchEngine(Engine):
    """Engine with a process fitted in each round, by BoTorch's defaults, after `initial` points of Sobol.

    `acquisition` is "log-ei", by q-LogEI where plays are pending, or "log-nei".
    """

    def __init__(self, task: OptimiserTask, acquisition: str = "log-ei", initial: int = 5):
        import botorch  # noqa: F401 (raises when an agent is made without it)
        import torch

        require_choice("acquisition", acquisition, ACQUISITIONS)
        require_integer("initial", initial, 1, "it is a number of points")
        super().__init__()
        self._torch, self._task, self._acquisition = torch, task, acquisition
        sobol = torch.quasirandom.SobolEngine(task.dim, scramble=True, seed=task.seed)
        self._design = sobol.draw(initial, dtype=torch.float64).numpy()
        self._rewards: dict[int, float] = {}

    def ask(self) -> Floats:
        t = len(self._points)
        if t < len(self._design) or len(self._rewards) < 2:
            return self._design[t % len(self._design)]
        from botorch.utils.sampling import manual_seed

        with manual_seed(self._task.seed + t):
            return self._search(self._acquire())

    def tell(self, round: int, reward: float) -> None:
        self._rewards[round] = reward

    def _acquire(self) -> Any:
        from botorch import acquisition
        from botorch.fit import fit_gpytorch_mll
        from botorch.models import SingleTaskGP
        from gpytorch.mlls import ExactMarginalLogLikelihood

        known = self._tensor([self._points[t] for t in self._rewards])
        values = self._tensor(list(self._rewards.values()))[:, None]
        model = SingleTaskGP(known, values)  # it standardises the values
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        late = [point for t, point in self._points.items() if t not in self._rewards]
        pending = self._tensor(late) if late else None
        if self._acquisition == "log-nei":
            make = acquisition.qLogNoisyExpectedImprovement
            return make(model, X_baseline=known, X_pending=pending, prune_baseline=True)
        if pending is None:
            return acquisition.LogExpectedImprovement(model, best_f=values.max())
        return acquisition.qLogExpectedImprovement(model, best_f=values.max(), X_pending=pending)

    def _search(self, acquisition: Any) -> Floats:
        from botorch.optim import optimize_acqf, optimize_acqf_discrete

        if self._task.arms is not None:
            choices = self._tensor(self._task.arms)
            found, _ = optimize_acqf_discrete(acquisition, q=1, choices=choices, max_batch_size=BATCH)
        else:
            box = self._tensor([[0.0] * self._task.dim, [1.0] * self._task.dim])
            found, _ = optimize_acqf(acquisition, box, q=1, num_restarts=RESTARTS, raw_samples=RAW)
        return np.clip(found.detach().numpy().reshape(-1), 0.0, 1.0)

    def _tensor(self, rows: Any) -> Any:
        return self._torch.as_tensor(np.array(rows), dtype=self._torch.float64)


class SMACEngine(Engine):
    """Engine of SMAC's facade for black boxes, by `smac.Scenario`; it removes the files that SMAC writes."""

    def __init__(self, task: OptimiserTask, **options: Any):
        from ConfigSpace import ConfigurationSpace
        from smac import BlackBoxFacade, Scenario

        self._names = [f"x{i}" for i in range(task.dim)]
        self._space = ConfigurationSpace(space=dict.fromkeys(self._names, (0.0, 1.0)), seed=task.seed)
        folder = tempfile.mkdtemp(prefix="gpbandits-smac-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        given = {"n_trials": task.horizon, "output_directory": Path(folder), **options}
        require_taken(Scenario, options, reserved=("configspace", "seed"))
        scenario = Scenario(self._space, seed=task.seed, **given)
        self._smac = BlackBoxFacade(scenario, _unused, logging_level=False, overwrite=True)
        self._asked: Any = None
        self._infos: dict[int, Any] = {}  # round -> trial
        self._costs: dict[Any, list[float]] = defaultdict(list)  # (configuration, seed) -> its costs

    def ask(self) -> Floats:
        self._asked = self._smac.ask()
        return self._place(self._asked)

    def start(self, round: int, point: Floats) -> None:
        asked, self._asked = self._asked, None
        if asked is None or not np.allclose(point, self._place(asked), atol=1e-6):
            asked = self._instead(point)
        self._infos[round] = asked

    def tell(self, round: int, reward: float) -> None:
        """Pass the negative reward, because SMAC minimises; the mean, where a trial is played again."""
        from smac.runhistory.dataclasses import TrialValue

        trial = self._infos.pop(round)
        costs = self._costs[trial.config, trial.seed]
        costs.append(-reward)
        self._smac.tell(trial, TrialValue(cost=float(np.mean(costs))), save=False)

    def _place(self, info: Any) -> Floats:
        return np.array([info.config[name] for name in self._names])

    def _instead(self, point: Floats) -> Any:
        """Return a trial that runs at a point, with a seed not yet used there, if there is one.

        SMAC tries a challenger on those of its few seeds that the incumbent has: a new seed would leave none,
        and it would search for another challenger forever.
        """
        from ConfigSpace import Configuration
        from smac.runhistory.dataclasses import TrialInfo

        values = dict(zip(self._names, point.tolist(), strict=True))
        config, history = Configuration(self._space, values=values), self._smac.runhistory
        had = [*history.get_trials(config), *history.get_running_trials(config)]
        seeds = [key.seed for key in self._smac.intensifier.get_instance_seed_keys_of_interest()]
        free = [seed for seed in seeds if seed not in [trial.seed for trial in had]]
        trial = TrialInfo(config, seed=(free or seeds)[0])
        history.add_running_trial(trial)
        return trial


def _unused(config: Any, seed: int = 0) -> float:
    """Raise: SMAC must not call the function itself."""
    raise AssertionError(f"{config} is played in a round")


class OptunaEngine(Engine):
    """Engine of a study in memory by a class of `optuna.samplers`; its running trials are pending plays."""

    def __init__(self, task: OptimiserTask, sampler: str, **options: Any):
        import optuna

        self._optuna = optuna
        self._space: dict[str, Any] = {
            f"x{i}": optuna.distributions.FloatDistribution(0.0, 1.0) for i in range(task.dim)
        }
        kind = getattr(optuna.samplers, sampler)
        require_taken(kind, options, reserved=("seed",))
        made, level = kind(seed=task.seed, **options), optuna.logging.get_verbosity()
        optuna.logging.set_verbosity(optuna.logging.WARNING)  # without a log line
        try:
            self._study = optuna.create_study(direction="maximize", sampler=made)
        finally:
            optuna.logging.set_verbosity(level)
        self._asked: Any = None
        self._numbers: dict[int, int] = {}  # round -> trial

    def ask(self) -> Floats:
        self._asked = self._study.ask(self._space)
        return np.array([self._asked.params[name] for name in self._space])

    def start(self, round: int, point: Floats) -> None:
        trials, asked = self._optuna.trial, self._asked
        self._asked = None
        if asked is not None and np.allclose(point, list(asked.params.values()), atol=1e-6):
            self._numbers[round] = asked.number
            return
        if asked is not None:
            self._study.tell(asked, state=trials.TrialState.FAIL)
        params, space = dict(zip(self._space, point.tolist(), strict=True)), dict(self._space)
        running = trials.create_trial(params=params, distributions=space, state=trials.TrialState.RUNNING)
        self._study.add_trial(running)
        self._numbers[round] = len(self._study.get_trials(deepcopy=False)) - 1

    def tell(self, round: int, reward: float) -> None:
        self._study.tell(self._numbers.pop(round), reward)


class BayesOptEngine(Engine):
    """Engine of `suggest` and `register`, by default with UCB, after points at random; plays may repeat."""

    def __init__(self, task: OptimiserTask, initial: int = 5, **options: Any):
        from bayes_opt import BayesianOptimization

        self._names = [f"x{i:03d}" for i in range(task.dim)]
        bounds = dict.fromkeys(self._names, (0.0, 1.0))
        require_taken(BayesianOptimization, options, reserved=("f", "pbounds", "random_state"))
        given = {"verbose": 0, "allow_duplicate_points": True, **options}
        super().__init__()
        self._optimiser = BayesianOptimization(None, bounds, random_state=task.seed, **given)
        self._initial = initial

    def ask(self) -> Floats:
        few = len(self._points) < self._initial or len(self._optimiser.space) == 0
        found: Any = self._optimiser.random_sample(1)[0] if few else self._optimiser.suggest()
        return np.array([found[name] for name in self._names])

    def tell(self, round: int, reward: float) -> None:
        params = dict(zip(self._names, self._points[round].tolist(), strict=True))
        with redirect_stdout(StringIO()):  # it prints a line for each play that repeats
            self._optimiser.register(params=params, target=reward)


class SkoptEngine(Engine):
    """Engine of `skopt.Optimizer`, by default with a Gaussian process and a portfolio of acquisitions."""

    def __init__(self, task: OptimiserTask, **options: Any):
        from skopt import Optimizer

        require_taken(Optimizer, options, reserved=("dimensions", "random_state"))
        super().__init__()
        given = {"n_initial_points": 5, **options}
        self._optimiser = Optimizer([(0.0, 1.0)] * task.dim, random_state=task.seed, **given)

    def ask(self) -> Floats:
        return np.array(self._optimiser.ask(), dtype=np.float64)

    def tell(self, round: int, reward: float) -> None:
        """Pass the negative reward, because the library minimises."""
        self._optimiser.tell(self._points[round].tolist(), -reward)
