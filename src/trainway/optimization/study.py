"""What is searched, in the form that the whole search reads: an OptimizationJob less its jobs."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from trainway.api.optimizationjob import (
    LogUniformSpace,
    OptimizationJob,
    OptimizationJobSpec,
    SearchSpace,
    UniformSpace,
)
from trainway.optimization.space import Choices, FloatRange, IntRange, Space


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


def study_of(
    job: OptimizationJob, algorithm: Algorithm | None = None, pruning: Pruning | None = None
) -> Study:
    """The search that a valid OptimizationJob describes; `options_of` has what annotations add."""
    spec, metadata = job.spec, job.metadata
    (objective,) = spec.objectives
    return Study(
        name=metadata.name,
        metric=objective.metric,
        spaces={item.name: space_of(item.search_space) for item in spec.parameters},
        trials=spec.num_trials,
        parallel=spec.parallel_trials,
        maximize=objective.direction == "Maximize",
        algorithm=algorithm or _algorithm(spec),
        seed=_seed(spec) or f"{metadata.namespace}/{metadata.name}/{metadata.uid}",
        pruning=pruning,
    )


def space_of(space: SearchSpace) -> Space:
    """The values of a parameter."""
    if space.categorical is not None:
        return Choices(tuple(space.categorical.choices))
    limits = space.log_uniform or space.uniform
    if limits is None:
        raise ValueError("a search space has one of its three forms")
    return range_of(limits)


def range_of(limits: UniformSpace) -> FloatRange | IntRange:
    """The numbers between two limits."""
    low, high, is_log = float(limits.min), float(limits.max), isinstance(limits, LogUniformSpace)
    if limits.type == "Int":
        return IntRange(math.ceil(low), math.floor(high), is_log)
    return FloatRange(low, high, is_log)


def _algorithm(spec: OptimizationJobSpec) -> Algorithm:
    return Algorithm.GRID if spec.search_algorithm.grid is not None else Algorithm.RANDOM


def _seed(spec: OptimizationJobSpec) -> str:
    """The seed that was given, as text; empty: none was."""
    random = spec.search_algorithm.random
    return "" if random is None or random.seed is None else str(random.seed)
