"""Make named problems: each factory turns JSON-able keyword arguments into a `Problem`."""

import inspect
import re
from collections.abc import Callable, Collection, Iterator
from typing import Any

from bandit_envs.basics.arguments import entry, hint, plain, shown
from bandit_envs.problem.problem import Problem
from bandit_envs.problems import benchmarks, hard, real, recorded, synthetic, table, tuning
from bandit_envs.problems.features import FEATURES, compose, noted_defaults

__all__ = ["FACTORIES", "UnknownKeywordError", "build", "data_files", "defaults_of", "keywords_of"]

FACTORIES: dict[str, Callable[..., Problem]] = {
    "gp": synthetic.gp,
    "rkhs": synthetic.rkhs,
    "delayed": synthetic.delayed,
    "contextual": synthetic.contextual,
    "constrained": synthetic.constrained,
    "duel": synthetic.duel,
    "hard": hard.hard,
    "budget": synthetic.budgeted,
    "clicks": synthetic.clicks,
    "piecewise-stationary": synthetic.piecewise_stationary,
    "composite": synthetic.composite,
    "rosenbrock": benchmarks.rosenbrock,
    "hartmann3": benchmarks.hartmann3,
    "hartmann6": benchmarks.hartmann6,
    "branin": benchmarks.branin,
    "ackley": benchmarks.ackley,
    "small-feasible-region": benchmarks.small_feasible_region,
    "data-rate-allocation": benchmarks.data_rate_allocation,
    "intel-temperature": recorded.intel_temperature,
    "cmu-light": recorded.cmu_light,
    "logistic-tuning": tuning.logistic_tuning,
    "cnn-tuning": tuning.cnn_tuning,
    "svm-tuning": tuning.svm_tuning,
    "multi-task-svm": tuning.multi_task_svm,
    "growing-data-svm": tuning.growing_data_svm,
    "real": real.real,
    "table": table.table,
}

SWITCHES = ("delay", "context", "changes", "constraints")  # keywords that False switches off, as None does

# Prefixes of the names of data files; other problems need no data.
DATA_OF = {"intel-temperature": "intel_temperature", "cmu-light": "cmu_light", "multi-task-svm": "tst_svm/"}

# Presets pass their keywords to the factory of their module whose defaults they change.
GENERAL = {synthetic: synthetic.synthetic, benchmarks: benchmarks.benchmark, recorded: recorded.sensors}
PRESET_OF: dict[Callable[..., Problem], Callable[..., Problem]] = {
    f: own for of, own in GENERAL.items() for f in FACTORIES.values() if f.__module__ == of.__name__
}


class UnknownKeywordError(TypeError, ValueError):
    """Report a keyword that the problem does not take: a TypeError as in Python, and our ValueError.

    Its message has Python's phrase "unexpected keyword argument": loaders that pass keywords of their own,
    such as TorchRL's, make an environment again without those that are refused in these words.
    """


def build(problem: str | Problem, keywords: dict[str, Any]) -> Problem:
    """Return the named problem with the given keyword arguments, or a `Problem` unchanged."""
    if isinstance(problem, Problem):
        if keywords:
            raise UnknownKeywordError(
                f"a Problem got an unexpected keyword argument {next(iter(keywords))!r}; it takes none"
            )
        return problem
    if not isinstance(problem, str) or problem not in FACTORIES:
        raise ValueError(f"unknown problem {shown(problem)}; choose one of {', '.join(FACTORIES)}")
    unknown = [key for key in keywords if key not in keywords_of(problem)]
    if unknown:
        allowed = keywords_of(problem)
        close = hint(unknown[0], allowed)
        raise UnknownKeywordError(
            f"{problem!r} got an unexpected keyword argument {unknown[0]!r}{close}; "
            f"it takes {', '.join(allowed)}"
        )
    with entry(f"problem {problem!r}"):
        return FACTORIES[problem](**plain(_switched(keywords, keywords_of(problem))))


def _switched(keywords: dict[str, Any], allowed: Collection[str]) -> dict[str, Any]:
    """Return keywords in which False, which TOML has, is None; without a context there is one alone."""
    off = {key for key in SWITCHES if keywords.get(key) is False}
    single = {"num_contexts": 1} if "context" in off and "num_contexts" in allowed else {}
    return {**single, **keywords, **dict.fromkeys(off)}


def data_files(problem: str) -> list[str]:
    """Return the data files that a named problem needs, as `bandit_envs.data.find` takes them."""
    from bandit_envs.data.files import sources

    return [file for file in sources() if problem in DATA_OF and file.startswith(DATA_OF[problem])]


def keywords_of(problem: str) -> list[str]:
    """Return the keyword arguments that a named problem takes."""
    return list(_of_factory(problem))


def defaults_of(problem: str) -> dict[str, Any]:
    """Return the keyword arguments of a named problem with their defaults; it makes the problem once."""
    with noted_defaults() as own:
        build(problem, {})
    return {key: own.get(key, default) for key, default in _of_factory(problem).items()}


