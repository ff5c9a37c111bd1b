"""The standing of agents across environments: losses relative to a reference, ranks, and violations."""

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from bandit_envs.basics.types import Floats
from gpbandits.evaluation import statistics
from gpbandits.evaluation.formats import Cell, footnotes
from gpbandits.evaluation.measures import MEASURES, applies
from gpbandits.evaluation.result import Metric, Result
from gpbandits.evaluation.statistics import across as shares
from gpbandits.evaluation.table import Table

LONG_TERM, HARD = "long-term violation", "hard violation"
MEANING = (
    "A long-term constraint is kept on average: the long-term violation is the norm of the positive part of "
    "the summed costs, for which slack makes up, and is what agents for such constraints are made to keep at "
    "0; the hard violation sums the positive parts of the rounds, and is what the score charges. Both are "
    "relative to the mean of the reference agent, averaged over the environments with constraints."
)

KINDS: dict[str, Metric] = {LONG_TERM: "violation", HARD: "hard_violation"}
LOSSLESS = "the reference has no loss there, relative to which others' would be scored"
THRESHOLDS = np.linspace(-0.5, 1.0, 61)  # of scores, in profiles
WIDEST = 8  # environments that have a column each
NAMED = 5  # environments that a note names one by one

_METHOD = (
    "A round costs the positive part of its regret (of its budget regret where plays have a cost) and, where "
    "there are constraints, its violation; a "
    "trial's loss is the sum over rounds (under a budget the sum a unit of what was spent) relative to the "
    "mean of the reference agent ({}), of both equally. "
    "The score is 1 - loss: 1 plays optimally, 0 like the reference."
)
_INTERVALS = (
    "Scores are means over trials and environments, which weigh alike, with 95 % BCa intervals. The trials "
    "leave open the ranks from 1 + the number of agents that are significantly better (at best) to the "
    "number of agents less those that are significantly worse (at worst; Mogstad et al. 2024). All pairs are "
    "tested together on the same trials, by t-tests with Holm's correction in which no standard error counts "
    "as less than the first quartile of all. In simulations of 50 agents in 20 trials all these sets held "
    "the true ranks in 95 % of cases or more where agents have one law, however heavy its tails; in fewer "
    "where agents of equal means differ in rare large losses, since these trials may show none of them."
)
_FIRST = (
    "Where there are constraints ranks are by violation first, relative to the reference's: the least and "
    "what does not differ significantly from it, by regret, then the rest likewise. The sets are of true "
    "ranks by mean violation and, among equal ones, by regret: regret is tested for pairs of equal violation "
    "in every trial; others that do not differ significantly in violation are left open. In simulations of "
    "5 agents in 20 trials (normal, Laplace, lognormal, stuck in 15 %) the sets held all true ranks in 98 % "
    "of the cases or more."
)
_SAME = "Agents joined by = played the same in every trial and count as one."
DEFINITIONS = (_FIRST, MEANING, _SAME)  # the notes that say the same of all results


def relative_violation(results: Sequence[Result], label: str, reference: str, kind: str) -> float | None:
    """Return the mean violation relative to the reference's over environments with constraints; else None."""
    limited = [each for each in results if each.num_constraints and label in each.agents]
    ends = [each.at_end(each.curves(KINDS[kind])) for each in limited]
    means = [(float(each[label].mean()), float(each[reference].mean())) for each in ends]
    shares = [own / other for own, other in means if other > 0]
    return float(np.mean(shares)) if shares else None


