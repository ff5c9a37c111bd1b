"""The board's server delivers one page, and as JSON the results and the rounds of a trial that it shows."""

from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple, TypeVar

import gymnasium as gym
import numpy as np
import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from bandit_envs.basics.arguments import require
from bandit_envs.basics.threads import one_thread
from bandit_envs.basics.types import Floats
from bandit_envs.rendering.scene import Scene
from gpbandits.evaluation.formats import PALETTE
from gpbandits.evaluation.measures import metric_named
from gpbandits.experiments.locks import is_locked
from gpbandits.experiments.store import PLAN, Store, failures, open_results
from gpbandits.experiments.study import AgentEntry, Cell, EnvironmentEntry, Study
from gpbandits.report.chart import rendered, style_of
from gpbandits.report.film import FilmedTrial, moments
from gpbandits.report.holdings import Holdings
from gpbandits.report.page import views

STATES = ("done", "running", "failed", "missing")
Entry = TypeVar("Entry", EnvironmentEntry, AgentEntry)
MOST_ROUNDS, MOST_POINTS, FRAMES = 200, 400, 60
MOST_SECONDS = 60.0  # of computation, after which a film is cut


def state_of(folder: Path) -> dict[str, Any]:
    """Return the study's cells, failures and legend by its plan; only `waiting` before there is one."""
    if not (folder / PLAN).is_file():
        return {"waiting": True}
    study, store = open_results(folder)
    rows = [
        {
            "environment": environment.label,
            "agent": agent.label,
            "cells": [cell_state(store, cell) for cell in study.cells_of(environment, agent)],
        }
        for environment in study.environments
        for agent in study.agents
    ]
    every = [state for row in rows for state in row["cells"]]
    return {
        "waiting": False,
        "name": study.name,
        "counts": {state: every.count(state) for state in STATES},
        "rows": rows,
        "failures": [{"cell": str(cell), "text": text} for cell, text in failures(study, store)],
        "environments": [entry.label for entry in study.environments],
        "agents": [{"label": each.label, "style": style_of(i)} for i, each in enumerate(study.agents)],
    }


def cell_state(store: Store, cell: Cell) -> str:
    """Return one of STATES; a cell that another process computes is running, even if it failed before."""
    if store.holds(cell):
        return "done"
    if store.folder.is_dir() and is_locked(store.folder, store.path(cell).stem):
        return "running"
    return "failed" if store.failure_path(cell).exists() else "missing"


def curves_of(folder: Path, label: str) -> dict[str, Any]:
    """Return the curves of an environment as SVG, one a measure; none before a cell is done."""
    study, store = open_results(folder)
    result = Holdings(study, store).result(_labelled(study.environments, label, "environment"))
    if result is None:
        return {"curves": []}
    numbers = {agent.label: number for number, agent in enumerate(study.agents)}
    drawn = [
        {"metric": view.metric, "name": metric_named(view.metric).text, "svg": view.svg}
        for view in views(result, numbers)
        if view.scale == "linear"
    ]
    return {"curves": drawn, "trials": result.num_trials}


class Choice(NamedTuple):
    """A choice selects one trial to film; None keeps the study's delay or noise."""

    environment: str
    agent: str
    seed: int = 0
    rounds: int = 40
    delay: float | None = None  # mean of a Poisson law, in rounds
    noise: float | None = None  # noise std


@one_thread()
def film(study: Study, choice: Choice) -> dict[str, Any]:
    """Return the frames of trial 0 of a seed from before the first round on, cut after MOST_SECONDS.

    Labels that the study lacks, and a trial that cannot be run, are a ValueError.
    """
    require(1 <= choice.rounds <= MOST_ROUNDS, "rounds", f"in 1..{MOST_ROUNDS}", choice.rounds)
    require(choice.seed >= 0, "seed", "an integer >= 0", choice.seed)
    entry = _labelled(study.environments, choice.environment, "environment")
    agent = _labelled(study.agents, choice.agent, "agent")
    for name in (entry.id, agent.name):
        if ":" in name:
            raise ValueError(f"the board imports no modules of a study, got {name!r}; use `gpbandits watch`")
    keywords = _changed(entry.kwargs, choice)
    trial, frames = FilmedTrial(entry.id, choice.seed, FRAMES, keywords), []
    begun, cut = perf_counter(), None
    with closing(moments(trial, (agent.name, agent.options))) as shown:
        for env, player, *_ in shown:
            if frames and perf_counter() - begun > MOST_SECONDS:
                cut = MOST_SECONDS
                break
            frames.append(frame(env, player))
    return {"rounds": keywords["horizon"], "frames": frames, "cut": cut}


