"""An archive keeps the results of a leaderboard, beside which other agents are ranked later."""

import dataclasses
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bandit_envs.basics.arguments import require
from bandit_envs.environment.registration import IDS, real_id
from bandit_envs.problems.real import tasks
from gpbandits.evaluation.comparison import join
from gpbandits.evaluation.parquet import read_with_metadata
from gpbandits.evaluation.result import Result
from gpbandits.evaluation.stamp import played, stamp
from gpbandits.experiments.study import AgentEntry, Study
from gpbandits.report.entrants import REFERENCE, label_of

MAX_BYTES = 2**26  # of a file, and of its table in memory: 50 agents in 20 trials take a hundredth


def write_archive(results: Sequence[Result], studies: Sequence[Study], folder: Path) -> None:
    """Write a Parquet file an environment, with every trial at the quarters of its rounds, and its origin."""
    entries = {study.environments[0].label: study.environments[0] for study in studies}
    folder.mkdir(parents=True, exist_ok=True)
    for result in results:
        entry = entries[result.environment]
        quarters = [result.horizon * quarter // 4 for quarter in (1, 2, 3)]
        origin = stamp(entry.id, entry.kwargs, REFERENCE)
        result.condensed(quarters).save(folder / file_of(result.environment), origin)


def file_of(label: str) -> str:
    """Return the name of the file of an environment with this label."""
    return f"{label.removeprefix('Real/')}.parquet"


def archived_ids(folder: str | os.PathLike[str], suite: str, chosen: Sequence[str] = ()) -> list[str]:
    """Return the ids of a suite of which a folder has files; all that are chosen must be among them."""
    offered = [real_id(task) for task in tasks()] if suite == "real" else list(IDS)
    held = {path.name for path in Path(folder).glob("*.parquet")}
    found = [each for each in offered if file_of(label_of(each)) in held]
    remedy = f"a folder that `gpbandits leaderboard --suite {suite} --archive` wrote"
    require(found, "against", f"{remedy}, with files such as {file_of(label_of(offered[0]))}", str(folder))
    for each in chosen:
        require(each in found, "against", f"{remedy}, with {file_of(label_of(each))}", str(folder))
    return found


def read_archived(folder: str | os.PathLike[str], study: Study) -> Result:
    """Read the results on a study's one environment; a ValueError if they are of other trials than its own.

    The file's size, rows and columns are bounded before a row is read. Its numbers are believed.
    """
    (entry,) = study.environments
    path = Path(folder) / file_of(entry.label)
    held, origin = read_with_metadata(path, Result, MAX_BYTES)
    pairs = {
        "environment": (entry.label, held.environment),
        "version": (entry.id, origin.get("id", entry.id)),  # of files that lack it, the digest decides
        "seed": (study.seed, held.seed),
        "entropy": (None, held.entropy),
        "first trial": (0, held.first_trial),
        "trials": (study.trials, held.num_trials),
        "horizon": (entry.kwargs["horizon"], held.horizon),
        "digest of the environment": (played(entry.id, entry.kwargs), origin.get("played")),
    }
    for what, (ours, theirs) in pairs.items():
        if ours != theirs:
            remedy = _REMEDIES.get(what, _OTHER).format(theirs)
            raise ValueError(f"{path} has {what} {theirs}, here it is {ours}; {remedy}")
    require(
        REFERENCE in held.agents, "against", f"results of {REFERENCE} too, which sets the scale", str(path)
    )
    sound = all(np.isfinite(each.regret).all() for each in held.records.values())
    require(sound, "against", "results whose regrets are all finite", str(path))
    return held


_REMEDIES = {
    "seed": "pass --seed {}",
    "trials": "pass --trials {}",
    "horizon": "pass --horizon {}, or no --horizon if it is the environment's own",
}
_OTHER = "these are other problems: compute the archive again, or choose environments with --env"


def own_part(study: Study, archived: Result, named: Sequence[str]) -> Study | None:
    """Return the study of the agents that were named, none of which is archived; None if none enters."""
    own: list[AgentEntry] = [each for each in study.agents if each.label in named]
    for each in own:
        other = f'of another text than those of the archive ("{each.label} {{}}" is one, of the same agent)'
        require(each.label not in archived.agents, "agent", other, each.label)
    return dataclasses.replace(study, agents=tuple(own)) if own else None


def beside(archived: Result, own: Result | None) -> Result:
    """Return the archived results and, at the same rounds, our own on the same trials if it has all."""
    if own is None or own.num_trials != archived.num_trials:
        return archived
    return join(archived, own.condensed(archived.rounds.tolist()))