def _of_factory(problem: str) -> dict[str, Any]:
    factory = FACTORIES[problem]
    own = inspect.signature(PRESET_OF.get(factory, factory)).parameters.values()
    taken = {p.name: p.default for p in own if p.kind is p.KEYWORD_ONLY and p.name != "name"}
    return taken | FEATURES


# Words before a colon in a docstring -> heading of Gymnasium's pages.
HEADINGS = {
    "Action": "Action Space",
    "Observation": "Observation Space",
    "Reward": "Rewards",
    "Regret": "Regret",
}
DESCRIPTION, STARTING, END = "Description", "Starting State", "Episode End"
USUAL = {
    "Action Space": "`Discrete(A)`, one of the points; the box where `continuous=True` is possible.",
    "Observation Space": "A constant 0, or the context in [0, 1].",
    "Rewards": "The sum of the noisy rewards whose feedback is delivered in the round.",
    "Regret": "To the best arm, noiseless, charged at play time.",
    STARTING: "Round 0 with nothing observed. A reset draws functions, noise, delays, contexts and "
    "change-points anew from its seed; `function_seed` keeps the functions.",
    END: "Truncated after `horizon` rounds; terminated only where plays draw on a budget and none is left.",
}
LONGEST = 110  # characters of a line on a keyword
_LABEL = re.compile(rf"\b({'|'.join(HEADINGS)}|Info|Keywords): ")
_SENTENCE = re.compile(r"(?<=[^.A-Z])\. (?=[A-Z`\d])")
_SPEC = re.compile(r'\{"law": ("[^,}]*").*?\}(?:: |, |\. )?')  # a law as a dict, with the names of laws
_REFERS = re.compile(r"as for `synthetic`|see `Problem`")  # to a docstring that is read later
_ITEM = re.compile(r"(\*{0,2}\w+(?:, \*{0,2}\w+)*): (.*)")


def sections(problem: str) -> dict[str, str]:
    """Return the texts of a named problem by heading, and the usual ones where its docstring says nothing."""
    prose = _prose(FACTORIES[problem])
    found: dict[str, str] = {}
    description = []
    for paragraph in prose:
        plain, *labelled = _LABEL.split(paragraph)
        rest = [plain.strip()]
        for label, text in zip(labelled[::2], labelled[1::2], strict=True):
            first, *others = _SENTENCE.split(text.strip())
            if label in HEADINGS:
                found[HEADINGS[label]] = _opened(f"{first.rstrip('.')}.")
            rest += [f"{each.rstrip('.')}." for each in others]
        description.append(" ".join(filter(None, rest)))
    return {DESCRIPTION: "\n\n".join(filter(None, description)), **USUAL, **found}


def example(problem: str) -> str:
    """Return the example of a named problem, as it is typed; "" without one."""
    _, _, after = (inspect.getdoc(FACTORIES[problem]) or "").partition("Example:\n")
    return "\n".join(line.strip() for line in after.splitlines() if line.strip().startswith((">>>", "...")))


def meanings(problem: str) -> dict[str, str]:
    """Return a line on each keyword that a named problem takes, of its docstring or a general one."""
    factory = FACTORIES[problem]
    known: dict[str, str] = {}
    for documented in (factory, PRESET_OF.get(factory, factory), synthetic.synthetic, compose, Problem):
        said = {name: text for name, text in _arguments(documented) if not _REFERS.match(text)}
        known = said | known
    return {keyword: _line(known.get(keyword, "")) for keyword in keywords_of(problem)}


def _prose(documented: Callable[..., Any]) -> list[str]:
    """Return the paragraphs of a docstring before its arguments and example, each in one line."""
    text = re.split(r"\n\n(?:Args|Example):\n", inspect.getdoc(documented) or "")[0]
    return [" ".join(paragraph.split()) for paragraph in text.split("\n\n")]


def _arguments(documented: Callable[..., Any]) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each argument that a docstring describes."""
    _, _, after = (inspect.getdoc(documented) or "").partition("\nArgs:\n")
    names: list[str] = []
    texts: list[str] = []
    for line in (*after.split("\n\n")[0].splitlines(), "    end: "):
        item = _ITEM.fullmatch(line[4:]) if line[4:5].strip() else None
        if item is None:
            texts.append(line.strip())
            continue
        yield from ((name, " ".join(texts)) for name in names)
        names, texts = item[1].split(", "), [item[2]]


def _line(text: str) -> str:
    """Return the first sentence, and of a long one what stands before its first semicolon.

    Of a dict that describes a law the names of laws stand last.
    """
    spec = _SPEC.match(text)
    laws = f"; laws: {spec[1]}" if spec else ""
    first = _SENTENCE.split(text[spec.end() :] if spec else text)[0].rstrip(".")
    if len(first) > LONGEST:
        first = re.sub(r" \([^()]*\)", "", first).split("; ")[0]
    return first + laws


def _opened(text: str) -> str:
    """Return a text as the beginning of a paragraph; symbols and code stay as they are."""
    return text[:1].upper() + text[1:] if re.match(r"a |[a-z]{2,}\b(?![(_])", text) else text
