"""Frees runtimes from a finalizer that earlier versions of Trainer left on them.

Up to v2.2 a runtime could not be deleted while a TrainJob used it. Snapshots took the place of
that; without this, runtimes from then could never be deleted.
"""

from typing import Final

from trainway.json_types import Json
from trainway.kube.controller import Controller
from trainway.kube.errors import ObjectNotFound
from trainway.kube.resources import CLUSTER_TRAINING_RUNTIMES, TRAINING_RUNTIMES, Resource
from trainway.kube.store import split_key
from trainway.operator import caches
from trainway.operator.config import CLUSTER_TRAINING_RUNTIME, TRAINING_RUNTIME
from trainway.operator.context import Context

FINALIZER: Final = "trainer.kubeflow.org/resource-in-use"


def build(context: Context) -> list[Controller]:
    """One controller for each kind of runtime."""
    return [
        _controller(context, TRAINING_RUNTIMES, TRAINING_RUNTIME),
        _controller(context, CLUSTER_TRAINING_RUNTIMES, CLUSTER_TRAINING_RUNTIME),
    ]


def finalizer_patch(runtime: Json) -> Json | None:
    """The merge patch that removes the finalizer; None: it is not there.

    The version makes the API server refuse it if someone else has changed the list meanwhile.
    """
    metadata = runtime["metadata"]
    finalizers = metadata.get("finalizers") or []
    if FINALIZER not in finalizers:
        return None
    others = [name for name in finalizers if name != FINALIZER]
    version = metadata["resourceVersion"]
    return {"metadata": {"resourceVersion": version, "finalizers": others or None}}


def _controller(context: Context, resource: Resource, group_kind: str) -> Controller:
    informer = caches.runtimes(context.informers, resource)

    async def reconcile(key: str) -> None:
        runtime = informer.store.get(key)
        patch = finalizer_patch(runtime) if runtime else None
        if patch is not None:
            namespace, name = split_key(key)
            try:
                await context.client.patch(resource, name, namespace, patch)
            except ObjectNotFound:
                return

    controller = Controller(
        resource.kind.lower(),
        reconcile,
        context.config.workers(group_kind),
        noun="runtime",
        observer=context.metrics,
    )
    informer.add_handler(
        lambda change: (
            controller.queue.add(change.key)
            if change.new is not None and finalizer_patch(change.new)
            else None
        )
    )
    return controller
