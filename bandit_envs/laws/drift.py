"""Draw functions that change smoothly from round to round within a segment."""

import abc
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from bandit_envs.basics.arguments import require
from bandit_envs.basics.options import Checked, count, fraction
from bandit_envs.basics.types import Bools, Floats, Ints
from bandit_envs.kernels.gram import Gram
from bandit_envs.laws.drawn import Drawn
from bandit_envs.laws.functions import FunctionLaw
from bandit_envs.laws.tabulated import RecordedValues


@dataclass(frozen=True)
class Drift(Checked, abc.ABC):
    """Draw each round's function given the last one."""

    @property
    def is_still(self) -> bool:
        """Return whether functions are constant within a segment; they are then drawn as without a drift."""
        return False

    @property
    def of_costs(self) -> "Drift":
        """Return the drift of the cost functions; here none."""
        return STILL

    @property
    def within_segments(self) -> bool:
        """Return whether functions differ within a segment, so that values of two rounds do not compare."""
        return not self.is_still

    def segments(self, law: FunctionLaw, segment: Ints) -> Ints:
        """Return the segment of each round, (T,), given that by change-points alone."""
        return segment

    def check(self, law: FunctionLaw, horizon: int) -> None:
        """Raise unless functions of this law can drift this way for T rounds; here all can."""

    @abc.abstractmethod
    def follow(
        self, law: FunctionLaw, gram: Gram, rng: np.random.Generator, last: Floats, first: int, anew: Bools
    ) -> Floats:
        """Return the functions of n successive rounds, (n, N), the first of which is number `first`.

        Args:
            last: the function of the round before, (N,).
            anew: rounds that begin a segment, with a function independent of the last, (n,).
        """


@dataclass(frozen=True)
class Still(Drift):
    """Keep functions constant within a segment."""

    @property
    def is_still(self) -> bool:
        return True

    def follow(
        self, law: FunctionLaw, gram: Gram, rng: np.random.Generator, last: Floats, first: int, anew: Bools
    ) -> Floats:
        functions = np.empty((len(anew), gram.size))
        for i, begins in enumerate(anew):
            if begins:
                repeats = first + i == 0 or law.is_fixed
                last = (law.draw(gram, rng) if repeats else law.draw_other(gram, rng, [Drawn(last)])).values
            functions[i] = last
        return functions


STILL = Still()


@dataclass(frozen=True)
class OrnsteinUhlenbeck(Drift):
    r"""Draw f_{t+1} = sqrt(1 - epsilon) f_t + sqrt(epsilon) g_{t+1}, g ~ GP(0, k) (Bogunovic et al. 2016).

    Each round's function is a draw of GP(0, k), and the correlation of different rounds depends on their
    distance in time: Cov(f_s(x), f_t(y)) = (1 - epsilon)^{|s - t| / 2} k(x, y) (their Section 2).
    O(r N) a round, for a kernel of rank r on N points.

    Args:
        epsilon: rate in [0, 1]: 0 stands still, 1 has a new function each round; half of the correlation
            is gone after 2 log(2) / epsilon rounds.
        costs: whether cost functions drift too; given ones (`KnownFunction`) never do.
    """

    epsilon: Annotated[float, fraction()] = 0.01
    costs: bool = True

    @property
    def is_still(self) -> bool:
        return self.epsilon == 0

    @property
    def of_costs(self) -> Drift:
        return self if self.costs else STILL

    def check(self, law: FunctionLaw, horizon: int) -> None:
        """Raise unless the law is a Gaussian process of mean zero, whose mixtures keep it, or is fixed."""
        if not (law.is_gaussian or law.is_fixed):
            raise ValueError(
                'drift must be None unless functions are drawn from a Gaussian process (function="gp", '
                f"constraints of law 'gp', normalize=False), got {self} for {law}"
            )

    def follow(
        self, law: FunctionLaw, gram: Gram, rng: np.random.Generator, last: Floats, first: int, anew: Bools
    ) -> Floats:
        if law.is_fixed:
            return STILL.follow(law, gram, rng, last, first, anew)
        functions = law.draws(gram, rng, len(anew))
        kept = np.where(anew, 0.0, np.sqrt(1.0 - self.epsilon))
        functions *= np.where(anew, 1.0, np.sqrt(self.epsilon))[:, None]
        for i, share in enumerate(kept):
            functions[i] += share * last
            last = functions[i]
        return functions


@dataclass(frozen=True)
class Replay(Drift):
    """Replay recorded functions in the order of recording, each for `hold` rounds; costs stand still.

    A round in which the function differs from the last one is a change-point, as any other for evaluators.
    """

    hold: Annotated[int, count()] = 1

    @property
    def within_segments(self) -> bool:
        return False

    def segments(self, law: FunctionLaw, segment: Ints) -> Ints:
        assert isinstance(law, RecordedValues)
        rounds = np.arange(len(segment))
        begins = (rounds % self.hold == 0) & law.changed[rounds // self.hold]
        return np.cumsum(begins | (np.diff(segment, prepend=0) > 0)) - 1

    def check(self, law: FunctionLaw, horizon: int) -> None:
        require(
            isinstance(law, RecordedValues), "drift", "other than a replay where nothing is recorded", self
        )
        assert isinstance(law, RecordedValues)
        several = "left out where the records are all the same, so that nothing changes"
        require(not law.is_fixed, "drift", several, self)
        rounds = len(law.values) * self.hold
        message = f"at most {rounds}: {len(law.values)} records, each held for {self.hold} rounds"
        require(horizon <= rounds, "horizon", f"{message}; or hold them longer", horizon)

    def follow(
        self, law: FunctionLaw, gram: Gram, rng: np.random.Generator, last: Floats, first: int, anew: Bools
    ) -> Floats:
        assert isinstance(law, RecordedValues)
        return law.values[np.arange(first, first + len(anew)) // self.hold]


LAWS: dict[str, type[Drift]] = {"still": Still, "ornstein-uhlenbeck": OrnsteinUhlenbeck, "replay": Replay}
