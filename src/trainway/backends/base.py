"""What every infrastructure implements to run a JobSet.

The engine knows backends only through this protocol. Building a request (`plan`) is pure and can be
printed; sending it (`submit`) is a separate step that may be repeated after a crash. A `Handle` is
plain JSON, so that the next server finds the job again.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

from trainway.backends.demand import Demand
from trainway.backends.pools import Limit, Pool
from trainway.compiler.network import JobIdentity, Network
from trainway.errors import UnavailableError
from trainway.jobset.labels import ISOLATION
from trainway.jobset.quantity import ZERO, Quantity
from trainway.json_types import Json

Handle = dict[str, Any]
Devices = Mapping[str, Mapping[str, Sequence[str]]]
"""For each pod (`<role>-<job>-<pod>`), the devices that are its own, by kind."""


class Isolation(StrEnum):
    """What a container becomes where there is a choice."""

    PROCESS = "process"
    CONTAINER = "container"


class Feature(StrEnum):
    """What a backend may or may not be able to do."""

    MULTIPLE_NODES = "multiple-nodes"
    SUSPEND = "suspend"
    GPUS = "gpus"
    IMAGES = "images"
    PROGRESS = "progress"


@dataclass(frozen=True)
class Check:
    """One line of `trainway doctor`."""

    name: str
    ok: bool
    detail: str
    fix: str = ""
    """What to do about it; empty where nothing needs to be done."""


@dataclass(frozen=True)
class Capacity:
    """What there is to run jobs with."""

    cpus: Quantity = ZERO
    memory: Quantity = ZERO
    gpus: tuple[str, ...] = ()
    """The names of the GPUs, as a process is told which to use."""
    pools: tuple[Pool, ...] = ()
    """The same by sort of node, where the infrastructure has several."""
    limits: tuple[Limit, ...] = ()
    """What may be used of it, where that is less."""
    whole: Pool | None = None
    """All pools as one, where they have nodes in common and cannot be added up."""


@dataclass(frozen=True)
class ArrayPlace:
    """Which one a job is of several that were submitted as one."""

    id: str
    """That of the first of them."""
    rank: int
    count: int


@dataclass(frozen=True)
class Workload:
    """A job that is ready to run: one JobSet, and what its pods read."""

    id: str
    name: str
    namespace: str
    jobset: Json
    objects: list[Json]
    """The ConfigMaps and Secrets that its pods read, submitted or made by the compiler."""
    workdir: str
    environ: Mapping[str, str]
    port: int
    """The port of its network, where the pods meet."""
    demand: Demand = field(default_factory=Demand)
    devices: Devices = field(default_factory=dict)
    source: Json | None = None
    """The TrainJob, MPIJob or JobSet as it was submitted, under its final name."""
    submitted: list[Json] = field(default_factory=list)
    """The ConfigMaps, Secrets and runtimes that were submitted with it."""
    priority: int = 0
    """For a backend that queues jobs itself: those of higher priority go first."""
    oversubscribe: bool = False
    """Whether it may start though it asks for more than there is."""
    handle: Handle = field(default_factory=dict)
    """Of an earlier plan, which a later one keeps to; empty: this is the first."""
    place: ArrayPlace | None = None
    """Among others, where it was submitted with them as one."""


class Request(Protocol):
    """What a backend will do, literally."""

    @property
    def handle(self) -> Handle:
        """How the job will be found again; known before anything was sent."""
        ...

    def text(self) -> str:
        """The request as it can be shown: without the values of Secrets."""
        ...


@dataclass(frozen=True)
class Update:
    """Journal records that became known together, in order."""

    records: tuple[Mapping[str, Any], ...]

    @property
    def seq(self) -> int:
        """The number of the last record."""
        return int(self.records[-1]["seq"])


@dataclass(frozen=True)
class LogQuery:
    """Which lines of a job's logs."""

    role: str | None = None
    rank: int | None = None
    tail: int | None = None
    """At most so many, counted from the end."""
    since: datetime | None = None
    all_attempts: bool = False
    follow: bool = False
    cursor: str = ""
    """Go on behind the line that had this cursor."""


class LogLine(NamedTuple):
    """One line that a container wrote."""

    time: str
    role: str
    job: int
    rank: int
    container: str
    attempt: int
    stream: str
    """`stdout` or `stderr`."""
    text: bytes
    cursor: str
    is_part: bool = False
    """The line was too long for one: the next of the same stream goes on with it."""


@dataclass(frozen=True)
class BackendSettings:
    """What a backend is told when it is made."""

    home: Path
    target: str = ""
    """What follows the family in a name: `test/ml` of `k8s/test/ml`."""
    kubeconfig: tuple[str, ...] = ()
    """The kubeconfig files of whoever submits; none: those that the server itself finds."""


class AgentStartError(UnavailableError):
    """An agent could not be started, and nothing of its job runs.

    So one may try again, and one may also give up. `submit`, `recover` and `cancel` raise it; where
    something may be under way it is an UnavailableError of another kind.
    """

    code = "agent_start"


