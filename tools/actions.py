"""Records every agent's actions on every id, so that a change of structure can be held to change none.

    python tools/actions.py before.json              # on the code before; agents in two processes
    python tools/actions.py after.json --than before.json
    python tools/actions.py after.json --than before.json --env Delayed --agent gp-ucb --agent config

Three trials of 60 rounds, once as a batch of trials and once as single trials. An entry is a digest of the
actions' bytes; what cannot be played is recorded with its error. Exits with 1 where entries differ. Needs
`GPBANDITS_DATA` for the ids with recorded data; ids without their data are left out and printed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from functools import partial
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

import agents
from bandit_envs.environment.registration import IDS
from gpbandits import evaluate
from gpbandits.report.entrants import enter

TRIALS, ROUNDS, SEED = 3, 60, 11


def digest(env_id: str, kwargs: dict[str, object], name: str, single: bool) -> str:
    """Play and condense the actions, or return the error in their place."""
    spec = partial(agents.make, name) if single else name
    try:
        result = evaluate(env_id, {name: spec}, trials=TRIALS, seed=SEED, env_kwargs=kwargs)
    except Exception as error:  # an error is behaviour, too
        return f"{type(error).__name__}: {error}"
    return hashlib.sha256(np.ascontiguousarray(result.actions[name]).tobytes()).hexdigest()[:16]


def recorded(ids: list[str], names: list[str]) -> dict[str, str]:
    """Digests by "id, agent, batch or single"."""
    entries = [enter(TRIALS, ROUNDS, [env_id], names) for env_id in ids]
    jobs = {}
    for study in (study for each in entries for study in each.studies):
        environment = study.environments[0]
        kwargs = dict(environment.kwargs) | {"horizon": min(ROUNDS, int(environment.kwargs["horizon"]))}
        for agent in study.agents:
            for single in (False, True):
                key = f"{environment.id}, {agent.name}, {'single' if single else 'batch'}"
                jobs[key] = delayed(digest)(environment.id, kwargs, agent.name, single)
    found = Parallel(n_jobs=2, verbose=1)(jobs.values())
    return dict(zip(jobs, found, strict=True))


def main() -> int:
    """Record, and compare where there is something to compare with."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path)
    parser.add_argument("--than", type=Path, help="an earlier record")
    parser.add_argument("--env", action="append", default=[], help="a part of an id; default all")
    parser.add_argument("--agent", action="append", default=[], help="a name; default all that are quick")
    chosen = parser.parse_args()
    ids = [env_id for env_id in IDS if not chosen.env or any(part in env_id for part in chosen.env)]
    now = recorded(ids, chosen.agent)
    chosen.out.write_text(json.dumps(now, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    if chosen.than is None:
        return 0
    before = json.loads(chosen.than.read_text(encoding="utf-8"))
    differ = [key for key in now if key in before and now[key] != before[key]]
    print(*(f"differs: {key}: {before[key]} -> {now[key]}" for key in differ), sep="\n")
    print(f"{len(differ)} of {len(now.keys() & before.keys())} entries differ")
    return int(bool(differ))


if __name__ == "__main__":
    sys.exit(main())
