"""A million rounds: seconds and peak memory of one trial, beside a bare loop over the same mathematics.

    python benchmarks/long_run.py [--rounds 1000000] [--arms 100]

Each line is a process of its own, so that its peak memory is its own. The bare loop is GP-UCB in weight space
without environment, delays or checks; it says how fast the machine is just now. Seconds are of the processor,
so that other work counts less.
"""

import argparse
import multiprocessing
import resource
import time
from collections.abc import Callable, Iterator

import numpy as np

from bandit_envs.kernels.gram import Gram
from bandit_envs.kernels.kernels import make_kernel
from gpbandits import evaluate
from gpbandits.evaluation.thinning import Checkpoints

NOISE = 0.1
BARE_ROUNDS = 20_000


def played(rounds: int, arms: int, **options: float) -> Iterator[str]:
    """One trial of GP-UCB that keeps checkpoints."""
    keywords = {"num_arms": arms, "horizon": rounds, "noise_std": NOISE}
    start = time.process_time()
    result = evaluate(
        "GPBandit-GP-v0",
        {"it": ("gp-ucb", options)},
        trials=1,
        env_kwargs=keywords,
        checkpoints=Checkpoints().rounds,
    )
    taken = time.process_time() - start
    yield f"{taken:8.1f} s, {1e6 * taken / rounds:6.1f} us a round"
    yield f"of it the agent {result.seconds['it'][0]:.1f} s, regret {result.regret['it'][0, -1]:.2f}"


def bare(rounds: int, arms: int) -> Iterator[str]:
    """The same rule in a few lines of numpy."""
    gram = Gram(make_kernel("rbf", 0.2), np.linspace(0, 1, arms)[:, None])
    rng, root = np.random.default_rng(0), gram.root
    reward, noise = rng.standard_normal(len(root)) @ root, NOISE * rng.standard_normal(rounds)
    covariance, mean, variance = np.eye(len(root)), np.zeros(arms), gram.diagonal.copy()
    start = time.process_time()
    for t in range(min(rounds, BARE_ROUNDS)):
        width = np.sqrt(2 * np.log(arms * (t + 1) ** 2 * np.pi**2 / 0.6))
        x = int((mean + width * np.sqrt(np.maximum(variance, 0.0))).argmax())
        weight = covariance @ root[:, x]
        scale = np.sqrt(NOISE**2 + root[:, x] @ weight)
        weight /= scale
        covariance -= np.multiply.outer(weight, weight)
        step = weight @ root
        mean += step * ((reward[x] + noise[t] - mean[x]) / scale)
        variance -= step * step
    yield f"{1e6 * (time.process_time() - start) / min(rounds, BARE_ROUNDS):6.1f} us a round"


def report(label: str, measure: Callable[..., Iterator[str]], *args: int, **options: float) -> None:
    """Print what is measured, and the peak memory of this process."""
    said = ", ".join(measure(*args, **options))
    print(
        f"{label:16} {said}, peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB",
        flush=True,
    )


def main() -> None:
    """Print a line a process."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=10**6)
    parser.add_argument("--arms", type=int, default=100)
    given = parser.parse_args()
    size = given.rounds, given.arms
    lines = {"bare loop": (bare, {}), **{f"repeat = {c:g}": (played, {"repeat": c}) for c in (2.0, 1.0)}}
    context = multiprocessing.get_context("spawn")
    for label, (measure, options) in lines.items():
        process = context.Process(target=report, args=(label, measure, *size), kwargs=options)
        process.start()
        process.join()


if __name__ == "__main__":
    main()
