"""What a run says at its end of cells that failed, and where commands write unless they are told."""

from inspect import signature
from pathlib import Path

import pytest
import typer

from gpbandits.commands.progress import end_if_failed
from gpbandits.commands.ranking import leaderboard
from gpbandits.experiments.work import Outcome


@pytest.mark.parametrize(
    ("count", "said"),
    [
        (1, "1 cell failed; run the same command again to repeat it alone."),
        (2, "2 cells failed; run the same command again to repeat only these."),
    ],
)
def test_the_number_of_failed_cells_agrees_with_its_noun(count, said, capsys):
    failed = [Outcome(f"cell {i}", "RuntimeError: no") for i in range(count)]  # type: ignore[arg-type]
    with pytest.raises(typer.Exit):
        end_if_failed(failed)
    assert said in capsys.readouterr().err


def test_a_leaderboard_is_not_written_into_a_user_s_pages():
    assert signature(leaderboard).parameters["out"].default == Path("leaderboard")
