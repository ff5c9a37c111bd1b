"""Write the card of the real tasks in the Croissant format, with its responsible-AI fields.

    python tools/croissant.py

The text is that of `docs/card.md`; packages, checksums, tasks and licences are those of the suite. It writes
`docs/croissant.json`.
"""

import json
import re
from pathlib import Path
from typing import Any

from bandit_envs.data.files import packages
from bandit_envs.problems.real import tasks
from gpbandits.catalogue import source_of

DOCS = Path(__file__).parents[1] / "docs"
# The fields of the responsible-AI vocabulary, and the section of the card that answers each.
FIELDS = {
    "rai:dataUseCases": "Which claims it supports",
    "rai:dataLimitations": "Which claims it does not support",
    "rai:dataCollection": "How it was collected",
    "rai:dataBiases": "What is biased",
    "rai:personalSensitiveInformation": "Persons",
    "rai:dataReleaseMaintenancePlan": "Maintenance",
}
CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "citeAs": "cr:citeAs",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "field": "cr:field",
    "recordSet": "cr:recordSet",
}
COLUMNS = {
    "task": "Name in GPBandit-Real/<task>-v2.",
    "family": "What was measured beside the rewards.",
    "source": "Who publishes the measurements.",
    "licence": "Licence of the source.",
    "points": "Pairs of a context and a configuration.",
    "best": "Largest mean reward of one.",
}


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
        "version": "1.0.0",
        "datePublished": "2026-11-25",
        "license": sorted({source_of(task)[1] for task in tasks().values()} - {"none stated"}),
        "citeAs": said["How to cite"],
        "distribution": [_file(name) for name in packages()],
        "recordSet": [_records()],
        **{field: said[title] for field, title in FIELDS.items()},
    }


def _file(name: str) -> dict[str, Any]:
    package = packages()[name]
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": package.file,
        "contentUrl": f"https://pypi.org/project/{name}/{package.version}/",
        "contentSize": f"{package.megabytes} MB",
        "encodingFormat": "application/zip",
        "sha256": package.sha256,
    }


def _records() -> dict[str, Any]:
    rows = [
        dict(zip(COLUMNS, (name, task.family, *source_of(task), task.points, task.best), strict=True))
        for name, task in tasks().items()
    ]
    kinds = {"points": "sc:Integer", "best": "sc:Float"}
    return {
        "@type": "cr:RecordSet",
        "@id": "tasks",
        "name": "tasks",
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"tasks/{name}",
                "name": name,
                "description": said,
                "dataType": kinds.get(name, "sc:Text"),
            }
            for name, said in COLUMNS.items()
        ],
        "data": [{f"tasks/{name}": value for name, value in row.items()} for row in rows],
    }


def written() -> str:
    """Return the content of the file."""
    return json.dumps(card(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    (DOCS / "croissant.json").write_text(written(), encoding="utf-8")
