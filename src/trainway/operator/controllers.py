"""The controllers of the operator, in groups that need the same kinds in the cluster."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final

from trainway.kube.controller import Controller
from trainway.kube.resources import (
    CLUSTER_TRAINING_RUNTIMES,
    JOBSETS,
    MPIJOBS,
    OPTIMIZATION_JOBS,
    TRAINING_RUNTIMES,
    TRAINJOBS,
    Resource,
)
from trainway.operator import runtimes
from trainway.operator.context import Context
from trainway.operator.mpijobs import controller as mpijobs
from trainway.operator.optimizationjobs import controller as optimizationjobs
from trainway.operator.trainjobs import controller as trainjobs


@dataclass(frozen=True)
class ControllerGroup:
    """Controllers that start together, once the cluster serves what they work on."""

    name: str
    needs: tuple[Resource, ...]
    build: Callable[[Context], Awaitable[Sequence[Controller]]]


async def _of_trainjobs(context: Context) -> Sequence[Controller]:
    return (await trainjobs.build(context), *runtimes.build(context))


async def _of_mpijobs(context: Context) -> Sequence[Controller]:
    return (mpijobs.build(context),)


async def _of_searches(context: Context) -> Sequence[Controller]:
    return (optimizationjobs.build(context),)


GROUPS: Final = (
    ControllerGroup(
        "TrainJob",
        (JOBSETS, TRAINJOBS, TRAINING_RUNTIMES, CLUSTER_TRAINING_RUNTIMES),
        _of_trainjobs,
    ),
    ControllerGroup("MPIJob", (JOBSETS, MPIJOBS), _of_mpijobs),
    ControllerGroup("OptimizationJob", (TRAINJOBS, OPTIMIZATION_JOBS), _of_searches),
)
