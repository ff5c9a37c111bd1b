"""A film shows a trial of an agent, round by round, as pictures, a GIF, a video or a page with a slider."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeGuard

import numpy as np
from numpy.typing import NDArray

from agents.agent.gp_agent import GPAgent
from agents.beliefs.points import Pairs, Points
from agents.protocol import adapted
from agents.registry import AgentSpec, resolve_agent
from bandit_envs.basics.arguments import from_extra, is_count, require
from bandit_envs.basics.types import Floats
from bandit_envs.environment.envs import EnvLike
from bandit_envs.rendering.scene import Scene, shared_limits
from gpbandits.evaluation.loop import trial_seeds
from gpbandits.evaluation.play import Stage
from gpbandits.evaluation.trace import without_oracle
from gpbandits.experiments.work import naming
from gpbandits.report.film_files import Film, check_speed
from gpbandits.theory.coverage import bands

SAMPLES = 4  # pictures, evenly spread, whose colours are those of the whole film
Agents = AgentSpec | Sequence[AgentSpec] | Mapping[str, AgentSpec]


class FilmedTrial(NamedTuple):
    """Trial 0 of `evaluate(seed=seed)`, and the rounds before whose plays there is a picture."""

    environment: EnvLike
    seed: int
    shown_in: int | Sequence[int]  # a number of pictures, evenly spread to the end, or rounds from 0
    env_kwargs: Mapping[str, Any] | None = None
    first: int = 0  # round of the first of a number of pictures


class Moment(NamedTuple):
    """A moment of a trial: the agent has chosen an action, which the environment has not run yet."""

    env: Any
    player: Any
    observation: Any
    action: Any  # None after the last round


def watch(
    environment: EnvLike,
    agent: Agents,
    seed: int = 0,
    count: int = 40,
    env_kwargs: Mapping[str, Any] | None = None,
    fps: float = 5.0,
    start: int = 1,
) -> Film:
    """Return a film of an agent in one trial: the true function, the plays, its band and its next choice.

    Several agents, as a list or by their labels, play the same trial side by side. The other arguments are
    those of `frames`, the frames a second, and the first round that is shown.
    """
    check_speed(fps)
    _require_shown(count, start)
    trial = FilmedTrial(environment, seed, count, env_kwargs, start - 1)
    shown = _rows(trial, agent)
    sampled = sorted(set(np.linspace(0, max(map(len, shown)) - 1, SAMPLES).astype(int).tolist()))

    def more(rounds: Sequence[int]) -> list[list[Scene]]:
        return _rows(trial._replace(shown_in=rounds), agent)

    return Film(_drawn(shown), _drawn(shown, sampled), fps, shown, more)


def frames(
    environment: EnvLike,
    agent: Agents,
    seed: int = 0,
    count: int = 40,
    env_kwargs: Mapping[str, Any] | None = None,
) -> Iterator[NDArray[np.uint8]]:
    """Yield pictures of trial 0 of `evaluate(seed=seed)`, from before the first round, (480, 640, 3) each.

    The axes of all of them are those of the whole film; pictures of several agents stand side by side.

    Args:
        environment: as for `evaluate`.
        agent: as for `evaluate`. If it has a method `posterior(observation)`, the posterior is drawn: of a GP
            agent with a width w as mean and mean ± w std, of others with 2 std; and beneath it the
            acquisition function and the next play.
        count: largest number of pictures, evenly spread over the rounds.
    """
    _require_shown(count)
    yield from _drawn(_rows(FilmedTrial(environment, seed, count, env_kwargs), agent))


def _require_shown(count: Any, start: Any = 1) -> None:
    expected = "an integer of at least 2, the first and the last picture"
    require(is_count(count) and count >= 2, "count", expected, count)
    require(is_count(start), "start", "a round, the first of which is 1", start)


def _drawn(
    rows: Sequence[Sequence[Scene]], chosen: Sequence[int] | None = None
) -> Iterator[NDArray[np.uint8]]:
    """Draw the scenes of each agent, or some; one that ended before another keeps its last picture."""
    with from_extra("eval", "films"):
        from bandit_envs.rendering.picture import draw
    limits = shared_limits(rows)
    for i in range(max(map(len, rows))) if chosen is None else chosen:
        shown = [row[min(i, len(row) - 1)] for row in rows]
        yield np.hstack([draw(*each) for each in zip(shown, limits, strict=True)])


def _rows(trial: FilmedTrial, agent: Agents) -> list[list[Scene]]:
    """Return the scenes of each agent."""
    given: Any = agent
    entrants: list[tuple[str, Any]] = [("", given)]
    if isinstance(given, Mapping):
        entrants = [*given.items()]
    elif isinstance(given, Sequence) and not isinstance(given, str):
        with_options = len(given) == 2 and isinstance(given[1], Mapping)  # one agent, as for `evaluate`
        entrants = entrants if with_options else [("", each) for each in given]
    require(len(entrants) > 0, "agent", "an agent, or several", agent)
    return [scenes(trial, each, label) for label, each in entrants]


def scenes(trial: FilmedTrial, agent: AgentSpec, label: str = "") -> list[Scene]:
    """Return what the pictures of one agent show; its label is by default its name with its options."""
    shown, factory = [_scene(moment) for moment in moments(trial, agent)], resolve_agent(agent)
    name = factory.name or getattr(factory.make, "__name__", type(factory.make).__name__)
    described = ", ".join([name, *(f"{option}={value}" for option, value in factory.options.items())])
    where = trial.environment if isinstance(trial.environment, str) else shown[0].name
    return [scene._replace(title=f"{label or described} on {where}") for scene in shown]


def _scene(moment: Moment) -> Scene:
    """Return the scene with the band, the scores and the choice of the agent, where it has them."""
    env, player, observation, action = moment
    scene = Scene.of(env.unwrapped.simulator, player)
    if _plays_a_box(player):
        scene = _with_surface(scene, player, observation)
    scene = scene._replace(half=_half(scene, player, observation))
    if action is None:  # nothing is chosen by scores any more
        return scene._replace(scores=None)
    chosen, scores = env.get_wrapper_attr("setting").to_point(np.asarray(action)), player.scores
    if isinstance(scores, np.ndarray) and scores.shape == (1, len(scene.truth)):
        scene = scene._replace(scores=scores[0].copy())
    return scene._replace(following=np.ravel(chosen))


def _plays_a_box(player: Any) -> TypeGuard[GPAgent]:
    return isinstance(player, GPAgent) and player.setting.continuous


def _with_surface(scene: Scene, player: GPAgent, observation: Any) -> Scene:
    """Return the scene with the beliefs of an agent on a box and, of UCB, with the acquisition function."""
    points = _points(scene, player, observation)
    found = player.beliefs_at(points)
    if found is None:  # the model is of a penalised sum
        return scene
    belief, *of_costs = ((mean[0], std[0]) for mean, std in found)
    scene = scene._replace(belief=belief, cost_beliefs=tuple(of_costs))
    own = [] if player.rule.draws or len(scene.costs) else player.rule.bands(player.belief, points, player.t)
    return scene if len(own) != 1 else scene._replace(scores=(own[0].mean + own[0].half)[0])


def _points(scene: Scene, player: GPAgent, observation: Any) -> Points:
    """Return the drawn points in the observed context."""
    if _plays_a_box(player):
        return Pairs(player.domain.context(player, np.asarray(observation)), scene.features)
    return player.arms(player.setting.context_index(np.asarray(observation)[None]))


def _half(scene: Scene, player: Any, observation: Any) -> Floats | None:
    """Return the half-width of the agent's band at the drawn points, (M,); None if it has no single band."""
    if scene.belief is None or len(scene.costs) or not isinstance(player, GPAgent):
        return None
    if not player.objective.linear:  # the width multiplies a std of log-odds or log-rates
        return None
    found = bands(player, _points(scene, player, observation), player.t)
    return found[0].half[0] if len(found) == 1 else None


