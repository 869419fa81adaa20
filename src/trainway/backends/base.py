"""What every infrastructure implements to run a JobSet.

The engine knows backends only through this protocol, the core, and through what each declares
beside it (`capabilities`). Building a request (`plan`) is pure and can be printed; sending it
(`submit`) is a separate step that may be repeated after a crash. A `Handle` is plain JSON, so that
the next server finds the job again.
"""

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

from trainway.backends.demand import Demand
from trainway.backends.pools import Limit, Pool
from trainway.compiler.network import JobIdentity, Network
from trainway.errors import NotFoundError, UnavailableError
from trainway.jobset.labels import ISOLATION
from trainway.jobset.quantity import ZERO, Quantity
from trainway.json_types import Json

Handle = dict[str, Any]
Devices = Mapping[str, Mapping[str, Sequence[str]]]
"""The devices that each pod (`<role>-<job>-<pod>`) has to itself, by kind."""

INTERRUPTED: Final = "Interrupted"
"""The reason with which a place ends a job that it took something away from, though its programs
ended well: it is not done, and the place does not start it again by itself."""


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
    """What each sort of node has, where the infrastructure has several."""
    limits: tuple[Limit, ...] = ()
    """What may be used of it, where that is less."""
    whole: Pool | None = None
    """All pools as one, where they have nodes in common and cannot be added up."""


@dataclass(frozen=True)
class ArrayPlace:
    """Which one a job is of several that were submitted as one."""

    id: str
    """The id of the first of them."""
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
    """The priority, for a backend that queues jobs itself: higher ones go first."""
    oversubscribe: bool = False
    """Whether it may start though it asks for more than there is."""
    handle: Handle = field(default_factory=dict)
    """The handle of an earlier plan, which a later one keeps to; empty: this is the first."""
    continues: bool = False
    """Whether it has started elsewhere, and goes on with what it has written there."""
    place: ArrayPlace | None = None
    """The place of the job among others, where it was submitted with them as one."""


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
    """How many lines are wanted at most, counted from the end."""
    since: datetime | None = None
    all_attempts: bool = False
    follow: bool = False
    cursor: str = ""
    """The cursor of a line; what follows that line is wanted."""


class LogLine(NamedTuple):
    """One line that a container wrote."""

    time: str
    role: str
    job: int
    rank: int
    container: str
    attempt: int
    stream: str
    """The stream is `stdout` or `stderr`."""
    text: bytes
    cursor: str
    is_part: bool = False
    """Whether the line was too long for one, so that the next of the same stream goes on
    with it."""


def no_backends(name: str) -> "Backend":
    """What a backend finds that is made without a registry."""
    raise NotFoundError(f"there is no backend {name!r}")


@dataclass(frozen=True)
class BackendSettings:
    """What a backend is told when it is made."""

    home: Path
    target: str = ""
    """What follows the family in a name: `test/ml` of `k8s/test/ml`."""
    kubeconfig: tuple[str, ...] = ()
    """The kubeconfig files of whoever submits; none: those that the server itself finds."""
    backends: "Callable[[str], Backend]" = field(default=no_backends, compare=False)
    """The backends of the same server by name, for one that runs jobs on nodes of others."""
    family: str = ""
    """What the name begins with: `k8s` of `k8s/test/ml`."""


class AgentStartError(UnavailableError):
    """An agent could not be started, and nothing of its job runs.

    So one may try again, and one may also give up. `submit`, `recover` and `cancel` raise it; where
    something may be under way it is an UnavailableError of another kind.
    """

    code = "agent_start"


class Backend(Protocol):
    """Runs JobSets somewhere: the core, which every backend has.

    What else one can do it declares by implementing protocols of `capabilities`.
    """

    @property
    def name(self) -> str:
        """As a user names it: `--on NAME`."""
        ...

    @property
    def schedules(self) -> bool:
        """Whether it queues and places jobs itself, so that the engine starts them at once."""
        ...

    def network(self, job: JobIdentity) -> Network:
        """Where the pods of a new job find each other."""
        ...

    def plan(self, workload: Workload) -> Request:
        """What `submit` will send. Pure."""
        ...

    async def submit(self, request: Request) -> None:
        """Start the job; it is started once, however often this is called."""
        ...

    def watch(self, handle: Handle, after: int) -> AsyncIterator[Update]:
        """Records after that number, old then new; ends with the job, or when its agent is lost."""
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
