"""Puts the OptimizationJob controller together: caches, watches and the reconciler."""

from collections import Counter
from typing import Final

from trainway.kube.controller import Controller
from trainway.kube.informer import Change
from trainway.kube.resources import OPTIMIZATION_JOBS
from trainway.operator import caches
from trainway.operator.config import OPTIMIZATION_JOB
from trainway.operator.context import Context
from trainway.operator.optimizationjobs.reconciler import KIND, Reconciler
from trainway.operator.optimizationjobs.status import phase_of

NAME: Final = "optimizationjob"


def build(context: Context) -> Controller:
    """The controller; its informers are registered, and run with the others."""
    searches = context.informers.of(OPTIMIZATION_JOBS, keep=caches.kept_trainjob)
    trainjobs = caches.trainjobs(context.informers)
    reconciler = Reconciler(context, searches.store, trainjobs.store)
    workers = context.config.workers(OPTIMIZATION_JOB)
    controller = Controller(NAME, reconciler.reconcile, workers, observer=context.metrics)

    def on_trainjob(change: Change) -> None:
        """Look at the search whose trial it is."""
        for key in caches.search_key(change.object):
            if change.kind == "deleted":
                reconciler.memory.gone(key, change.object["metadata"]["name"])
            controller.queue.add(key)

    searches.add_handler(lambda change: controller.queue.add(change.key))
    trainjobs.add_handler(on_trainjob)
    context.metrics.show_jobs(KIND, lambda: dict(Counter(map(phase_of, searches.store.values()))))
    return controller
