"""What tests of tuners share."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from agents import Tuner
from agents.saving.files import read
from agents.tuning.history import TunerHistory, TunerRound
from agents.tuning.running import FORM


def content_of(tuner: Tuner) -> Any:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "tuner.json"
        tuner.save(path)
        return read(path, FORM)


def rounds_of(tuner: Tuner) -> tuple[TunerRound, ...]:
    return TunerHistory.from_data(content_of(tuner)["rounds"]).rounds