def frame(env: Any, player: Any) -> dict[str, Any]:
    """Return one frame: panels of the reward and of each cost, the acquisition function, and the plays."""
    scene = Scene.of(env.unwrapped.simulator, player)
    line = np.argsort(scene.order, kind="stable")
    line = line[np.unique(np.linspace(0, len(line) - 1, min(len(line), MOST_POINTS)).astype(int))]
    believed = [scene.belief, *scene.cost_beliefs]
    truths = [scene.truth, *scene.costs]
    believed += [None] * (len(truths) - len(believed))
    names = ["reward", *(f"cost {j}" for j in range(1, len(truths)))]
    panels = [
        {"name": name, "truth": _plain(truth[line])}
        | ({} if known is None else {"mean": _plain(known[0][line]), "std": _plain(known[1][line])})
        for name, truth, known in zip(names, truths, believed, strict=True)
    ]
    kinds = np.where(scene.lost, "lost", np.where(scene.arrived, "arrived", "pending"))
    scores = player.scores
    fits = scores is not None and scores.shape == (1, len(scene.truth)) and scene.total < scene.horizon
    return {
        "round": scene.total,
        "regret": scene.regret,
        "x": _plain(scene.order[line]),
        "panels": panels,
        "acquisition": _plain(scores[0, line]) if fits and scores is not None else None,
        "plays": {"x": _plain(scene.places), "y": _plain(scene.observed), "kind": kinds.tolist()},
    }


def _changed(kwargs: dict[str, Any], choice: Choice) -> dict[str, Any]:
    keywords = kwargs | {"horizon": min(choice.rounds, kwargs.get("horizon", choice.rounds))}
    if choice.delay is not None:
        require(0.0 <= choice.delay <= 100.0, "delay", "in 0..100 rounds", choice.delay)
        keywords["delay"] = {"law": "poisson", "mean": choice.delay} if choice.delay else {"law": "immediate"}
    if choice.noise is not None:
        require(0.0 < choice.noise <= 10.0, "noise", "in 0..10, above 0", choice.noise)
        keywords = {name: value for name, value in keywords.items() if name != "noise"}
        keywords["noise_std"] = choice.noise
    return keywords


def _labelled(entries: Sequence[Entry], label: str, role: str) -> Entry:
    known = {each.label: each for each in entries}
    require(label in known, role, f"one of {', '.join(map(repr, known))}", label)
    return known[label]


def _plain(values: Floats) -> list[float | None]:
    """Convert to JSON numbers, with null for values that are not finite."""
    return [round(float(value), 6) if np.isfinite(value) else None for value in values]


HOST = "127.0.0.1"  # serves this machine only
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; "
    "frame-ancestors 'none'"
)
SAFE = {"Content-Security-Policy": POLICY, "Cache-Control": "no-store"}

GUARD = Middleware(TrustedHostMiddleware, allowed_hosts=[HOST, "localhost"])  # against DNS rebinding


def make_app(folder: Path, title: str) -> Starlette:
    """Return the application for a folder of results; it refuses requests for any other host name."""
    page = rendered("gpbandits.board", "board.html", title=title, colours=PALETTE, most=MOST_ROUNDS)

    async def index(request: Request) -> Response:
        return HTMLResponse(page, headers=SAFE)

    async def state(request: Request) -> Response:
        return await answer_with(lambda: state_of(folder))

    async def curves(request: Request) -> Response:
        label = request.query_params.get("environment", "")
        return await answer_with(lambda: curves_of(folder, label))

    async def frames(request: Request) -> Response:
        asked = dict(request.query_params)
        return await answer_with(lambda: film(open_results(folder)[0], choice_of(asked)))

    routes = [Route("/", index), Route("/state", state), Route("/curves", curves), Route("/film", frames)]
    return Starlette(routes=routes, middleware=[GUARD])


def choice_of(asked: dict[str, str]) -> Choice:
    """Parse a request for a film; a ValueError names the missing, unknown or non-numeric field."""
    kinds: dict[str, Callable[[str], Any]] = {"environment": str, "agent": str, "seed": int, "rounds": int}
    kinds |= {"delay": float, "noise": float}
    if unknown := [name for name in asked if name not in kinds]:
        raise ValueError(f"a film has no {unknown[0]!r}; it takes {', '.join(kinds)}")
    if lacking := [name for name in ("environment", "agent") if name not in asked]:
        raise ValueError(f"a film needs {lacking[0]!r}, one of the labels of the study")
    try:
        return Choice(**{name: kinds[name](text) for name, text in asked.items()})
    except ValueError as error:
        raise ValueError(f"seed and rounds must be integers, delay and noise numbers: {error}") from error


def serve(app: Starlette, port: int) -> None:
    """Serve an application's page on this machine alone, until it is interrupted."""
    uvicorn.run(app, host=HOST, port=port, log_level="warning")


async def answer_with(find: Callable[[], dict[str, Any]]) -> Response:
    """Run `find` in a thread and return its dict as JSON, or the error message with status 400."""
    try:
        return JSONResponse(await run_in_threadpool(find), headers=SAFE)
    except (ValueError, TypeError, OSError, ImportError, gym.error.Error) as error:
        return JSONResponse({"error": " ".join(str(error).split())}, status_code=400, headers=SAFE)


async def body_of(request: Request, most: int) -> bytes | None:
    """Return the body of a request, or None as soon as it is longer than so many bytes."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > most:
            return None
    return body
