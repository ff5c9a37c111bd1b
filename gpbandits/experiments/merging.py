"""Folders of one study that were computed apart become one, and what does not agree is named."""

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bandit_envs.basics.arguments import require
from bandit_envs.basics.files import whole_file
from gpbandits.experiments.cells import Survey, same_numbers
from gpbandits.experiments.store import CELLS, PLAN, STUDY, Plan, Store, failure_beside, load_plan
from gpbandits.experiments.toml import document_of

MOST = 5  # conflicts that a message lists


class Merged(NamedTuple):
    """A merge has the number of cells that were taken from each folder, and the state of the whole."""

    taken: dict[str, int]  # by folder
    faults: list[str]  # why files were left out
    whole: Survey


def merge(folders: Sequence[str | os.PathLike[str]], out: str | os.PathLike[str]) -> Merged:
    """Write the cells of all folders of results to another, whose own cells stay.

    Nothing is written unless all agree.

    Args:
        folders: of results of the same study, computed by the same code.
        out: a new folder, or one of results of the study, which may be one of the folders.

    Raises:
        ValueError: the studies, their code, or the numbers of a cell differ; the message names them.
    """
    require(len(folders) > 0, "folders", "at least one", folders)
    places = [Path(folder) for folder in folders]
    target = Path(out)
    if (target / PLAN).is_file() and target.resolve() not in [place.resolve() for place in places]:
        places.insert(0, target)
    fresh = not target.exists() or (target.is_dir() and not any(target.iterdir()))
    usable = fresh or (target / PLAN).is_file()
    require(usable, "--out", "a new folder or one of results of the study", str(out))
    for place in places:
        known = (place / PLAN).is_file()
        require(known, "a folder to merge", f"one of results, with a {PLAN}", str(place))
    plans = {place: load_plan(place / PLAN) for place in places}
    first = places[0]
    for place in places[1:]:
        _require_same(first, plans[first], place, plans[place])
    stores = {place: Store(place / CELLS, plan.code) for place, plan in plans.items()}
    surveys = {place: store.survey(plans[place].study) for place, store in stores.items()}
    _require_agreement(surveys, stores)
    merged = Store(target / CELLS, plans[first].code)
    taken = _copied(surveys, stores, first, target)
    faults = [fault for known in surveys.values() for fault in known.faults.values()]
    return Merged(taken, faults, merged.survey(plans[first].study))


def _require_same(first: Path, one: Plan, second: Path, other: Plan) -> None:
    """Raise, with the first difference by its path, unless two plans are of the same study and code."""
    again = "cells of other code have other names: run the study again in one of them with the same"
    for what, remedy, pair in (
        ("study", "run the same study file in both", (document_of(one.study), document_of(other.study))),
        ("code", again, (one.codes, other.codes)),
    ):
        for name, here, there in _differences(*pair):
            raise ValueError(
                f"the {what} of the folders must be the same, got {name} {here!r} in {first} and "
                f"{there!r} in {second}; {remedy}"
            )


def _differences(one: Any, other: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for name in sorted(one.keys() | other.keys()):
            yield from _differences(one.get(name), other.get(name), f"{path}.{name}" if path else str(name))
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for i, pair in enumerate(zip(one, other, strict=True)):
            yield from _differences(*pair, f"{path}[{i}]")
    elif one != other:
        yield path, one, other


def _require_agreement(surveys: Mapping[Path, Survey], stores: Mapping[Path, Store]) -> None:
    """Raise unless cells that several folders have hold the same numbers in all."""
    conflicts, holders = [], dict[str, Path]()
    for place, known in surveys.items():
        for cell, key in zip(known.cells, known.keys, strict=True):
            if key not in known.valid:
                continue
            first = holders.setdefault(key, place)
            files = [stores[each].folder / f"{key}.parquet" for each in (first, place)]
            if first != place and not same_numbers(*files):
                conflicts.append(f"{cell} ({files[0]} and {files[1]})")
    if conflicts:
        more = f" and {len(conflicts) - MOST} more" if len(conflicts) > MOST else ""
        raise ValueError(
            f"{len(conflicts)} cells have other numbers in two folders: {'; '.join(conflicts[:MOST])}{more}; "
            "find out which machine is wrong, remove its files, and merge again"
        )


def _copied(
    surveys: Mapping[Path, Survey], stores: Mapping[Path, Store], first: Path, target: Path
) -> dict[str, int]:
    """Copy the study, cells, and tracebacks of cells that no folder has; return the cells by folder."""
    cells = target / CELLS
    cells.mkdir(parents=True, exist_ok=True)
    if not (target / PLAN).is_file():
        for name in (STUDY, PLAN):
            _copy(first / name, target / name)
    done: set[str] = set()
    taken = {}
    for place, known in surveys.items():
        fresh = [key for key in known.keys if key in known.valid and key not in done]
        done.update(fresh)
        taken[str(place)] = len(fresh)
        for key in fresh:
            _copy(stores[place].folder / f"{key}.parquet", cells / f"{key}.parquet")
    for place, known in surveys.items():
        for key in known.failed - done:
            source = failure_beside(stores[place].folder / f"{key}.parquet")
            _copy(source, cells / source.name)
    return taken


def _copy(source: Path, path: Path) -> None:
    """Copy a file whole, unless it is there as the same file."""
    if path.exists() and path.samefile(source):
        return
    with source.open("rb") as read, whole_file(path) as written:
        shutil.copyfileobj(read, written)