def moments(trial: FilmedTrial, agent: AgentSpec) -> Generator[Moment, None, None]:
    """Run a trial no further than is shown, and yield the environment and the agent at each picture."""
    environment, seed, shown_in, env_kwargs, first = trial
    of_environment, of_agent = trial_seeds(seed, 0)
    with naming(f"environment {environment!r}"):
        env = Stage(environment, env_kwargs).env
        observation, info = env.reset(seed=of_environment)
    factory = resolve_agent(agent)
    with naming(f"agent {(factory.name or agent)!r} for {environment!r}"):
        player = adapted(factory(env.get_wrapper_attr("setting")))
    player.reset(of_agent)
    if "action_mask" in info:
        player.start(info if player.privileged else without_oracle(info))
    horizon = env.get_wrapper_attr("setting").horizon
    if isinstance(shown_in, int):
        require(first < horizon, "start", f"a round before the last of {horizon}", first + 1)
        number = min(shown_in, horizon + 1 - first)  # each round once at most
        shown, last = set(np.linspace(first, horizon, number).astype(int).tolist()), horizon
    else:
        shown, last = set(shown_in), max(shown_in)
    done, played = False, 0
    try:
        while True:
            action = None if done else player.act(observation)
            if played in shown or (done and isinstance(shown_in, int)):
                yield Moment(env, player, observation, action)
            if done or played == last:
                break
            following, reward, terminated, truncated, info = env.step(action)
            seen = info if player.privileged else without_oracle(info)
            if info.get("played", True):  # else the budget is spent, and the action was not played
                player.update(observation, action, reward, seen)
            observation, done, played = following, terminated or truncated, played + 1
    finally:
        env.close()
