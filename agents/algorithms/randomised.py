"""Named algorithms that explore at random; bounds on their expected regret need no delta and no horizon.

The bounds hold for f ~ GP(0, k), Gaussian noise of variance lambda and feedback without delay, see
`acquisition.randomised`. Plain Thompson sampling, `gp_ts` of width 1, is the fourth such algorithm.
Readable form: tests/references/randomised.py.
"""

from __future__ import annotations

from typing import Unpack

from bandit_envs.problem.setting import Setting

from ..acquisition.by_name import Always
from ..acquisition.randomised import EIMS, PIMS, OfSize
from ..agent.assembly import Agent, assemble
from ..model.model import Model
from ..model.options import ModelOptions
from ..protocol import handles


@handles("delay", "context", "box", "noise", "availability")
def irgp_ucb(
    setting: Setting,
    *,
    size: int | str | None = None,
    num_trials: int | None = None,
    **options: Unpack[ModelOptions],
) -> Agent:
    """IRGP-UCB: argmax mu + sqrt(zeta) sigma, zeta = 2 log(N / 2) + E, E exponential (Takeno et al. 2023).

    Args:
        size: N; default the number of arms, and on a box 512 as there are candidates in a round; "compact"
            grows with t on a box without contexts, by a formula from memory that is neither confirmed nor
            proved here.
    """
    return assemble(Model.of(setting, **options), OfSize(size), num_trials)


@handles("delay", "context", "box", "noise", "availability")
def pims(setting: Setting, *, num_trials: int | None = None, **options: Unpack[ModelOptions]) -> Agent:
    """PIMS: probability of improvement on the maximum of a posterior sample (Takeno et al. 2024)."""
    return assemble(Model.of(setting, **options), Always(PIMS()), num_trials)


@handles("delay", "context", "box", "noise", "availability")
def eims(setting: Setting, *, num_trials: int | None = None, **options: Unpack[ModelOptions]) -> Agent:
    """EIMS: expected improvement on the maximum of a posterior sample (Takeno et al. 2025).

    An arm with a posterior std of 0 has no expected improvement, so a known best arm may never be played:
    with one known arm regret is linear ("Contested claims" of the page of reproductions).
    """
    return assemble(Model.of(setting, **options), Always(EIMS()), num_trials)
