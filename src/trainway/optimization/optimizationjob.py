"""The search that the spec of an OptimizationJob describes.

It needs the models of the API, which the search itself does without: a server loads them when there
is a search.
"""

import math

from trainway.api.optimizationjob import (
    LogUniformSpace,
    OptimizationJob,
    OptimizationJobSpec,
    SearchSpace,
    UniformSpace,
)
from trainway.optimization.space import Choices, FloatRange, IntRange, Space
from trainway.optimization.study import Algorithm, Pruning, Study


def study_of(
    job: OptimizationJob, algorithm: Algorithm | None = None, pruning: Pruning | None = None
) -> Study:
    """The search that a valid OptimizationJob describes, less what its annotations add."""
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
