"""Draw the figure of the paper, in a minute: `python paper/figure.py`."""

from pathlib import Path

from gpbandits import evaluate

ENVIRONMENTS = {
    "immediate feedback": ("GPBandit-GP-v0", {"horizon": 200}),
    "delayed feedback": ("GPBandit-Delayed-v0", {"horizon": 200}),
}
AGENTS = ["gp-ucb", "gp-bucb", "gp-ts", "random"]


def main(folder: Path = Path(__file__).parent) -> None:
    """Play and draw."""
    results = evaluate(ENVIRONMENTS, AGENTS, trials=20)
    results.plot(scale="log-log").savefig(folder / "figure.png", dpi=130, bbox_inches="tight")


if __name__ == "__main__":
    main()
