"""A round of one trial, agent and environment, beside a bare numpy loop of the same mathematics.

    python benchmarks/step.py [--quick] [--rounds T] [--repeats R] [--only WORD] [--write]

Machines differ twofold from hour to hour, so the bare loop is played in the same process, repeat by repeat,
and the ratio is what counts: act and update of the agent over choice and update of the loop. Times are of the
process, not of the clock on the wall, which on a busy machine belongs to others. The bare loops have no
classes, no checks, no trial axis and no feedback records; they keep what a form of the posterior keeps. Both
see the same rewards: `same` is the share of rounds in which they play the same arm (a Thompson loop draws
other samples, but for the line that says so). `step` is the environment's. Lines of many trials are times a
trial and round, beside a loop of as many trials at once.

Machines differ in what Python costs beside a loop of numpy: `--write` stores a table of this one, and the
page shows the least and the largest of all that were measured.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before numpy is imported: one core, as in a worker of a study

import argparse
import csv
import platform
import re
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from bare_loops import (
    Trial,
    contextual_ucb,
    factored_ucb,
    full_rank_thompson,
    full_rank_ucb,
    full_rank_ucb_of_many,
    low_rank_thompson,
    low_rank_thompson_of_many,
    low_rank_ucb,
    low_rank_ucb_of_many,
    matheron_thompson,
    matheron_thompson_of_many,
)
from tables import DOCS, write

from agents.registry import resolve_agent
from bandit_envs import make
from bandit_envs.basics.types import Floats, Ints
from bandit_envs.environment.vector import BanditVectorEnv

HEADER = ["case", "agent", "loop", "ratio", "step", "same arms"]
BATCH = 64  # trials at once, as `evaluate` plays them


class Played(NamedTuple):
    """One trial, or several at once, as an agent played: to be played again without the environment."""

    env: Any
    agent: Any
    observations: list[Floats]
    actions: list[int]
    rewards: list[float]
    infos: list[dict[str, Any]]

    @property
    def seed(self) -> Any:
        """Of all trials."""
        num_trials = self.agent.num_trials
        return 0 if num_trials is None else list(range(num_trials))

    @property
    def trials(self) -> list[Trial]:
        """What a loop needs to know of the same trials."""
        model, unwrapped = self.agent.model, getattr(self.env, "unwrapped", self.env)
        observations = np.array(self.observations).reshape(len(self.observations), -1, self.width)
        actions = np.array(self.actions).reshape(len(self.actions), -1)
        made = []
        self.agent.reset(self.seed)  # for generators that have drawn nothing
        for i, truth in enumerate(unwrapped.simulator.trials):
            contexts = self.agent.setting.context_index(observations[:, i])
            first = int(contexts[0] * model.setting.decisions.num_arms + actions[0, i])
            values = truth.means[0, 0] - model.prior_mean
            noise = truth.noise[: len(actions), 0]
            lambda_, rng = float(np.min(model.noise_variance)), self.agent.samplers[i]
            made.append(Trial(model.gram, lambda_, first, values, noise, contexts, rng))
        return made

    @property
    def width(self) -> int:
        """Numbers of an observation."""
        return np.shape(self.observations)[-1]


def play(case: Case, rounds: int, num_trials: int | None = None) -> Played:
    """Let an agent play, one trial or several at once, and keep what passes to and fro."""
    env: Any = make(case.id_, horizon=rounds, oracle=False, **case.keywords)
    if num_trials is not None:
        env = BanditVectorEnv(env.unwrapped.problem, num_trials, oracle=False)
    setting = env.setting if num_trials else env.get_wrapper_attr("setting")
    played = Played(env, resolve_agent(case.agent)(setting, num_trials), [], [], [], [])
    observation, _ = env.reset(seed=played.seed)
    played.agent.reset(played.seed)
    for _ in range(rounds):
        action = played.agent.act(observation)
        following, reward, _, _, info = env.step(action)
        played.agent.update(observation, action, reward, info)
        for kept, new in zip(played[2:], (observation, action, reward, info), strict=True):
            kept.append(new)
        observation = following
    return played


def time_agent(played: Played) -> float:
    """Seconds of all `act` and `update` of a trial, or of several, that were played before."""
    agent, rounds = played.agent, list(zip(*played[2:], strict=True))
    agent.reset(played.seed)
    start = time.process_time()
    for observation, action, reward, info in rounds:
        agent.act(observation)
        agent.update(observation, action, reward, info)
    return time.process_time() - start


def time_environment(played: Played) -> float:
    """Seconds of all steps of the same trial."""
    step = played.env.step
    played.env.reset(seed=0)
    start = time.process_time()
    for action in played.actions:
        step(action)
    return time.process_time() - start


class Case(NamedTuple):
    """What is played, and the loop beside it."""

    id_: str
    keywords: dict[str, Any]
    agent: Any  # as `resolve_agent` takes it
    loop: Callable[[Trial], Ints]
    rounds: int | None = None  # where it is not the usual number


GP, CONTEXTUAL = "GPBandit-GP-v0", "GPBandit-Contextual-v0"
SE, MATERN = {"num_arms": 1000, "kernel": "rbf"}, {"num_arms": 1000, "kernel": "matern52"}
PLANE = {"num_arms": 10_000, "dim": 2}
PAIRS = {"num_contexts": 100, "num_arms": 1000, "delay": None}
FEWER, ROWS = PAIRS | {"num_arms": 200}, ("gp-ucb", {"form": "pairs"})
CASES = {
    "GP-UCB, SE": Case(GP, SE, "gp-ucb", low_rank_ucb),
    "GP-UCB, Matern": Case(GP, MATERN, "gp-ucb", full_rank_ucb),
    "Thompson, SE": Case(GP, SE, "gp-ts", low_rank_thompson),
    "Thompson, SE, the same samples": Case(GP, SE, "gp-ts", matheron_thompson),
    "Thompson, Matern": Case(GP, MATERN, "gp-ts", full_rank_thompson),
    "GP-UCB, SE, 10,000 points in the plane": Case(GP, PLANE, "gp-ucb", full_rank_ucb, 300),
    "GP-UCB, SE, 100 contexts x 1000 arms": Case(CONTEXTUAL, PAIRS, "gp-ucb", factored_ucb, 2000),
    "GP-UCB, SE, 100 contexts x 200 arms, by rows": Case(CONTEXTUAL, FEWER, ROWS, contextual_ucb, 300),
}


OF_MANY = {
    low_rank_ucb: low_rank_ucb_of_many,
    full_rank_ucb: full_rank_ucb_of_many,
    low_rank_thompson: low_rank_thompson_of_many,
    matheron_thompson: matheron_thompson_of_many,
}


def measure(label: str, case: Case, rounds: int, repeats: int) -> list[str]:
    """One row: microseconds a round of agent, loop and environment, the ratio, and how alike they play."""
    rounds = min(rounds, case.rounds or rounds)
    played = play(case, rounds)
    (trial,), loops, own, environment, choices = played.trials, [], [], [], np.empty(0)
    for _ in range(repeats):
        own.append(time_agent(played))
        environment.append(time_environment(played))
        start = time.process_time()
        choices = case.loop(trial)
        loops.append(time.process_time() - start)
    agent, loop, step = (1e6 * min(times) / rounds for times in (own, loops, environment))
    same = np.mean(choices == played.actions)
    return [label, f"{agent:.1f}", f"{loop:.1f}", f"{agent / loop:.2f}", f"{step:.1f}", f"{same:.0%}"]


def measure_batch(label: str, case: Case, rounds: int, repeats: int) -> list[str]:
    """One row: microseconds of agent and loop a trial and round, where both play many trials at once."""
    played = play(case, rounds, BATCH)
    trials, own, loops, choices = played.trials, [], [], np.empty(0)
    for _ in range(repeats):
        own.append(time_agent(played))
        if case.loop in OF_MANY:
            start = time.process_time()
            choices = OF_MANY[case.loop](trials)
            loops.append(time.process_time() - start)
    label, each = f"{label}, {BATCH} trials", 1e6 / (rounds * BATCH)
    if not loops:
        return [label, f"{each * min(own):.1f}", "", "", "", ""]
    same = np.mean(choices == np.array(played.actions).T)
    times = [f"{each * min(own):.1f}", f"{each * min(loops):.1f}", f"{min(own) / min(loops):.2f}"]
    return [label, *times, "", f"{same:.0%}"]


def processor() -> str:
    """Return what the processor calls itself, with family and model on Linux, for a file's name."""
    facts, told = platform.processor() or platform.machine(), Path("/proc/cpuinfo")
    if told.exists():
        known = dict(re.findall(r"^(.*?)\s*:\s*(.*)$", told.read_text().partition("\n\n")[0], re.MULTILINE))
        named = [known[key] for key in ("model name", "cpu family", "model") if key in known]
        facts = " ".join(named) or facts
    return re.sub(r"[^a-z0-9]+", "-", facts.lower()).strip("-")


