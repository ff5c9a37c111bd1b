"""The board's server delivers one page, and the data it requests as JSON."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import uvicorn
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from gpbandits.board.film import MOST_ROUNDS, Choice, curves_of, film, state_of
from gpbandits.evaluation.marks import PALETTE
from gpbandits.experiments.store import open_results

HOST = "127.0.0.1"  # serves this machine only
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; "
    "frame-ancestors 'none'"
)
SAFE = {"Content-Security-Policy": POLICY, "Cache-Control": "no-store"}

GUARD = Middleware(TrustedHostMiddleware, allowed_hosts=[HOST, "localhost"])  # against DNS rebinding


def make_app(folder: Path, title: str) -> Starlette:
    """Return the application for a folder of results; it refuses requests for any other host name."""
    page = rendered("board.html", title=title, colours=PALETTE, most=MOST_ROUNDS)

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


def rendered(name: str, **values: Any) -> str:
    """Return the page of a template."""
    templates = Environment(
        loader=PackageLoader("gpbandits.board"), autoescape=True, undefined=StrictUndefined
    )
    return templates.get_template(name).render(**values)


def choice_of(asked: dict[str, str]) -> Choice:
    """Parse a request for a film; a ValueError names the missing, unknown or non-numeric field."""
    kinds: dict[str, Callable[[str], Any]] = {"environment": str, "agent": str, "seed": int, "rounds": int}
    kinds |= {"delay": float, "noise": float}
    for name in asked:
        if name not in kinds:
            raise ValueError(f"a film has no {name!r}; it takes {', '.join(kinds)}")
    for name in ("environment", "agent"):
        if name not in asked:
            raise ValueError(f"a film needs {name!r}, one of the labels of the study")
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
