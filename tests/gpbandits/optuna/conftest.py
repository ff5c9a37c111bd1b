"""Packages for OptunaHub, loaded as the hub loads them."""

from __future__ import annotations

from typing import Any

import optuna
import pytest


@pytest.fixture(scope="module")
def hub(request: pytest.FixtureRequest) -> Any:
    """The package at the test module's `PACKAGE`, below its `REGISTRY`."""
    optunahub = pytest.importorskip("optunahub", reason="optunahub is not installed")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    registry, package = request.module.REGISTRY, request.module.PACKAGE
    return optunahub.load_local_module(package.relative_to(registry).as_posix(), registry_root=str(registry))
