"""A film shows a trial of an agent, round by round, as pictures, a GIF, a video or a page with a slider."""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from functools import partial
from io import BytesIO
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

import numpy as np
from numpy.typing import NDArray

from agents.acquisition.robust import RobustUCB
from agents.acquisition.rules import UCB, Thompson
from agents.agent.box_domain import BoxDomain
from agents.agent.gp_agent import GPAgent
from agents.beliefs.points import Pairs
from agents.protocol import adapted
from agents.registry import AgentSpec, resolve_agent
from bandit_envs.basics.arguments import from_extra, is_count, is_number, require
from bandit_envs.basics.types import Floats
from bandit_envs.environment.making import EnvLike, make
from bandit_envs.rendering.scene import Limits, Scene
from gpbandits.evaluation.loop import trial_seeds
from gpbandits.evaluation.play import require_bandit
from gpbandits.evaluation.trace import without_oracle
from gpbandits.experiments.work import naming
from gpbandits.report.film_files import write_film
from gpbandits.theory.coverage import bands

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = 128  # of a picture
HOLD = 3  # the last frame is shown so many times as long as the others


class Moment(NamedTuple):
    """A moment of a trial: the agent has chosen an action, which the environment has not run yet."""

    env: Any
    player: Any
    observation: Any
    action: Any  # None after the last round


def frames(
    environment: EnvLike,
    agent: AgentSpec,
    seed: int = 0,
    count: int = 40,
    env_kwargs: Mapping[str, Any] | None = None,
) -> Iterator[NDArray[np.uint8]]:
    """Yield pictures of trial 0 of `evaluate(seed=seed)`, from before the first round, (480, 640, 3) each.

    The axes of all of them are those of the whole film.

    Args:
        environment: as for `evaluate`.
        agent: as for `evaluate`. If it has a method `posterior(observation)`, the posterior is drawn: of a GP
            agent with a width w as mean and mean ± w std, of others with 2 std; and beneath it the
            acquisition function and the next play.
        count: largest number of pictures, evenly spread over the rounds.
    """
    yield from _drawn(scenes(environment, agent, seed, count, env_kwargs))


def _drawn(shown: Sequence[Scene]) -> Iterator[NDArray[np.uint8]]:
    with from_extra("eval", "films"):
        from bandit_envs.rendering.picture import draw
    limits = Limits.of(shown)
    return (draw(scene, limits) for scene in shown)


def scenes(
    environment: EnvLike,
    agent: AgentSpec,
    seed: int = 0,
    count: int = 40,
    env_kwargs: Mapping[str, Any] | None = None,
    start: int = 1,
) -> list[Scene]:
    """Return the contents of the pictures of `frames`, from the round `start` on."""
    expected = "an integer of at least 2, the first and the last picture"
    require(is_count(count) and count >= 2, "count", expected, count)
    require(is_count(start), "start", "a round, the first of which is 1", start)
    return _scenes(environment, agent, seed, count, env_kwargs, start - 1)


def _scenes(
    environment: EnvLike,
    agent: AgentSpec,
    seed: int,
    shown_in: int | Sequence[int],
    env_kwargs: Mapping[str, Any] | None,
    first: int = 0,
) -> list[Scene]:
    of_trial = moments(environment, agent, seed, shown_in, env_kwargs or {}, first)
    shown = [_scene(moment) for moment in of_trial]
    where = environment if isinstance(environment, str) else shown[0].name
    factory = resolve_agent(agent)
    name = factory.name or getattr(factory.make, "__name__", type(factory.make).__name__)
    label = ", ".join([name, *(f"{option}={value}" for option, value in factory.options.items())])
    return [scene._replace(title=f"{label} on {where}") for scene in shown]


def _scene(moment: Moment) -> Scene:
    """Return the scene with the band, the scores and the choice of the agent, where it has them."""
    env, player, observation, action = moment
    scene = Scene.of(env.unwrapped.simulator, player)
    if _plays_a_box(player):
        scene = _with_surface(scene, player, observation)
    if action is None:
        return scene._replace(half=_half(scene, player, observation))
    chosen = env.get_wrapper_attr("setting").to_point(np.asarray(action))
    scores = player.scores
    fits = isinstance(scores, np.ndarray) and scores.shape == (1, len(scene.truth))
    return scene._replace(
        half=_half(scene, player, observation),
        scores=scores[0].copy() if fits and scores is not None else scene.scores,
        following=np.ravel(chosen),
    )


def _plays_a_box(player: Any) -> TypeGuard[GPAgent]:
    return isinstance(player, GPAgent) and isinstance(player.domain, BoxDomain)


def _with_surface(scene: Scene, player: GPAgent, observation: Any) -> Scene:
    """Return the scene with the beliefs of an agent on a box and, of UCB, with the acquisition function."""
    points = Pairs(player.domain.context(player, np.asarray(observation)), scene.features)
    found = player.beliefs_at(points)
    if found is None:  # the model is of a penalised sum
        return scene
    belief, *of_costs = ((mean[0], std[0]) for mean, std in found)
    scene = scene._replace(belief=belief, cost_beliefs=tuple(of_costs))
    if isinstance(player.rule, UCB) and not len(scene.costs):
        mean, std = points.band(player.belief)
        scene = scene._replace(scores=(mean + _width(player) * std)[0])
    return scene


