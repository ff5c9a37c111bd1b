"""What there is to play and who can play it, as rows of text."""

from agents.registry import names, resolve_agent
from bandit_envs.data.files import find
from bandit_envs.environment.registration import IDS
from bandit_envs.problems import FACTORIES, build, data_files


def environment_rows() -> list[tuple[str, ...]]:
    """Id, problem, number of arms, horizon, whether it has a box form, and its data, of each environment."""
    return [(env_id, *_problem_row(problem)) for env_id, problem in IDS.items()]


def agent_rows() -> list[tuple[str, ...]]:
    """Name, algorithm, and the features that it handles, of each registered agent."""
    return [(name, *_agent_row(name)) for name in names()]


def first_line(documented: object) -> str:
    """The first line of a docstring, without its full stop."""
    return (documented.__doc__ or "").strip().partition("\n")[0].removesuffix(".")


def _problem_row(name: str) -> tuple[str, ...]:
    summary = first_line(FACTORIES[name])
    files = data_files(name)
    if any(find(file) is None for file in files):
        return (summary, "?", "?", "no", "downloaded at first use")
    problem = build(name, {})
    box = "yes" if _has_box(name) else "no"
    return (
        summary,
        str(len(problem.decisions.arms)),
        str(problem.horizon),
        box,
        "found" if files else "not needed",
    )


def _has_box(name: str) -> bool:
    try:
        return build(name, {"continuous": True}).decisions.continuous
    except ValueError:
        return False


def _agent_row(name: str) -> tuple[str, ...]:
    try:
        factory = resolve_agent(name).make
    except Exception as error:  # somebody's broken package must not hide everybody else
        return (f"cannot be loaded: {error}", "")
    features = getattr(factory, "features", None)
    handled = features._asdict() if features is not None else {}
    return (first_line(factory), ", ".join(feature for feature, is_handled in handled.items() if is_handled))
