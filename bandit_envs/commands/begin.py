"""What every command that computes a study does first."""

from pathlib import Path

from bandit_envs.evaluation.files import write_whole
from bandit_envs.experiments import Store
from bandit_envs.experiments.folder import CELLS, STUDY


def begin(folder: Path, source: bytes) -> Store:
    """Keep the study's file in the folder, for `status`, `report`, `clean` and whoever resumes.

    Args:
        folder: of the results.
        source: the content of the file.

    Returns:
        The store of the folder's cells.
    """
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / STUDY, source)
    return Store(folder / CELLS)
