"""Puts the TrainJob controller together: caches, watches and the reconciler."""

from typing import Final

from trainway.kube.controller import Controller
from trainway.kube.informer import Informer
from trainway.kube.resources import (
    CLUSTER_TRAINING_RUNTIMES,
    CONFIG_MAPS,
    COSCHEDULING_POD_GROUPS,
    JOBSETS,
    SECRETS,
    TRAINING_RUNTIMES,
    VOLCANO_POD_GROUPS,
    Resource,
)
from trainway.kube.workqueue import WorkQueue
from trainway.operator import caches
from trainway.operator.config import TRAIN_JOB
from trainway.operator.context import Context
from trainway.operator.trainjobs.builder import Builder
from trainway.operator.trainjobs.memory import Memory
from trainway.operator.trainjobs.reconciler import KIND, Reconciler
from trainway.operator.trainjobs.runtime_source import RuntimeSource
from trainway.operator.trainjobs.sender import Sender
from trainway.operator.trainjobs.watches import Watches

NAME: Final = "trainjob"


async def build(context: Context) -> Controller:
    """The controller; its informers are registered, and run with the others."""
    informers = context.informers
    trainjobs, jobsets = caches.trainjobs(informers), caches.jobsets(informers)
    children: dict[Resource, Informer] = {
        JOBSETS: jobsets,
        CONFIG_MAPS: caches.config_maps(informers),
        SECRETS: caches.secrets(informers),
    }
    for resource in (COSCHEDULING_POD_GROUPS, VOLCANO_POD_GROUPS):
        if await context.client.serves(resource):
            children[resource] = caches.pod_groups(informers, resource)
    memory = Memory()
    sender = Sender(
        context.client,
        Builder(
            context.keys,
            caches.priority_classes(informers).store.__contains__,
            context.config.initializer_images,
        ),
        RuntimeSource(context.client),
        {(resource.api_version, resource.kind): cache for resource, cache in children.items()},
    )
    queue = WorkQueue()
    uncreated = caches.uncreated_pods(informers)
    reconciler = Reconciler(
        context, trainjobs.store, jobsets.store, memory, sender, queue.add_after, uncreated.store
    )
    workers = context.config.workers(TRAIN_JOB)
    controller = Controller(
        NAME, reconciler.reconcile, workers, observer=context.metrics, queue=queue
    )
    watches = Watches(queue.add, memory, trainjobs)
    trainjobs.add_handler(watches.on_trainjob)
    for resource, cache in children.items():
        is_jobset = resource == JOBSETS
        cache.add_handler(watches.on_jobset if is_jobset else watches.on_child(resource.kind))
    uncreated.add_handler(watches.on_uncreated_pod)
    _watch_dependencies(context, watches)
    context.metrics.show_jobs(KIND, lambda: _by_phase(trainjobs))
    return controller


def _watch_dependencies(context: Context, watches: Watches) -> None:
    informers = context.informers
    runtimes = {
        resource.kind: caches.runtimes(informers, resource)
        for resource in (TRAINING_RUNTIMES, CLUSTER_TRAINING_RUNTIMES)
    }
    for kind, informer in runtimes.items():
        informer.add_handler(watches.on_runtime(kind))
    caches.limit_ranges(informers).add_handler(watches.on_limit_range)
    caches.runtime_classes(informers).add_handler(watches.on_runtime_class(runtimes))


def _by_phase(trainjobs: Informer) -> dict[str, int]:
    store = trainjobs.store
    return {phase: len(store.keys_by_index(caches.BY_PHASE, phase)) for phase in caches.PHASES}
