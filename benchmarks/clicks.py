"""Clicks: Laplace agents and Gaussian ones on the same trials, and coverage: docs/results/clicks*.csv.

    python benchmarks/clicks.py --out docs/results [--trials 100] [--runs 200] [--only others]
    python benchmarks/clicks.py --page docs/results      # prints the page's tables

Sixty arms of [0, 1], an SE kernel of length-scale 0.2 and variance 1; f in logits, of norm 4 in the space of
the kernel, with weights uniform on the sphere; 500 rounds. Regret is in probability.
"""

import argparse
import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import agents
from bandit_envs import Problem
from bandit_envs.environment.envs import make
from bandit_envs.kernels.kernels import amplified, make_kernel
from bandit_envs.laws import RKHSFunction, delays
from bandit_envs.laws.outcomes import matched
from bandit_envs.problems.synthetic import unit_box
from gpbandits import evaluate
from gpbandits.evaluation.statistics import paired_difference

NORM, HORIZON, DELTA = 4.0, 500, 0.1
UNSHRUNK = 1e-9  # ridge at which weights of a fixed norm are uniform on its sphere
BASES = (0.0, -3.0)
KERNEL = make_kernel("rbf", 0.2)
NAIVE = {"kernel": amplified(KERNEL, 0.25), "prior_mean": 0.5, "noise_std": 0.5}  # R = 1/2 by Hoeffding
GAUSSIAN = "Gaussian moment-matched, UCB w = 2"
# Row of the page -> agent.
AT_ONCE: dict[str, tuple[str, dict[str, Any]]] = {
    "Laplace-UCB, w = 1": ("laplace-ucb", {}),
    "Laplace-UCB, w = 2": ("laplace-ucb", {"band": 2.0}),
    "Laplace-TS": ("laplace-ts", {}),
    "MAP only": ("laplace-ucb", {"band": 0.0}),
    "mixture band (delta = .1)": ("laplace-ucb", {"band": "mixture"}),
    GAUSSIAN: ("gp-ucb", {"width": 2.0}),
    "Gaussian moment-matched, TS": ("gp-ts", {"width": 1.0}),
    "Gaussian naive, UCB w = 2": ("gp-ucb", {"width": 2.0, **NAIVE}),
    "Gaussian naive, TS": ("gp-ts", {"width": 1.0, **NAIVE}),
    "uniform": ("random", {}),
}
LATE = {
    "Laplace-TS, 20 rounds late": ("laplace-ts", {}),
    "Laplace-UCB, w = 1, 20 rounds late": ("laplace-ucb", {}),
}
SHEET = {  # of an independent implementation, 20 trials of its own, for both bases
    "Laplace-UCB, w = 1": ("20.20 ± 4.19", "11.00 ± 2.44"),
    "Laplace-UCB, w = 2": ("21.62 ± 2.43", "11.32 ± 1.00"),
    "Laplace-TS": ("29.54 ± 3.71", "13.16 ± 1.23"),
    "MAP only": ("31.46 ± 7.97", "15.11 ± 3.10"),
    "mixture band (delta = .1)": ("49.95 ± 3.09", "31.80 ± 5.83"),
    GAUSSIAN: ("17.52 ± 1.83", "11.55 ± 1.09"),
    "Gaussian moment-matched, TS": ("24.76 ± 1.79", "13.87 ± 1.77"),
    "Gaussian naive, UCB w = 2": ("18.21 ± 1.49", "17.52 ± 2.00"),
    "Gaussian naive, TS": ("31.98 ± 2.61", "21.72 ± 3.02"),
    "uniform": ("109.2", "36.9"),
    "Laplace-TS, 20 rounds late": ("28.52 ± 1.81", "14.28 ± 1.40"),
    "Laplace-UCB, w = 1, 20 rounds late": ("19.58 ± 2.23", "11.67 ± 1.58"),
}
FIELDS = ("base", "agent", "trials", "regret", "se", "difference", "low", "high")
COUNTED = {"law": "poisson", "base": 0.0, "exposure": 5.0}
COUNTS: dict[str, tuple[str, dict[str, Any]]] = {
    label: AT_ONCE[label]
    for label in (
        "Laplace-UCB, w = 1",
        "Laplace-UCB, w = 2",
        "Laplace-TS",
        GAUSSIAN,
        "Gaussian moment-matched, TS",
        "uniform",
    )
}
ADS = {"law": "bernoulli", "base": -2.0}
TAKING = delays.Conversions(delays.GeometricDelay(20.0))
BY_AGE, REPORTED = "by age", "no delay, all outcomes reported"
AGES = {  # what plays without a conversion count as -> the law of delays that Laplace-TS assumes
    BY_AGE: TAKING,
    "as no click": delays.Conversions(delays.Immediate()),
    "not at all": None,
}
AGES_SHEET = {  # of an independent implementation, 20 trials
    REPORTED: "24.7 ± 2.4",
    BY_AGE: "26.4 ± 3.4",
    "as no click": "27.6 ± 3.3",
    "not at all": "31.5 ± 5.2",
}
ON_BOX = 150  # rounds on a box, which take longer than on arms
LEARNER = "DQN from scratch"
TAUGHT = 20  # trials of a learner, which takes seconds for each
OTHERS = ("problem", "agent", "trials", "regret", "se", "difference", "low", "high")
BANDS = ("base", "runs", "failed", "half_width_100", "half_width_500")
CHECKED = (19, 99, 199, 299, 399, 499)  # rounds in which a band is compared with the truth
SHOWN = (99, 499)


