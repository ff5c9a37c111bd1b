"""Write the leaderboard of real tasks, docs/leaderboard-real.md, from the archived trials.

    python tools/real_board.py

`gpbandits leaderboard --suite real` plays what it ranks; the archive was filled part by part, so that its
page is made from the files alone.
"""

from pathlib import Path

from bandit_envs.problems.real import tasks
from gpbandits.evaluation import Result
from gpbandits.report.board import write_board
from gpbandits.report.entrants import REFERENCE, unit_of_task
from gpbandits.report.standings import Standings

DOCS = Path(__file__).parents[1] / "docs"
ARCHIVE = DOCS / "results" / "real"
# Where slow libraries play too, in fewer trials; chosen by name before any of them was played.
ARCHIVE_OF_FIVE = DOCS / "results" / "real-five"
FIVE = ("digits-repeat", "digits-late", "hpob-5889-9971", "perovskite", "printed-lines")
WHO = "agents that are recommended, references, and some of other libraries"
FORMER = '`composed` is `gp-agent` before it was made for these tasks, today `gp-agent` with `rule="ucb"`. '
FORMER += (
    "Under Five stand tasks of four families on which BoTorch plays too: they were chosen by name before it "
    "had played any."
)
NONE, ALONE = "not measured yet", "played by `gp-agent` and random play alone, so far"
SLOW = "they take 50 ms a round and more"


def main() -> None:
    """Write page, figures and tables."""
    found = {name: ARCHIVE / f"{name}.parquet" for name in tasks()}
    results = {name: Result.load(path) for name, path in found.items() if path.exists()}
    ranked = {name: result for name, result in results.items() if len(result.agents) > 2}
    classes: dict[str, list[Result]] = {}
    for name, result in ranked.items():
        classes.setdefault(tasks()[name].family, []).append(result)
    classes["five"] = [Result.load(ARCHIVE_OF_FIVE / f"{name}.parquet") for name in FIVE]
    classes["all"] = list(ranked.values())
    standings = {name: Standings(own, REFERENCE) for name, own in classes.items()}
    units = {result.environment: unit_of_task(result.environment) for result in ranked.values()}
    left = {
        NONE: [name for name in tasks() if name not in results],
        ALONE: [n for n in results if n not in ranked],
    }
    excluded = [(name, why) for why, names in left.items() for name in names]
    excluded += [
        ("sb3-*", SLOW),
        ("BoTorch", f"{SLOW}; ranked under Five alone"),
        ("SMAC", f"{SLOW}; ranked under Five alone"),
    ]
    page = write_board(
        standings, DOCS, "python tools/real_board.py", excluded, "leaderboard-real", WHO, units, site=True
    )
    head, tables = page.read_text(encoding="utf-8").split("\n## ", 1)
    page.write_text(f"{head}\n{FORMER}\n\n## {tables}", encoding="utf-8")


if __name__ == "__main__":
    main()
