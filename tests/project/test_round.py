"""A round of the plainest agent stays short enough to be read in one sitting."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "one_round.py"


def test_a_round_of_gp_ucb_is_55_calls_in_17_files_and_one_object():
    spec = importlib.util.spec_from_file_location("one_round", BENCHMARK)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    tracer = sys.getprofile()
    calls, deep = module.count("gp-ucb", "GPBandit-GP-v0")
    sys.setprofile(tracer)
    assert calls.total() <= 55
    assert len({name for name, _ in calls}) <= 17
    assert deep == 1
