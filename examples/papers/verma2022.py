"""Who is better at which round of a study of delays: means, and differences paired by trial, as Markdown.

    gpbandits run examples/studies/verma2022-figure-1.toml --out results/figure-1
    python examples/papers/verma2022.py results/figure-1 --against "GP-UCB-SDF, m = 20" --rounds 50 100 500

prints one table an environment: the regret of each agent at these rounds with 95 % bootstrap intervals, and
below it the difference to the agent named. `--metric cumulative` does the same for cumulative regret.
docs/studies-delayed.md is made of these tables.
"""

import argparse
from pathlib import Path

from bandit_envs.evaluation import Result
from bandit_envs.evaluation.statistics import Interval, bootstrap_interval, paired_difference
from bandit_envs.evaluation.table import number


def main() -> None:
    """Print the tables of a folder of results."""
    parser = argparse.ArgumentParser(description="Print regret and paired differences as Markdown.")
    parser.add_argument("results", type=Path, help="folder that `gpbandits run --out` wrote")
    parser.add_argument("--against", required=True, help="label of the agent that the others are compared to")
    parser.add_argument("--rounds", type=int, nargs="+", default=[50, 100, 500])
    parser.add_argument("--metric", choices=("simple", "cumulative"), default="simple")
    given = parser.parse_args()
    for path in sorted((given.results / "results").glob("*.parquet")):
        result = Result.load(path)
        print(f"\n### {result.environment} ({result.num_trials} trials, seed {result.seed})\n")
        print("\n".join(table(result, given.metric, given.against, given.rounds)))


def table(result: Result, metric: str, against: str, rounds: list[int]) -> list[str]:
    """Lines of Markdown, one row an agent: regret at each round, then minus that of `against`."""
    curves = result.curves("simple" if metric == "simple" else "cumulative")
    columns = [int((result.rounds <= t).sum()) - 1 for t in rounds]
    header = ["agent", *(f"{metric} regret, t = {t}" for t in rounds), *(f"paired, t = {t}" for t in rounds)]
    lines = [_row(header), _row(["---"] * len(header))]
    for label, curve in curves.items():
        means = [text(bootstrap_interval(curve[:, i])) for i in columns]
        pairs = [text(paired_difference(curve[:, i], curves[against][:, i]), signed=True) for i in columns]
        lines.append(_row([label, *means, *(pairs if label != against else ["-"] * len(pairs))]))
    return lines


def text(interval: Interval, signed: bool = False) -> str:
    """An estimate and its interval."""
    estimate, low, high = (number(float(end), signed) for end in interval)
    return f"{estimate} [{low}, {high}]"


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
