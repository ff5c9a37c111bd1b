"""What a long history costs a `Tuner` on a box: a question, saving, and loading beside playing it all again.

    python benchmarks/tuner_load.py --results 1000
    python benchmarks/tuner_load.py --results 200 --replay

Half of the results are past data, so that the agent is asked for the other half. Prints CPU seconds of
one process, and ratios to the median question, which other machines share.
"""

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before numpy is imported: one core

import argparse
import tempfile
from pathlib import Path

import numpy as np
from tuner import timed

from agents import Linear, Tuner
from agents.saving.files import read, write
from agents.tuning.running import FORM


def tuned(results: int) -> tuple[Tuner, list[float]]:
    """A tuner with so many results, and what each of its questions took."""
    rng = np.random.default_rng(0)

    def value(parameters: dict[str, float]) -> float:
        x, y = parameters["x"], parameters["y"]
        return -((x - 0.3) ** 2) - (y - 0.6) ** 2 + 0.1 * np.sin(9.0 * x) + 0.01 * rng.standard_normal()

    tuner, taken = Tuner({"x": Linear(0, 1), "y": Linear(0, 1)}, budget=results), []
    for _ in range(results // 2):
        past = {"x": float(rng.random()), "y": float(rng.random())}
        tuner.add(past, value(past))
    for _ in range(results - results // 2):
        seconds, (ticket, parameters) = timed(tuner.ask)
        tuner.tell(ticket, value(parameters))
        taken.append(seconds)
    return tuner, taken


def main() -> None:
    """Print a line a step."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--results", type=int, default=1000)
    parser.add_argument("--replay", action="store_true", help="also load without the notes, which takes long")
    given = parser.parse_args()
    tuner, taken = tuned(given.results)
    unit = float(np.median(taken))

    def show(what: str, seconds: float) -> None:
        print(f"{what:28} {seconds:8.3f} s  {seconds / unit:7.1f} questions", flush=True)

    show("a question, median", unit)
    show("a question, the longest", max(taken))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tuner.json"
        show("saving", timed(lambda: tuner.save(path))[0])
        seconds, loaded = timed(lambda: Tuner.load(path))
        show("loading", seconds)
        show("the next question", timed(loaded.ask)[0])
        if given.replay:
            write(path, FORM, {**read(path, FORM), "notes": None})
            show("loading by playing again", timed(lambda: Tuner.load(path))[0])


if __name__ == "__main__":
    main()
