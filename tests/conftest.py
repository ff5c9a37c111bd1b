"""What all tests share."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

from bandit_envs.data import find

os.environ.setdefault("MPLBACKEND", "Agg")  # figures are drawn without a screen

# A busy machine must not fail a test, and a failure must come back when it is run again.
settings.register_profile("suite", deadline=None, derandomize=True)
settings.load_profile("suite")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "needs_data(*files): skip where a public data file is neither in $GPBANDITS_DATA nor cached",
    )


def pytest_runtest_setup(item: pytest.Item) -> None:
    for marker in item.iter_markers("needs_data"):
        missing = [file for file in marker.args if find(file) is None]
        if missing:
            pytest.skip(
                f"{', '.join(missing)} not on this machine; set GPBANDITS_DATA to the folder that has it"
            )
