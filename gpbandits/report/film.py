"""A film shows a trial of an agent, round by round, as pictures or as a GIF."""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Generator, Iterable, Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.registry import AgentSpec, resolve_agent
from bandit_envs.basics.arguments import from_extra
from bandit_envs.environment.making import EnvLike, make
from gpbandits.evaluation.loop import trial_seeds
from gpbandits.evaluation.play import require_bandit
from gpbandits.experiments.check import naming

HOLD = 3  # the last frame is shown so many times as long as the others


def frames(
    environment: EnvLike,
    agent: AgentSpec,
    seed: int = 0,
    count: int = 40,
    env_kwargs: Mapping[str, Any] | None = None,
) -> Iterator[NDArray[np.uint8]]:
    """Yield pictures of trial 0 of `evaluate(seed=seed)`, from before the first round, (480, 640, 3) each.

    Args:
        environment: as for `evaluate`.
        agent: as for `evaluate`; its posterior is drawn if it has a method `posterior(observation)`.
        seed: seed of the trial.
        count: largest number of pictures, evenly spread over the rounds.
        env_kwargs: keyword arguments of the environment.
    """
    keywords = {"render_mode": "rgb_array"} | dict(env_kwargs or {})
    for env, _ in moments(environment, agent, seed, count, keywords):
        yield env.render()


def moments(
    environment: EnvLike, agent: AgentSpec, seed: int, count: int, env_kwargs: Mapping[str, Any]
) -> Generator[tuple[Any, Any], None, None]:
    """Run the trial of `frames`, and yield the environment and the agent at each picture.

    Except at the last picture, the agent has chosen its next action and the environment has not run it yet.
    """
    if count < 2:
        raise ValueError(f"count must be at least 2, the first and the last picture, got {count}")
    of_environment, of_agent = trial_seeds(seed, 0)
    with naming(f"environment {environment!r}"):
        env = make(environment, **env_kwargs)
        require_bandit(env)
        observation, info = env.reset(seed=of_environment)
    factory = resolve_agent(agent)
    with naming(f"agent {(factory.name or agent)!r} for {environment!r}"):
        player = factory(env.get_wrapper_attr("setting"))
    player.reset(of_agent)
    if "action_mask" in info and hasattr(player, "start"):
        player.start(info if getattr(player, "privileged", False) else _without_oracle(info))
    env.unwrapped.watched = player  # type: ignore[attr-defined]
    shown = set(np.linspace(0, env.get_wrapper_attr("setting").horizon, count).astype(int).tolist())
    done, played = False, 0
    try:
        while True:
            action = None if done else player.act(observation)
            if played in shown or done:
                yield env, player
            if done:
                break
            following, reward, terminated, truncated, info = env.step(action)
            seen = info if getattr(player, "privileged", False) else _without_oracle(info)
            if info.get("played", True):  # else the budget is spent, and the action was not played
                player.update(observation, action, reward, seen)
            observation, done, played = following, terminated or truncated, played + 1
    finally:
        env.close()


def _without_oracle(info: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in info.items() if key != "oracle"}


class Film:
    """A film is an endless GIF, which a notebook displays.

    Args:
        pictures: the frames in order, (height, width, 3) each.
        fps: frames a second; the last one stays longer.
    """

    def __init__(self, pictures: Iterable[NDArray[np.uint8]], fps: float = 5.0):
        check_speed(fps)
        with from_extra("eval", "films"):
            from PIL import Image

        first, *others = (Image.fromarray(picture) for picture in pictures)
        times = [round(1000 / fps)] * len(others) + [round(HOLD * 1000 / fps)]
        file = BytesIO()
        first.save(file, "GIF", save_all=True, append_images=others, duration=times, loop=0)
        self.gif, self.length = file.getvalue(), 1 + len(others)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the GIF to a .gif file; its folder is made if it is missing."""
        _make_folder_of(path)
        Path(path).write_bytes(self.gif)

    def __repr__(self) -> str:
        return f"Film({self.length} pictures)"

    def _repr_html_(self) -> str:
        return f'<img alt="{self!r}" src="data:image/gif;base64,{b64encode(self.gif).decode()}">'


def watch(
    environment: EnvLike,
    agent: AgentSpec,
    seed: int = 0,
    count: int = 40,
    env_kwargs: Mapping[str, Any] | None = None,
    fps: float = 5.0,
) -> Film:
    """Return a film of an agent in one trial: the true mean, the actions and the agent's posterior.

    Args:
        environment, agent, seed, count, env_kwargs: see `frames`.
        fps: frames a second.
    """
    check_speed(fps)
    return Film(frames(environment, agent, seed, count, env_kwargs), fps)


def save_gif(pictures: Iterable[NDArray[np.uint8]], path: str | os.PathLike[str], fps: float = 5.0) -> int:
    """Write pictures as an endless GIF and return their number; a missing folder is made."""
    _make_folder_of(path)  # raises before the pictures are drawn, which takes long
    film = Film(pictures, fps)
    film.save(path)
    return film.length


def check_speed(fps: float) -> None:
    """Raise unless a frame rate is positive."""
    if fps <= 0:
        raise ValueError(f"fps must be positive, got {fps}")


def _make_folder_of(path: str | os.PathLike[str]) -> None:
    if Path(path).suffix.lower() != ".gif":
        raise ValueError(f"the path of a GIF must end in .gif, got {path}")
    Path(path).parent.mkdir(parents=True, exist_ok=True)