class Backend(Protocol):
    """Runs JobSets somewhere."""

    @property
    def name(self) -> str:
        """As a user names it: `--on NAME`."""
        ...

    @property
    def schedules(self) -> bool:
        """Whether it queues and places jobs itself, so that the engine starts them at once."""
        ...

    def places(self) -> list[str]:
        """The names of all places that backends of its family know; itself if it is alone."""
        ...

    async def look(self) -> None:
        """Learn what the infrastructure offers now; called before a submission is prepared.

        Raises UnavailableError, with a hint, where it cannot be reached.
        """
        ...

    async def survey(self) -> None:
        """Learn what `check` and `capacity` tell: more than `look`, and slower. Never raises."""
        ...

    async def close(self) -> None:
        """Let go of connections; jobs run on."""
        ...

    def capabilities(self) -> Mapping[Feature, str]:
        """For every feature the reason why it is missing; an empty one: it is there."""
        ...

    def check(self) -> list[Check]:
        """What is installed and reachable, and how to mend what is not."""
        ...

    def warm_up(self) -> None:
        """Load what the first job needs; called in a thread, soon after the server started."""
        ...

    def capacity(self) -> Capacity:
        """All there is, whoever uses it now."""
        ...

    def namespace(self, named: str) -> str:
        """Where a job goes whose object names that namespace, or none; empty: that is the same."""
        ...

    def runtime(self, kind: str, name: str) -> Json | None:
        """A TrainingRuntime or ClusterTrainingRuntime that is there; None: there is none."""
        ...

    def network(self, job: JobIdentity) -> Network:
        """Where the pods of a new job find each other."""
        ...

    def release(self, port: int) -> None:
        """Give back what `network` reserved, for a job that will not run or is over."""
        ...

    def has_lost_network(self, handle: Handle) -> bool:
        """Whether a stranger took what was reserved for a job that has yet to be submitted."""
        ...

    def problems(self, jobset: Json, source: Json) -> tuple[list[str], list[str]]:
        """Why this JobSet cannot run here, and what of it will not be honoured.

        `source` is what it was compiled from, or the same JobSet.
        """
        ...

    def plan(self, workload: Workload) -> Request:
        """What `submit` will send. Pure."""
        ...

    async def rehearse(self, request: Request) -> None:
        """Ask whether the infrastructure would take the request; raises why not."""
        ...

    async def submit(self, request: Request) -> None:
        """Start the job; it is started once, however often this is called."""
        ...

    async def adopt(self, handle: Handle) -> None:
        """Take note of a job that an earlier server submitted."""
        ...

    def strays(self, known: Callable[[], Collection[str]]) -> list[Workload]:
        """Jobs that were submitted here and are not among those that are known."""
        ...

    def watch(self, handle: Handle, after: int) -> AsyncIterator[Update]:
        """Records after that number, old then new; ends with the job, or when its agent is lost."""
        ...

    async def recover(self, handle: Handle, *, cancelled: bool = False) -> bool:
        """Bring back a lost agent, as the job's policies say; False where that cannot be done.

        Of a job that was cancelled nothing starts again: it only comes to its end.
        """
        ...

    def check_logs(self, query: LogQuery) -> None:
        """Raise what is wrong with a query, before anything is read."""
        ...

    def logs(
        self, handle: Handle, query: LogQuery, ended: asyncio.Event
    ) -> AsyncIterator[list[LogLine]]:
        """Lines in batches, in the order of time; a follower stops once the job has `ended`."""
        ...

    def output(self, handle: Handle) -> Path:
        """Where the server keeps what a job left, such as the value that a function returned."""
        ...

    async def attachment(self, handle: Handle, role: str | None, rank: int | None) -> Json:
        """How a command gets beside the processes of a pod: of the first where none is named."""
        ...

    async def suspend(self, handle: Handle) -> None:
        """Stop the pods, keep the job."""
        ...

    async def resume(self, handle: Handle) -> None:
        """Start the pods of a suspended job."""
        ...

    async def cancel(self, handle: Handle) -> None:
        """Stop everything; when this returns no process is left."""
        ...

    async def delete(self, handle: Handle) -> None:
        """Remove what the job left behind. It must not run any more."""
        ...


@dataclass(frozen=True)
class Absence:
    """A job that cannot be reached."""

    problem: str
    remains: str
    """What may be left of it where it is, and how that is removed."""


@runtime_checkable
class Remote(Protocol):
    """What a backend implements besides whose infrastructure may be gone for good."""

    async def absence(self, handle: Handle) -> Absence | None:
        """Why a job cannot be reached; None: it can."""
        ...

    async def forget(self, handle: Handle) -> None:
        """Remove what is kept here of a job that cannot be reached."""
        ...


@runtime_checkable
class Probing(Protocol):
    """What a backend implements besides that can try its infrastructure out with a job."""

    async def probe(self) -> None:
        """Learn more than `survey`, which went before, by a short job. Never raises."""
        ...


def free_of(capacity: Capacity) -> Capacity:
    """What nobody holds, where the capacity is known by sort of node."""
    pools = (capacity.whole,) if capacity.whole else capacity.pools
    gpus = sum(sum(pool.free_gpus.values()) for pool in pools)
    return Capacity(
        cpus=sum((pool.free_cpus for pool in pools), ZERO),
        memory=sum((pool.free_memory for pool in pools), ZERO),
        gpus=tuple(str(number) for number in range(gpus)),
    )


def isolation_of(obj: Mapping[str, Any]) -> Isolation:
    """What the containers of a job are to be, as its annotation says."""
    annotations = (obj.get("metadata") or {}).get("annotations") or {}
    is_contained = annotations.get(ISOLATION) == Isolation.CONTAINER
    return Isolation.CONTAINER if is_contained else Isolation.PROCESS


def as_json(value: object) -> str:
    """Text of plain data, always the same for the same data."""
    return json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False)