class Standings:
    """Standings hold scores and ranks of the agents with results on every one of several environments."""

    def __init__(self, results: Sequence[Result], reference: str, notes: Sequence[str] = ()):
        if not results:
            raise ValueError("a leaderboard needs at least one environment with results, got none")
        self.results, self.reference, self.notes = list(results), reference, list(notes)
        self.constrained = any(result.num_constraints for result in self.results)
        everywhere = [x for x in results[0].agents if all(x in result.agents for result in results)]
        self.same = _same_plays(self.results, everywhere)
        self.losses = [relative_losses(result, reference) for result in results]
        self.scores = [statistics.normalised_scores(table, reference) for table in self.losses]
        trials = min(result.num_trials for result in results)
        mean = {
            label: np.mean([table[label][:trials] for table in self.losses], axis=0) for label in self.same
        }
        whole = {label: statistics.bootstrap_interval(1 - loss) for label, loss in mean.items()}
        self.overall_scores = {  # rounded, so that the reference's is exactly 0
            label: statistics.Interval(*(np.round(end, 12) + 0.0 for end in ends))
            for label, ends in whole.items()
        }
        if self.constrained:
            asked = [each.at_end(each.curves(each.asked)) for each in self.results if each.asked]
            violation = self._relative([(own, own) for own in asked])
            lost = [(each.at_end(each.main), each.at_end(each.running("lost"))) for each in self.results]
            regret = self._relative(lost)
            self.ranks = statistics.rank_sets(regret, first=violation)
        else:
            self.ranks = statistics.rank_sets(mean)

    @property
    def agents(self) -> list[str]:
        """Return labels, best rank first; agents with identical actions share one."""
        return sorted(self.ranks, key=lambda label: self.ranks[label].place)

    @cached_property
    def absent(self) -> dict[str, list[str]]:
        """Map each agent that is not ranked to the environments without results of it."""
        labels = dict.fromkeys(label for result in self.results for label in result.agents)
        lacking = {x: [r.environment for r in self.results if x not in r.agents] for x in labels}
        return {label: places for label, places in lacking.items() if places}

    def of(self, label: str) -> list[Floats]:
        """Return the scores of an agent in the environments, (B,) each."""
        return [table[label] for table in self.scores]

    def profile(self, label: str) -> statistics.Interval:
        """Return the share of the agent's trials that score above each of `THRESHOLDS`."""
        return statistics.performance_profile(self.of(label), THRESHOLDS)

    def marked(self, label: str) -> str:
        """Return the label with its marks, joined by " = " with the agents of identical actions."""
        return " = ".join(
            next(result.marked(each) for result in self.results if each in result.agents)
            for each in self.same.get(label, (label,))
        )

    def _relative(self, ends: Sequence[tuple[dict[str, Floats], dict[str, Floats]]]) -> dict[str, Floats]:
        """Return final values over the reference's mean of second ones, averaged where that is not 0."""
        trials = min(result.num_trials for result in self.results)
        scales = [scale[self.reference].mean() for _, scale in ends]
        usable = [(own, scale) for (own, _), scale in zip(ends, scales, strict=True) if scale > 0]
        shares = {x: [own[x][:trials] / scale for own, scale in usable] for x in self.same}
        return {label: np.mean([*each] or [np.zeros(trials)], axis=0) for label, each in shares.items()}

    @property
    def wide(self) -> bool:
        """Return True if there are too many environments for a column each; see `by_environment`."""
        return len(self.results) > WIDEST

    def overall(self) -> Table:
        """Return the table of ranks, scores and, unless it is `wide`, mean scores in each environment."""
        kinds = list(KINDS) if self.constrained else []
        # With one environment its score is the overall one.
        several = slice(0 if self.wide or len(self.results) == 1 else None)
        rows: list[tuple[Cell, ...]] = [
            (
                self.marked(label),
                *self.ranks[label],
                self.overall_scores[label],
                *(_mean(scores) for scores in self.of(label)[several]),
                *(relative_violation(self.results, label, self.reference, kind) for kind in kinds),
            )
            for label in self.agents
        ]
        first = sum(rank.low == 1 for rank in self.ranks.values())
        notes = (
            self._size,
            _METHOD.format(self.reference),
            _INTERVALS,
            *([_FIRST] if self.constrained else []),
            f"The trials leave the first place open to {first} of {len(self.ranks)}.",
            *([_SAME] if any(len(group) > 1 for group in self.same.values()) else []),
            *(
                f"Not ranked, without results on {where}: {', '.join(who)}."
                for where, who in by_places(self.absent).items()
            ),
            *([MEANING] if kinds else []),
            *self.notes,
            *footnotes(*self.results),
        )
        names = [result.environment for result in self.results][several]
        header = ("agent", "rank", "at best", "at worst", "score", *names, *kinds)
        return Table("Across environments", header, tuple(rows), notes, name="overall")

    def by_environment(self) -> Table:
        """Return the table of mean scores, a line an environment and a column an agent."""
        rows = [
            (result.environment.removeprefix("Real/"), *(_mean(scores[label]) for label in self.agents))
            for result, scores in zip(self.results, self.scores, strict=True)
        ]
        header = ("environment", *map(self.marked, self.agents))
        return Table("Scores in each environment", header, tuple(rows), (), name="by-environment")

    def improvement(self) -> Table:
        """Compare every agent with the first one that is neither privileged nor trained beforehand."""
        plain = [x for x in self.agents if all(result.comparable(x) for result in self.results)]
        best = (plain or self.agents)[0]
        name, others = self.marked(best), [label for label in self.agents if label != best]
        pairs = {x: [(losses[x], losses[best]) for losses in self.losses] for x in others}
        rows = tuple((self.marked(x), statistics.mean_improvement(each)) for x, each in pairs.items())
        method = (
            f"The probability of a smaller loss than {name}, the first by rank: the share of trials, "
            "ties half, of each environment, averaged over them (Agarwal et al. 2021); 95 % percentile "
            f"intervals of a bootstrap of trials within environments ({shares.RESAMPLES} resamples), which "
            "have no width where all trials agree."
        )
        header = ("agent", f"P(less than {name})")
        notes = (self._size, method, *footnotes(*self.results))
        return Table(f"Probability of improvement over {name}", header, rows, notes, name="improvement")

    @property
    def _size(self) -> str:
        counts = sorted({result.num_trials for result in self.results})
        trials = " to ".join(map(str, counts[:: max(len(counts) - 1, 1)]))
        return f"n = {trials} trials of each agent on each environment."


