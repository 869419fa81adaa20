"""A TrainJob for Python programs: `TrainJob(name="train", command="torchrun train.py")`."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, TypedDict, Unpack

from trainway.api.pod_wishes import Command, ResourceRequirements
from trainway.api.trainjob_wishes import TrainJobWishes, problems, trainjob_of
from trainway.training.training_job import AsyncTrainingJob, TrainingJob, Written

if TYPE_CHECKING:
    from trainway.training.kinds import JobKind


class TrainJobFields(TypedDict, total=False):
    """What a TrainJob is to run; see `trainway.api.trainjob_wishes.TrainJobWishes`."""

    namespace: str
    runtime: str
    workers: int
    processes_per_worker: int | None
    image: str
    command: Command
    resources: ResourceRequirements
    queue: str
    env: Mapping[str, str]
    labels: Mapping[str, str]
    timeout: int | None
    suspend: bool


class AsyncTrainJob(AsyncTrainingJob):
    """`TrainJob`, to be awaited."""

    first_role: ClassVar[str] = "node"

    def __init__(
        self,
        name: str,
        *,
        on: str | None = None,
        kubeconfig: str | Path | None = None,
        context: str | None = None,
        **fields: Unpack[TrainJobFields],
    ) -> None:
        wishes = TrainJobWishes(name=name, **fields)
        written = Written(name, wishes.namespace, partial(trainjob_of, wishes), problems(wishes))
        super().__init__(written, on, kubeconfig, context)

    @classmethod
    def _kind(cls) -> "JobKind":
        from trainway.training.kinds import TRAINJOB  # noqa: PLC0415 - only for clusters

        return TRAINJOB


class TrainJob(TrainingJob):
    """A TrainJob: nodes that run a command under a training runtime, by default torch.

    It runs in the cluster of the kubeconfig, or where `on` says: `on="local"` is this machine. A
    job that exists already is found by its name: `TrainJob("train").get_status()`.
    """

    def __init__(
        self,
        name: str,
        *,
        on: str | None = None,
        kubeconfig: str | Path | None = None,
        context: str | None = None,
        **fields: Unpack[TrainJobFields],
    ) -> None:
        super().__init__(
            AsyncTrainJob(name, on=on, kubeconfig=kubeconfig, context=context, **fields)
        )