def problem(base: float, delay: int = 0) -> Problem:
    """Return the problem of one base rate, whose outcomes are so many rounds late."""
    late = delays.Constant(delay) if delay else delays.Immediate()
    return of_outcome({"law": "bernoulli", "base": base}, late)


def of_outcome(outcome: dict[str, Any], late: delays.Delay) -> Problem:
    """Return the problem of a law of outcomes and of delays."""
    decisions = unit_box("grid", 60, 1, 0, False)
    laws = matched(RKHSFunction(UNSHRUNK, NORM), KERNEL, decisions.points, outcome)
    mean = laws.reward.mean
    return Problem(
        decisions, laws.reward, laws.kernel, laws.noise, delay=late, horizon=HORIZON, prior_mean=mean
    )


def rows(base: float, trials: int) -> list[dict[str, Any]]:
    """Return final regrets, and where feedback is prompt paired differences to the moment-matched one."""
    prompt = evaluate(problem(base), AT_ONCE, trials=trials)
    late = evaluate(problem(base, 20), LATE, trials=trials)
    found = []
    for result, labels in ((prompt, AT_ONCE), (late, LATE)):
        for label in labels:
            regret = result.regret[label][:, -1]
            row = {"base": base, "agent": label, "trials": trials, "regret": regret.mean()}
            row["se"] = regret.std(ddof=1) / trials**0.5
            if result is prompt and label != GAUSSIAN:
                gap = paired_difference(regret, result.regret[GAUSSIAN][:, -1])
                row |= {"difference": gap.estimate, "low": gap.low, "high": gap.high}
            found.append(rounded(row))
    return found


def counted(trials: int) -> Iterator[dict[str, Any]]:
    """Yield final regrets on counts."""
    found = evaluate(of_outcome(COUNTED, delays.Immediate()), COUNTS, trials=trials)
    yield from compared("counts", {label: found.regret[label][:, -1] for label in COUNTS}, GAUSSIAN)


