"""The TrainJob of somebody who gives a name, a runtime, a command and how many nodes.

`trainway.training.TrainJob` builds it here, with the words of `trainway.training.MPIJob`. The
runtime has the rest, such as the image.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from trainway.api.job_variables import entries
from trainway.api.pod_wishes import (
    MOST_PODS,
    Command,
    ResourceRequirements,
    command_problems,
    image_problems,
    literal_words,
    name_problems,
    namespace_problems,
    number_problems,
    queue_problems,
    resource_problems,
    text_problems,
    words_of,
)
from trainway.jobset.labels import KUEUE_QUEUE_NAME
from trainway.json_types import Json
from trainway.schema.field import FieldError, required

API_VERSION: Final = "trainer.kubeflow.org/v1alpha1"
TORCH_RUNTIME: Final = "torch-distributed"


@dataclass(frozen=True, kw_only=True)
class TrainJobWishes:
    """What a TrainJob is to run; what is not given is the runtime's."""

    name: str
    command: Command = ""
    runtime: str = TORCH_RUNTIME
    """A ClusterTrainingRuntime."""
    image: str = ""
    namespace: str = ""
    """Empty: that of whoever creates it."""
    workers: int = 1
    """How many nodes."""
    processes_per_worker: int | None = None
    resources: ResourceRequirements = field(default_factory=ResourceRequirements)
    queue: str = ""
    """The LocalQueue of Kueue; empty: none."""
    env: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    timeout: int | None = None
    """After how many seconds of running the job fails; None: never."""
    suspend: bool = False


def trainjob_of(wishes: TrainJobWishes) -> Json:
    """The manifest."""
    metadata: Json = {"name": wishes.name}
    if wishes.namespace:
        metadata["namespace"] = wishes.namespace
    queue = {KUEUE_QUEUE_NAME: wishes.queue} if wishes.queue else {}
    if labels := {**wishes.labels, **queue}:
        metadata["labels"] = labels
    trainer: Json = {"image": wishes.image} if wishes.image else {}
    trainer["command"] = literal_words(words_of(wishes.command))
    trainer["numNodes"] = wishes.workers
    if wishes.processes_per_worker is not None:
        trainer["numProcPerNode"] = wishes.processes_per_worker
    if resources := wishes.resources.to_dict():
        trainer["resourcesPerNode"] = resources
    if env := entries(wishes.env, {}, wishes.name):
        trainer["env"] = env
    spec: Json = {"runtimeRef": {"name": wishes.runtime}, "trainer": trainer}
    if wishes.timeout is not None:
        spec["activeDeadlineSeconds"] = wishes.timeout
    if wishes.queue or wishes.suspend:
        spec["suspend"] = True
    return {"apiVersion": API_VERSION, "kind": "TrainJob", "metadata": metadata, "spec": spec}


def problems(wishes: TrainJobWishes) -> list[FieldError]:
    """All that is wrong, each at the name of the wish."""
    return list(_problems(wishes))


def _problems(wishes: TrainJobWishes) -> Iterator[FieldError]:
    yield from name_problems(wishes.name, f"-node-0-{max(wishes.workers, 1) - 1}")
    if not wishes.runtime:
        yield required(("runtime",), "name a training runtime, such as torch-distributed")
    yield from namespace_problems(wishes.namespace)
    yield from image_problems(wishes.image) if wishes.image else ()
    yield from command_problems(wishes.command)
    yield from number_problems("workers", wishes.workers, 1, MOST_PODS)
    yield from number_problems("processes_per_worker", wishes.processes_per_worker, 1)
    yield from number_problems("timeout", wishes.timeout, 1)
    yield from resource_problems(wishes.resources)
    yield from queue_problems(wishes.queue)
    yield from text_problems(wishes.env, wishes.labels)
