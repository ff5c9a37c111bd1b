"""The studies of Chowdhury & Gopalan (2017) have "all parameters exactly as in previous experiment"."""

from pathlib import Path

import pytest

from bandit_envs.problems import build
from gpbandits.experiments import load_study

STUDIES = sorted((Path(__file__).parents[3] / "examples" / "studies").glob("chowdhury2017-*.toml"))
OURS = ("B = 1", "true norm")  # in the labels of readings


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_trials_horizon_and_bound_are_those_of_the_first_figure(path):
    study = load_study(path)
    assert study.trials == 25
    papers = [entry for entry in study.environments if not any(own in entry.label for own in OURS)]
    assert len(papers) >= 2
    assert {entry.kwargs["rkhs_bound"] for entry in papers} == {"paper"}
    given = {entry.kwargs.get("horizon", build("rkhs", {}).horizon) for entry in study.environments}
    assert given == {30_000}
