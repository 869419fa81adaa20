"""What is searched, in the form that the whole search reads: an OptimizationJob less its jobs."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from trainway.optimization.space import Choices, Space


class Algorithm(StrEnum):
    """How the next values are chosen."""

    RANDOM = "random"
    GRID = "grid"
    TPE = "tpe"


class Pruning(StrEnum):
    """How a trial is found that is not worth finishing."""

    MEDIAN = "median"
    HALVING = "successive-halving"


OURS: Final = frozenset({Algorithm.TPE})
"""The algorithms that only an annotation can ask for."""


@dataclass(frozen=True)
class Study:
    """A search."""

    name: str
    metric: str
    spaces: Mapping[str, Space]
    trials: int = 1
    """How many there are, those that fail included."""
    parallel: int = 1
    maximize: bool = False
    algorithm: Algorithm = Algorithm.RANDOM
    seed: str = ""
    """What the values of a trial depend on, beside its index."""
    pruning: Pruning | None = None

    @property
    def size(self) -> int:
        """How many trials there can be: a grid may have fewer than were asked for."""
        return min(self.trials, self.combinations) if self.is_grid else self.trials

    @property
    def is_grid(self) -> bool:
        """Whether all combinations are tried in order."""
        return self.algorithm is Algorithm.GRID

    @property
    def combinations(self) -> int:
        """How many combinations of choices there are."""
        lists = [space.values for space in self.spaces.values() if isinstance(space, Choices)]
        return math.prod(len(values) for values in lists)
