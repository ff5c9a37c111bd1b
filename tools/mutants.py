"""Sixty small errors, each of which the quick tests must find.

    python tools/mutants.py                    # an hour
    python tools/mutants.py --room agents/widths
    python tools/mutants.py --check            # only that every text to replace is there, once

An error is written into a copy of the checkout's files. There the tests of the module's name are run until
one fails, then those of the room's mirror folder. Errors that these do not find are tried on all quick tests
that pass without them. The first test that fails is printed; the exit code is 1 where none does.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
QUICK = "not (long or further)"
FINDS_ALL = "tests/project/test_mutants.py"  # as it misses the text that was replaced
ELSEWHERE = ("tests/agents/algorithms", "tests")  # named algorithms are compared with their readable forms


class Mutant(NamedTuple):
    """A wrong sign, an index off by one round, or a dropped term."""

    path: str
    right: str
    wrong: str

    @property
    def room(self) -> str:
        """The folder of the module, whose tests stand in the folder of the same name under `tests`."""
        parts = Path(self.path).parts
        return "/".join(parts[:2])


MUTANTS = (
    Mutant("agents/widths/base.py", "self._union + 4.0 * log(t)", "self._union + 2.0 * log(t)"),
    Mutant("agents/widths/bounded_norm.py", "_of_gamma(self.gamma(t - ONE", "_of_gamma(self.gamma(t"),
    Mutant(
        "agents/widths/bounded_norm.py",
        "gamma + np.log(1.0 / self.delta)",
        "gamma - np.log(1.0 / self.delta)",
    ),
    Mutant(
        "agents/widths/bounded_norm.py", "2.0 * np.square(self.bound) + 300.0", "2.0 * self.bound + 300.0"
    ),
    Mutant("agents/widths/bounded_norm.py", "determinant - 2.0 * np.log(self.delta)", "determinant"),
    Mutant(
        "agents/acquisition/robust.py",
        "np.sqrt((t - 1) / self.noise_variance)",
        "np.sqrt(t / self.noise_variance)",
    ),
    Mutant(
        "agents/widths/bounded_norm.py",
        "(self.noise_std + self.reward_bound) * spread",
        "self.noise_std * spread",
    ),
    Mutant(
        "agents/acquisition/rules.py",
        "candidates.incumbent + xi",
        "candidates.incumbent - xi",
    ),
    Mutant(
        "agents/acquisition/rules.py",
        "candidates.mean + self._factor(candidates) * candidates.std",
        "candidates.mean - self._factor(candidates) * candidates.std",
    ),
    Mutant(
        "agents/acquisition/robust.py",
        "self.eps * (1.0 - 2.0 * own)",
        "self.eps * (1.0 - own)",
    ),
    Mutant("agents/acquisition/randomised.py", "candidates.sampled_maximum()", "0.0"),
    Mutant(
        "agents/algorithms/safe.py", "candidates.mean + reach >= surely", "candidates.mean - reach >= surely"
    ),
    Mutant("agents/acquisition/robust.py", "- fit.misfit", "+ fit.misfit"),
    Mutant("agents/beliefs/base.py", "values.total - values.plays * self", "values.total - self"),
    Mutant("agents/beliefs/base.py", "return value - self.prior_mean[trial, point]", "return value"),
    Mutant("agents/beliefs/censored.py", "self.reward_bound / self._prior_std**2", "self.reward_bound"),
    Mutant("agents/beliefs/safety.py", "self.mean + 0.5 * self.std**2", "self.mean"),
    Mutant("agents/algorithms/delayed.py", "self.variance -= column**2", "self.variance -= column"),
    Mutant("agents/posteriors/fading.py", "(self.now + 1)", "self.now"),
    Mutant(
        "agents/posteriors/fading.py",
        "self._squares *= self.discount**2",
        "self._squares *= self.discount",
    ),
    Mutant("agents/posteriors/fading.py", "math.sqrt(1.0 - eps)", "(1.0 - eps)"),
    Mutant("agents/posteriors/fading.py", "self._now - age)]", "self._now - age + 1)]"),
    Mutant("agents/posteriors/play_factor.py", "math.log(scale) - 0.5 * math.log(noise)", "math.log(scale)"),
    Mutant(
        "agents/posteriors/sketched.py",
        "0.5 * np.log1p(max(sketch.variance.item(x), 0.0)",
        "np.log1p(max(sketch.variance.item(x), 0.0)",
    ),
    Mutant("agents/restarts/alarms.py", "_count**2 / (3.0 * self._delta)", "_count / (3.0 * self._delta)"),
    Mutant(
        "agents/restarts/alarms.py",
        "s * (before - mean) ** 2 + (n - s)",
        "s * (before - mean) ** 2 + n",
    ),
    Mutant(
        "agents/restarts/evidence.py",
        "math.log(len(scales) / false_alarm_rate)",
        "-(math.log(len(scales) / false_alarm_rate))",
    ),
    Mutant(
        "agents/restarts/alarms.py",
        "math.log1p(-1.0 / segment), -math.log(segment)",
        "0.0, -math.log(segment)",
    ),
    Mutant("agents/restarts/base.py", "2.0 * self.b * nats", "self.b * nats"),
    Mutant("agents/restarts/outcomes.py", "np.log(2.0 * np.pi * variance) +", "np.log(2.0 * np.pi) +"),
    Mutant(
        "agents/objectives/separate_models.py",
        "(mean - width[:, None] * std)",
        "(mean + width[:, None] * std)",
    ),
    Mutant(
        "agents/objectives/separate_models.py",
        "t[:, None] <= self.first_plays",
        "t[:, None] < self.first_plays",
    ),
    Mutant("agents/objectives/penalised.py", "(value - self.centre[trial]) /", "value /"),
    Mutant("agents/objectives/safe_masks.py", "steep).min(axis=1", "steep).max(axis=1"),
    Mutant("agents/objectives/first_plays.py", "- shift * plays)", ")"),
    Mutant(
        "agents/algorithms/budgets.py", "scores + band.log_power(power)", "scores - band.log_power(power)"
    ),
    Mutant("agents/model/rounds.py", "self._start(now + 1) - self.times", "self._start(now) - self.times"),
    Mutant("agents/model/hyperparameters.py", "np.log(NOISE_BOUNDS)", "np.array(NOISE_BOUNDS)"),
    Mutant("agents/agent/book.py", "rounds.item() == self.rounds", "rounds.item() == self.rounds - 1"),
    Mutant(
        "agents/acquisition/candidates.py",
        "self.mean + factor * self.centred_sample()",
        "self.mean + self.centred_sample()",
    ),
    Mutant("agents/box/search.py", "found[1] * self.span", "found[1]"),
    Mutant("agents/agent/gp_agent.py", "1 + self.round - begun", "self.round - begun"),
    Mutant("agents/agent/model_ensemble.py", " | self._awaited(values.round)", ""),
    Mutant("agents/agent/gp_agent.py", "rounds[known]", "rounds[known] - 1"),
    Mutant("agents/agent/book.py", "rounds >= self._begun[trial]", "rounds > self._begun[trial]"),
    Mutant("agents/kernels/slopes.py", "2.0 * (total -", "(total -"),
    Mutant("agents/kernels/amplitude.py", "else value / factor", "else value * factor"),
    Mutant("agents/tuning/scale.py", "self.tamed(self.sign * value)", "self.tamed(value)"),
    Mutant(
        "agents/tuning/parameters.py", "quantile * self.width), self.width - 1", "quantile * self.width), 0"
    ),
    Mutant(
        "bandit_envs/problem/simulator.py", "rounds[rounds > self.problem", "rounds[rounds >= self.problem"
    ),
    Mutant("bandit_envs/problem/rounds.py", "else self._noise_scale(actions) * drawn", "else drawn"),
    Mutant("bandit_envs/problem/setting.py", "+ 1.0) / 2.0", ") / 2.0"),
    Mutant("bandit_envs/problem/trial.py", "(values[:, 1:] <= 0)", "(values[:, 1:] >= 0)"),
    Mutant("bandit_envs/laws/functions.py", "self.norm / drawn.norm", "drawn.norm / self.norm"),
    Mutant("bandit_envs/laws/derived.py", "self.law.least - self.eps", "self.law.least + self.eps"),
    Mutant(
        "bandit_envs/laws/delays/waits.py",
        "np.ceil(waits / self.interval) - 1.0",
        "np.ceil(waits / self.interval)",
    ),
    Mutant("bandit_envs/laws/contexts.py", "2 * count - 1 - free", "2 * count - free"),
    Mutant("bandit_envs/environment/info.py", "np.maximum(cost, 0.0) ** 2", "cost ** 2"),
    Mutant("bandit_envs/problem/simulator.py", "ended >= self.limit", "t >= self.limit"),
    Mutant(
        "bandit_envs/kernels/random_features.py", "np.sqrt(2.0 / self.count)", "np.sqrt(1.0 / self.count)"
    ),
    Mutant("gpbandits/evaluation/risk.py", "worth.max(axis=1, keepdims=True) - earned", "earned"),
    Mutant(
        "gpbandits/evaluation/statistics/pairs.py", "(1 + extreme) / (1 + flips)", "extreme / (1 + flips)"
    ),
    Mutant("gpbandits/experiments/store.py", " - done[pair] - failed[pair]", " - done[pair]"),
    Mutant("gpbandits/theory/regret.py", "2.0 * width * np.sqrt(rounds *", "width * np.sqrt(rounds *"),
)


def missing() -> list[Mutant]:
    """Errors whose right text does not stand in its file exactly once."""
    return [each for each in MUTANTS if (ROOT / each.path).read_text(encoding="utf-8").count(each.right) != 1]


def copied(folder: Path) -> Path:
    """Copy the files of the checkout that git knows, as they are now."""
    known = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in known.splitlines():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    return folder


def found(mutant: Mutant, copy: Path, *arguments: Path | str) -> bool:
    """Return whether a quick test fails with the error, and print the first."""
    file = copy / mutant.path
    right = file.read_text(encoding="utf-8")
    file.write_text(right.replace(mutant.right, mutant.wrong), encoding="utf-8")
    failed = failures(copy, *arguments, "-x")
    file.write_text(right, encoding="utf-8")
    print(*failed[:1] or ["not found there"], f"{mutant.path}: {mutant.right}", sep="  ", flush=True)
    return bool(failed)


def of_room(mutant: Mutant, copy: Path) -> list[Path]:
    """Return the tests of the module's name, then those of the room."""
    room = copy / "tests" / mutant.room
    return [*sorted(room.rglob(f"test_{Path(mutant.path).stem}.py")), room]