def aged(trials: int) -> Iterator[dict[str, Any]]:
    """Yield final regrets of Laplace-TS where conversions are late, by what it takes other plays for."""

    def playing(law: delays.Delay | None) -> Any:
        return lambda setting: agents.make("laplace-ts", setting.with_facts(delay=law))

    prompt = evaluate(of_outcome(ADS, delays.Immediate()), {REPORTED: "laplace-ts"}, trials=trials)
    late = evaluate(
        of_outcome(ADS, TAKING), {label: playing(law) for label, law in AGES.items()}, trials=trials
    )
    regret = {label: late.regret[label][:, -1] for label in AGES}
    yield from compared("conversions", {REPORTED: prompt.regret[REPORTED][:, -1]} | regret, BY_AGE)


def learner(trials: int) -> Iterator[dict[str, Any]]:
    """Yield the final regret on clicks, m0 = 0, of a learner that is given no model."""
    entrants = {LEARNER: "sb3-dqn", GAUSSIAN: AT_ONCE[GAUSSIAN]}
    found = evaluate(problem(0.0), entrants, trials=min(trials, TAUGHT))
    yield from compared("clicks", {label: found.regret[label][:, -1] for label in entrants}, GAUSSIAN)


def box(trials: int) -> Iterator[dict[str, Any]]:
    """Yield final regrets on rare clicks of points of a square."""
    place = {"continuous": True, "dim": 2, "horizon": ON_BOX, "outcome": ADS}
    found = evaluate("GPBandit-Clicks-v0", COUNTS, trials=trials, env_kwargs=place)
    yield from compared("box", {label: found.regret[label][:, -1] for label in COUNTS}, GAUSSIAN)


def compared(name: str, regret: dict[str, Any], baseline: str) -> Iterator[dict[str, Any]]:
    """Yield rows of final regrets, (B,) each, with paired differences to one of them."""
    for label, each in regret.items():
        row = {"problem": name, "agent": label, "trials": len(each), "regret": each.mean()}
        row["se"] = each.std(ddof=1) / len(each) ** 0.5
        if label != baseline:
            gap = paired_difference(each, regret[baseline])
            row |= {"difference": gap.estimate, "low": gap.low, "high": gap.high}
        yield rounded(row)


def band(base: float, runs: int) -> dict[str, Any]:
    """Return in how many runs of Laplace-UCB the mixture band failed, and half its mean width in p."""
    it, failed, widths = problem(base), 0, []
    for seed in range(runs):
        checks = list(checked(it, seed))
        failed += not all(held for held, _ in checks)
        widths.append([width for t, (_, width) in zip(CHECKED, checks, strict=True) if t in SHOWN])
    each = {f"half_width_{t + 1}": w for t, w in zip(SHOWN, np.mean(widths, axis=0), strict=True)}
    return rounded({"base": base, "runs": runs, "failed": failed, **each})


def checked(it: Problem, seed: int) -> Iterator[tuple[bool, float]]:
    """Yield in some rounds of a run whether the band holds the truth, and half its mean width in p."""
    env, context = make(it), np.zeros(1, dtype=np.int64)
    observation, _ = env.reset(seed=seed)
    law = env.get_wrapper_attr("setting").outcome
    truth = env.get_wrapper_attr("simulator").trials[0].means[0, 0]
    agent = agents.make("laplace-ucb", env)
    agent.reset(seed)
    for t in range(HORIZON):
        action = agent.act(observation)
        following, reward, _, _, info = env.step(action)
        agent.update(observation, action, reward, info)
        observation = following
        if t in CHECKED:
            mean = agent.belief.mean(context)[0] - law.base
            half = agent.belief.half_width(context, NORM, DELTA)[0]
            low, high = law.mean(mean - half), law.mean(mean + half)
            yield bool(((low <= truth) & (truth <= high)).all()), float((high - low).mean() / 2.0)