def by_places(places: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Return the names that have the same places, by these as text; many places are a number."""
    names: dict[str, list[str]] = {}
    for name, own in places.items():
        where = ", ".join(own) if len(own) <= NAMED else f"{len(own)} environments"
        names.setdefault(where, []).append(name)
    return names


def relative_losses(result: Result, reference: str) -> dict[str, Floats]:
    """Return the loss of each trial relative to the reference's mean, (B,) an agent.

    The loss is the positive part of the regret, so that violating a constraint does not lower it, averaged
    with the norm of the violation. Under a budget both are a unit of what was spent, so that nobody gains by
    a play that the budget cannot pay, which ends the trial.
    """
    if reference not in result.agents:
        raise ValueError(f"the reference {reference!r} has no result on {result.environment!r}; add it")
    if not has_loss(result, reference):
        raise ValueError(f"the reference {reference!r} has no loss on {result.environment!r}")
    scaled = [(part, part[reference].mean()) for part in _parts(result)]
    return {
        label: np.mean([part[label] / scale for part, scale in scaled if scale > 0], axis=0)
        for label in result.agents
    }


def _same_plays(results: Sequence[Result], labels: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Group labels with identical actions and regrets, by the first of each group."""
    groups: dict[tuple[bytes, ...], list[str]] = {}
    for label in labels:
        records = [result.records[label] for result in results]
        plays = tuple(part.tobytes() for each in records for part in (each.action, each.regret))
        groups.setdefault(plays, []).append(label)
    return {group[0]: tuple(group) for group in groups.values()}


def has_loss(result: Result, reference: str) -> bool:
    """Return True if the reference has a result with some loss, which sets the scale of scores."""
    return reference in result.agents and any(part[reference].any() for part in _parts(result))


def _parts(result: Result) -> list[dict[str, Floats]]:
    """Return positive (budget) regret and, with constraints, violation, summed over rounds, (B,) an agent."""
    losses = [each for each in MEASURES.values() if each.loss and applies(each.needs, result)]
    return [result.at_end(result.running(each.name)) for each in losses]


def _mean(scores: Floats) -> float:
    return round(float(scores.mean()), 12) + 0.0  # rounded, so that the reference's is exactly 0
