"""One table and one figure of a study over all its environments, for each of the two tracks of learners.

    gpbandits run examples/studies/rl-and-gp.toml --out results/rl-and-gp
    python examples/reinforcement/one_table.py results/rl-and-gp [--rounds 40000]

The first table has the agents of the study, which learn from scratch. The second has policies that were
trained beforehand on functions of the same class, one training an environment and algorithm; they play the
same trials, and its figure has those agents of the study too that belong to neither track. Each track has the
table of `Results`, with the best in bold, and one of shares: the cumulative regret at the horizon divided by
that of random play on the same trials, with 95 % bootstrap intervals over trials, and where there are
constraints the hard violation likewise; 0 is perfect, 1 is random. Trained policies are kept in
RESULTS/policies, and trained again only when their file is deleted.
`--keep FOLDER` writes the numbers of both tables there; `draw(kept(FOLDER), PATH)` draws a figure from them.
"""

import argparse
from collections.abc import Iterable
from dataclasses import replace
from math import ceil
from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

import agents
from bandit_envs.basics.types import Floats
from gpbandits import Result, Results, evaluate
from gpbandits.experiments import EnvironmentEntry, Study, load_study

RANDOM = "random"
TRAINED = {
    "PPO on statistics": ("ppo", 1),
    "RL² (recurrent PPO)": ("recurrent-ppo", 3),
}  # times --rounds
PANELS_ACROSS = 4
MODEL, LEARNER = "#0072B2", "#D55E00"  # colours of agents with a Gaussian process, and of learners


def share(values: Floats, reference: Floats) -> tuple[float, float, float]:
    """Ratio of the means over trials, with its 95 % bootstrap interval; trials are resampled in pairs."""
    rows = np.random.default_rng(0).integers(len(values), size=(4000, len(values)))
    low, high = np.quantile(values[rows].mean(axis=1) / reference[rows].mean(axis=1), [0.025, 0.975])
    return float(values.mean() / reference.mean()), float(low), float(high)


def columns(result: Result) -> dict[str, dict[str, Floats]]:
    """What is compared at the horizon, (B,) an agent, by the title of its column."""
    found = {result.environment: {label: regret[:, -1] for label, regret in result.regret.items()}}
    if result.num_constraints:
        violation = {label: sums[:, -1] for label, sums in result.hard_violation.items()}
        found[f"{result.environment}: violation"] = violation
    return found


def table(results: list[Result], labels: Iterable[str] | None = None) -> str:
    """Markdown: a row for each of these agents, by default all, and a column an environment."""
    found = {title: values for result in results for title, values in columns(result).items()}
    lines = [["agent", *found], ["---"] * (1 + len(found))]
    for label in results[0].agents if labels is None else labels:
        shares = [share(values[label], values[RANDOM]) for values in found.values()]
        cells = [f"{mean:.2f} [{low:.2f}, {high:.2f}]" for mean, low, high in shares]
        lines.append([results[0].marked(label), *cells])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def draw(results: list[Result], path: Path) -> None:
    """A panel an environment: the share of random play's regret of each agent, with its interval."""
    labels = [label for label in results[0].agents if label != RANDOM]
    across = min(len(results), PANELS_ACROSS)
    down = ceil(len(results) / across)
    figure = Figure(figsize=(1.5 + 2.4 * across, down * (0.8 + 0.2 * len(labels))), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(down, across, sharey=True, squeeze=False)
    for panel in panels.flat[len(results) :]:
        panel.set_axis_off()
    for panel, result in zip(panels.flat, results, strict=False):
        for row, label in enumerate(labels):
            mean, low, high = share(result.regret[label][:, -1], result.regret[RANDOM][:, -1])
            colour = LEARNER if label in result.tracks else MODEL
            panel.plot([low, high], [row, row], color=colour, lw=1.4)
            panel.plot(mean, row, "o", color=colour, ms=4)
        panel.axvline(1.0, color="0.4", lw=0.8, ls="--")
        panel.axvline(0.0, color="0.4", lw=0.8)
        panel.set_title(result.environment)
        panel.set_yticks(range(len(labels)), [results[0].marked(label) for label in labels])
        panel.grid(color="0.9", linewidth=0.6)
        panel.set_axisbelow(True)
        panel.spines[["top", "right"]].set_visible(False)
    panels[0, 0].invert_yaxis()
    figure.supxlabel(
        "regret at the horizon as a share of random play's (dashed), with 95 % interval; "
        "blue: Gaussian processes, orange: learners",
        fontsize="medium",
    )
    figure.savefig(path, dpi=120)


def trained(entry: EnvironmentEntry, study: Study, folder: Path, rounds: int, trials: int) -> Result:
    """Trained policies on the trials of the study; training that has been done is not repeated."""
    folder.mkdir(parents=True, exist_ok=True)
    chosen = {}
    for label, (algorithm, factor) in TRAINED.items():
        path = folder / f"{entry.file_name}-{algorithm}.pt"
        if not path.exists():
            agents.train_policy(
                entry.id, algorithm, env_kwargs=entry.kwargs, total_timesteps=factor * rounds
            ).save(path)
        chosen[label] = ("agents.rl:pretrained", {"path": str(path)})
    return evaluate(
        entry.id,
        chosen,
        trials=trials,
        seed=study.seed,
        env_kwargs=entry.kwargs,
        label=entry.label,
        checkpoints=study.checkpoints.of_run,
    )


def beside(policies: Result, scratch: Result) -> Result:
    """The trained policies, and of the study the agents that belong to neither track."""
    others = [label for label in scratch.agents if label not in scratch.tracks]
    kept = scratch.select(others)
    assert all(len(record.regret) == policies.num_trials for record in kept.records.values())
    return replace(
        policies, records=policies.records | kept.records, assuming=policies.assuming | kept.assuming
    )


def together(results: Iterable[Result]) -> Results:
    """Return the results of all environments, by label."""
    return Results({each.environment: each for each in results})


def kept(folder: Path) -> list[Result]:
    """Read the numbers of the table of a track."""
    return list(Results.load(folder).values())


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("results", type=Path, help="the folder that `gpbandits run` wrote")
    parser.add_argument("--rounds", type=int, default=40_000, help="of training; three times as many for RL²")
    parser.add_argument("--keep", type=Path, help="a folder for the numbers of both tables")
    options = parser.parse_args()
    study = load_study(options.results / "study.toml")
    stored = [
        Result.load(options.results / "results" / f"{entry.file_name}.parquet")
        for entry in study.environments
    ]
    of_track = {"from-scratch": together(stored)}
    print(of_track["from-scratch"].table(), table(stored), "", sep="\n\n")
    draw(stored, options.results / "from-scratch.png")
    second = []
    for entry, scratch in zip(study.environments, stored, strict=True):
        policies = trained(entry, study, options.results / "policies", options.rounds, scratch.num_trials)
        second.append(beside(policies, scratch))
    of_track["pretrained"] = together(second)
    print(of_track["pretrained"].table(), table(second, TRAINED), sep="\n\n")
    draw(second, options.results / "pretrained.png")
    if options.keep is not None:
        for track, results in of_track.items():
            together(each.condensed(()) for each in results.values()).save(
                options.keep / track, timings=False
            )


if __name__ == "__main__":
    main()