def _width(player: GPAgent) -> Floats:
    """Return the width of the rule in the coming round, (1,)."""
    assert isinstance(player.rule, UCB | Thompson)
    return player.rule.width(player.t, player.belief.gain) + player.belief.bias


def _half(scene: Scene, player: Any, observation: Any) -> Floats | None:
    """Return the half-width of the agent's band at the drawn points, (M,); None if it has no single band."""
    if scene.belief is None or len(scene.costs) or not isinstance(player, GPAgent):
        return None
    if not player.objective.linear:  # the width multiplies a std of log-odds or log-rates
        return None
    if _plays_a_box(player):
        return _width(player) * scene.belief[1] if isinstance(player.rule, UCB | Thompson) else None
    if not isinstance(player.rule, UCB | Thompson | RobustUCB):
        return None
    found = bands(player, np.asarray(observation)[None])
    return found[0].half[0] if len(found) == 1 else None


def moments(
    environment: EnvLike,
    agent: AgentSpec,
    seed: int,
    shown_in: int | Sequence[int],
    env_kwargs: Mapping[str, Any],
    first: int = 0,
) -> Generator[Moment, None, None]:
    """Run the trial of `frames`, and yield the environment and the agent at each picture.

    Args:
        shown_in: a number of pictures, evenly spread over the rounds to the end, or the rounds before whose
            play there is one, the first of which is 0: the trial is run no further than these.
        first: round before whose play the first of a number of pictures is.
    """
    of_environment, of_agent = trial_seeds(seed, 0)
    with naming(f"environment {environment!r}"):
        env = make(environment, **env_kwargs)
        require_bandit(env)
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


class Film:
    """A film is an endless GIF, which a notebook displays; `scenes` are what its frames show, for `strip`.

    Args:
        more: returns the scenes before the plays of other rounds, the first of which is 0; None without.
    """

    def __init__(
        self,
        pictures: Iterable[NDArray[np.uint8]],
        fps: float = 5.0,
        scenes: Sequence[Scene] = (),
        more: Callable[[Sequence[int]], list[Scene]] | None = None,
    ):
        check_speed(fps)
        self.fps = fps
        with from_extra("eval", "films"):
            from PIL import Image

        # The default palette gives a small star the colour of the many plays around it.
        of = Image.Quantize.MAXCOVERAGE
        first, *others = (Image.fromarray(picture).quantize(COLOURS, of) for picture in pictures)
        times = [round(1000 / fps)] * len(others) + [round(HOLD * 1000 / fps)]
        file = BytesIO()
        first.save(file, "GIF", save_all=True, append_images=others, duration=times, loop=0)
        self.gif, self.length, self.scenes, self._more = file.getvalue(), 1 + len(others), list(scenes), more

    def strip(self, rounds: Sequence[int]) -> Figure:
        """Return a figure for print, 6.9 inches wide, of the choices in some rounds, the first of which is 1.

        Args:
            rounds: of the trial; it is run again for those that the film does not show.
        """
        from bandit_envs.rendering.picture import strip

        shown = {scene.total + 1: scene for scene in self.scenes}
        listed = list(rounds) if isinstance(rounds, Iterable) and not isinstance(rounds, str) else []
        known = range(1, 1 + max(shown, default=0)) if self._more else shown
        usable = len(listed) > 0 and all(is_count(each) and each in known for each in listed)
        words = f"1..{max(known, default=0)}" if self._more else ", ".join(map(str, shown))
        require(usable, "rounds", f"a list of some of {words}", rounds)
        lacking = sorted(set(listed) - set(shown))
        if lacking and self._more is not None:
            shown |= {scene.total + 1: scene for scene in self._more([each - 1 for each in lacking])}
        return strip([shown[each] for each in listed], Limits.of([*shown.values()]))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a .gif, an .mp4, or an .html page with a slider; its folder is made if it is missing."""
        title = self.scenes[0].title or self.scenes[0].name if self.scenes else "A film"
        write_film(self.gif, self.fps, title, path)

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
    start: int = 1,
) -> Film:
    """Return a film of an agent in one trial: the true function, the plays, its band and its next choice.

    The arguments are those of `frames`, the frames a second, and the first round that is shown.
    """
    check_speed(fps)
    shown = scenes(environment, agent, seed, count, env_kwargs, start)
    more = partial(_scenes, environment, agent, seed, env_kwargs=env_kwargs)
    return Film(_drawn(shown), fps, shown, lambda rounds: more(shown_in=rounds))


def check_speed(fps: float) -> None:
    """Raise unless a frame rate is a positive number."""
    require(is_number(fps) and fps > 0, "fps", "a positive number", fps)
