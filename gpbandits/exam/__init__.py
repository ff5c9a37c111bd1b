"""The exam plays tests of others and prints their published numbers beside ours.

A part is a class, registered here by its name.
"""

from gpbandits.exam.boxes import Boxes
from gpbandits.exam.part import ExamPart, ExamReport, Sitting
from gpbandits.exam.played import PlayedPart
from gpbandits.exam.tables import HPOB, CrossedBarrel, RealTasks

__all__ = ["PARTS", "QUICK", "ExamPart", "ExamReport", "PlayedPart", "Sitting"]

PARTS: dict[str, ExamPart] = {part.name: part for part in (HPOB(), CrossedBarrel(), Boxes(), RealTasks())}
QUICK = tuple(name for name, part in PARTS.items() if isinstance(part, PlayedPart))  # where none is named
