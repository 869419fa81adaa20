"""An MPIJob for Python programs: `MPIJob(name="train", image=..., command=..., workers=4)`."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, TypedDict, Unpack

from trainway.api.mpijob_wishes import MPIJobWishes, mpijob_of, problems
from trainway.api.pod_wishes import Command, ResourceRequirements
from trainway.training.training_job import AsyncTrainingJob, TrainingJob, Written

if TYPE_CHECKING:
    from trainway.training.kinds import JobKind


class MPIJobFields(TypedDict, total=False):
    """What an MPIJob is to run; see `trainway.api.mpijob_wishes.MPIJobWishes`."""

    namespace: str
    workers: int
    image: str
    command: Command
    resources: ResourceRequirements
    slots_per_worker: int | None
    mpi_implementation: str
    queue: str
    env: Mapping[str, str]
    labels: Mapping[str, str]
    mpirun: bool | None
    retries: int
    timeout: int | None
    suspend: bool


class AsyncMPIJob(AsyncTrainingJob):
    """`MPIJob`, to be awaited."""

    first_role: ClassVar[str] = "launcher"

    def __init__(
        self,
        name: str,
        *,
        on: str | None = None,
        kubeconfig: str | Path | None = None,
        context: str | None = None,
        **fields: Unpack[MPIJobFields],
    ) -> None:
        wishes = MPIJobWishes(name=name, **fields)
        written = Written(name, wishes.namespace, partial(mpijob_of, wishes), problems(wishes))
        super().__init__(written, on, kubeconfig, context)

    @classmethod
    def _kind(cls) -> "JobKind":
        from trainway.training.kinds import MPIJOB  # noqa: PLC0415 - only for clusters

        return MPIJOB


class MPIJob(TrainingJob):
    """An MPIJob: workers, and a launcher that runs a command on them with mpirun.

    It runs in the cluster of the kubeconfig, or where `on` says: `on="local"` is this machine. A
    job that exists already is found by its name: `MPIJob("train").get_status()`.
    """

    def __init__(
        self,
        name: str,
        *,
        on: str | None = None,
        kubeconfig: str | Path | None = None,
        context: str | None = None,
        **fields: Unpack[MPIJobFields],
    ) -> None:
        super().__init__(AsyncMPIJob(name, on=on, kubeconfig=kubeconfig, context=context, **fields))