def failures(copy: Path, *arguments: Path | str) -> list[str]:
    """Return the quick tests that fail in a run of pytest in the copy."""
    command = [sys.executable, "-m", "pytest", *map(str, arguments), "-q", "-m", QUICK]
    run = subprocess.run(
        command, cwd=copy, env={**os.environ, "PYTHONPATH": str(copy)}, capture_output=True, text=True
    )
    if run.returncode > 2:
        raise RuntimeError(run.stdout[-2000:])
    lines = [line for line in run.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return [line.split(" - ")[0].split(" ", 1)[1] for line in lines]


def main() -> int:
    """Try every error."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--room", default="", help="such as agents/widths; default all")
    parser.add_argument("--check", action="store_true")
    chosen = parser.parse_args()
    lost = missing()
    print(*(f"not there once: {each.path}: {each.right}" for each in lost), sep="\n")
    if chosen.check or lost:
        return int(bool(lost))
    with tempfile.TemporaryDirectory() as folder:
        copy = copied(Path(folder))
        tried = [each for each in MUTANTS if each.room.startswith(chosen.room)]
        survivors = [each for each in tried if not found(each, copy, *of_room(each, copy))]
        everywhere = (*ELSEWHERE, "-n", "2", f"--ignore={FINDS_ALL}")
        if survivors:
            everywhere += tuple(f"--deselect={name}" for name in failures(copy, *everywhere))
        survivors = [each for each in survivors if not found(each, copy, *everywhere)]
    print(f"{len(survivors)} survive")
    return int(bool(survivors))


if __name__ == "__main__":
    sys.exit(main())