def rounded(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row of six digits."""
    return {name: f"{value:.6g}" if isinstance(value, float) else value for name, value in row.items()}


def tables(found: list[dict[str, str]], bands: list[dict[str, str]]) -> dict[str, list[str]]:
    """Lines of the page's tables: regrets beside an independent implementation's, and the bands."""
    regrets = ["| agent | m0 = 0 | independent | m0 = -3 | independent |", "|---|---|---|---|---|"]
    for label in (*AT_ONCE, *LATE):
        cells = []
        for base, sheet in zip(BASES, SHEET[label], strict=True):
            (row,) = [row for row in found if row["agent"] == label and float(row["base"]) == base]
            cells += [f"{float(row['regret']):.2f} ± {float(row['se']):.2f}", sheet]
        regrets.append(f"| {label} | {' | '.join(cells)} |")
    gaps = ["| agent less moment-matched UCB | m0 = 0 | m0 = -3 |", "|---|---|---|"]
    for label in AT_ONCE:
        if label != GAUSSIAN:
            each = [row for row in found if row["agent"] == label]
            cells = [
                f"{float(r['difference']):.2f} [{float(r['low']):.2f}, {float(r['high']):.2f}]" for r in each
            ]
            gaps.append(f"| {label} | {' | '.join(cells)} |")
    held = ["| m0 | failed | half the width in p at 100 | at 500 |", "|---|---|---|---|"]
    for row in bands:
        widths = (f"{float(row[name]):.3f}" for name in BANDS[3:])
        held.append(f"| {float(row['base']):g} | {row['failed']} of {row['runs']} | {' | '.join(widths)} |")
    return {"regret": regrets, "differences": gaps, "bands": held}


def tables_of_others(found: list[dict[str, str]]) -> dict[str, list[str]]:
    """Lines of the page's tables of the other problems."""
    made: dict[str, list[str]] = {}
    for row in found:
        name, mean = row["problem"], f"{float(row['regret']):.2f} ± {float(row['se']):.2f}"
        baseline = BY_AGE if name == "conversions" else GAUSSIAN
        cells = [row["agent"], mean, *([AGES_SHEET[row["agent"]]] if name == "conversions" else [])]
        gap = (
            f"{float(row['difference']):.2f} [{float(row['low']):.2f}, {float(row['high']):.2f}]"
            if row["low"]
            else "-"
        )
        first = ["plays without a conversion count", "regret", "independent"]
        heads = [*(first if name == "conversions" else ["agent", "regret"]), f"less {baseline}"]
        head = [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
        made.setdefault(name, head).append(f"| {' | '.join([*cells, gap])} |")
    return made


def read(folder: Path) -> list[list[dict[str, str]]]:
    """Return the rows of the files of results, none of one that is not made yet."""
    paths = [folder / f"clicks{part}.csv" for part in ("", "_bands", "_others")]
    texts = [path.read_text(encoding="utf-8") if path.exists() else "" for path in paths]
    return [list(csv.DictReader(text.splitlines())) for text in texts]


def write(path: Path, fields: Sequence[str], found: Sequence[dict[str, Any]]) -> None:
    """Store rows."""
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, fields, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(found)


FILES: dict[str, tuple[Sequence[str], Any]] = {
    "regret": (FIELDS, lambda trials, runs: [row for base in BASES for row in rows(base, trials)]),
    "bands": (BANDS, lambda trials, runs: [band(base, runs) for base in BASES]),
    "others": (
        OTHERS,
        lambda trials, runs: [row for part in (counted, aged, learner, box) for row in part(trials)],
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path)
    parser.add_argument("--page", type=Path, metavar="FOLDER")
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--only", action="append", choices=FILES, help="default: all")
    given = parser.parse_args()
    if given.page:
        *regrets, others = read(given.page)
        for lines in (*tables(*regrets).values(), *tables_of_others(others).values()):
            print(*lines, "", sep="\n")
        return
    for name in given.only or FILES:
        fields, compute = FILES[name]
        stored = "clicks" if name == "regret" else f"clicks_{name}"
        write(given.out / f"{stored}.csv", fields, compute(given.trials, given.runs))


if __name__ == "__main__":
    main()
