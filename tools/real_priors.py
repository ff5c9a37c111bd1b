"""Fit a kernel to each table of real tasks that has siblings, for the tasks of these siblings.

    python tools/real_priors.py

Of each table of HPOBench, HPOLib, NAS-Bench-201 and LCBench, 400 random configurations are taken (seed 0),
their mean rewards standardised over the whole table, and a Matern 5/2 kernel with a length-scale for each
parameter (one for all operations of NAS-Bench-201) and noise fitted by marginal likelihood (scikit-learn).
The result,
`bandit_envs/problems/real_priors.toml`, has a table's length-scales, and mean, deviation and noise of its
rewards. A task is never given its own.
"""

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

from bandit_envs.basics.threads import threads
from bandit_envs.data.runs import FAMILIES, load_runs
from bandit_envs.problems.real import rewards_of, tasks

PRIORS = Path(__file__).parents[1] / "bandit_envs" / "problems" / "real_priors.toml"
SIBLINGS = ("hpobench", "hpolib", "nasbench201", "lcbench")
COUNT = 400


def length_scales(features: np.ndarray, values: np.ndarray, isotropic: bool) -> list[float]:
    """Return the fitted length-scales, one for all or one a feature."""
    start = 1.0 if isotropic else np.ones(features.shape[1])
    kernel = ConstantKernel() * Matern(start, (0.05, 50.0), nu=2.5) + WhiteKernel(0.1, (1e-4, 2.0))
    model = GaussianProcessRegressor(kernel, n_restarts_optimizer=1, random_state=0).fit(features, values)
    fitted: Any = model.kernel_
    return np.atleast_1d(fitted.k1.k2.length_scale).tolist()


def main() -> None:
    """Write the priors."""
    reward = {table: task.reward for task in tasks().values() for table in task.tables}
    lines = ["# Made by tools/real_priors.py: what each table tells about the tasks of its siblings."]
    for family in SIBLINGS:
        for name in FAMILIES[family].names:
            table = f"{family}/{name}"
            runs = rewards_of(reward[table], load_runs(table))
            values = runs.mean("reward")
            chosen = np.random.default_rng(0).choice(len(values), COUNT, replace=False)
            unit = (values[chosen] - values.mean()) / values.std()
            with threads(1):
                scales = length_scales(runs.unit[chosen], unit, family == "nasbench201")
            noise = np.sqrt(np.mean(runs.residuals("reward") ** 2))
            lines += [
                f'\n["{table}"]',
                f"length_scales = [{', '.join(f'{each:.3g}' for each in scales)}]",
                f"mean = {values.mean():.6g}",
                f"deviation = {values.std():.6g}",
                f"noise = {noise:.4g}",
            ]
            PRIORS.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