def merged(tables: list[list[list[str]]]) -> list[list[str]]:
    """Return a row a case, with the least and the largest number of each column over the machines."""
    rows: dict[str, list[list[str]]] = {}
    for label, *numbers in (row for table in tables for row in table):
        rows.setdefault(label, []).append(numbers)
    return [[label, *map(ranged, *each)] for label, each in rows.items()]


def ranged(*numbers: str) -> str:
    """Return "least to largest" of numbers as they are written; empty ones are none."""
    known = sorted((each for each in numbers if each), key=lambda text: float(text.rstrip("%")))
    return " to ".join(dict.fromkeys([*known[:1], *known[-1:]]))


def stored_tables() -> list[list[list[str]]]:
    """Return the rows of each machine's table, without their headers."""
    files = sorted((DOCS / "results" / "step").glob("*.csv"))
    return [list(csv.reader(each.read_text(encoding="utf-8").splitlines()))[1:] for each in files]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="200 rounds and 3 repeats unless given")
    parser.add_argument("--rounds", type=int, help="T (1000)")
    parser.add_argument("--repeats", type=int, help="interleaved runs of which the fastest counts (5)")
    parser.add_argument("--only", default="", help="cases with this in their name")
    parser.add_argument("--write", action="store_true", help="store the table")
    options = parser.parse_args()
    rounds = options.rounds or (200 if options.quick else 1000)
    repeats = options.repeats or (3 if options.quick else 5)
    print(f"T <= {rounds}, the fastest of {repeats} repeats, one BLAS thread; microseconds a round")
    rows = []
    chosen = {label: case for label, case in CASES.items() if options.only in label}
    single = (partial(measure, label, case, rounds) for label, case in chosen.items())
    batches = (
        partial(measure_batch, label, case, min(rounds, 200))
        for label, case in chosen.items()
        if case.rounds is None
    )
    for each in (*single, *batches):
        rows.append(each(repeats))
        print(" | ".join(rows[-1]), flush=True)
    if options.write:
        write(f"step/{processor()}", HEADER, rows)
        write("step", HEADER, merged(stored_tables()))


if __name__ == "__main__":
    main()
