"""The manual of an environment: its docstring in Gymnasium's headings, and a line for each keyword."""

import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

from bandit_envs.problem.problem import Problem
from bandit_envs.problems.by_name import FACTORIES, PRESET_OF, keywords_of
from bandit_envs.problems.features import compose
from bandit_envs.problems.synthetic import synthetic

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
    for documented in (factory, PRESET_OF.get(factory, factory), synthetic, compose, Problem):
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
