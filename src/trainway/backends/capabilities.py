"""What a backend can do beside running a JobSet: it declares a capability by implementing it.

A capability is a protocol, and a backend has it if it has its methods. Whoever needs one asks here,
and nobody asks which backend it is: where a capability is missing, the functions below say what
counts instead. What a user asks for and a backend cannot do is refused in words. How a person gets
to a pod has capabilities of its own (`pod_access`).
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from pathlib import Path
from typing import Protocol, runtime_checkable

from trainway.backends.base import (
    Absence,
    Backend,
    Capacity,
    Check,
    Feature,
    Handle,
    LogLine,
    LogQuery,
    Request,
    Workload,
)
from trainway.backends.cluster_holder import ClusterHolder
from trainway.errors import ConflictError
from trainway.json_types import Json


@runtime_checkable
class HasPlaces(Protocol):
    """Is a family: it knows the places that a user can name."""

    def places(self) -> list[str]:
        """The names of all places that backends of its family know; itself if it is alone."""
        ...


@runtime_checkable
class AsksApiServers(Protocol):
    """Talks to API servers of Kubernetes, and counts their answers."""

    def api_requests(self) -> list[tuple[str, Mapping[tuple[str, str], int]]]:
        """For each connection the address, and how many answers came, by method and status."""
        ...


@runtime_checkable
class Surveys(Protocol):
    """Can say what its infrastructure has and whether it can be used."""

    async def look(self) -> None:
        """Learn what the infrastructure offers now; called before a submission is prepared.

        Raises UnavailableError, with a hint, where it cannot be reached.
        """
        ...

    async def survey(self) -> None:
        """Learn what `check` and `capacity` tell: more than `look`, and slower. Never raises."""
        ...

    def capabilities(self) -> Mapping[Feature, str]:
        """For every feature the reason why it is missing; an empty one: it is there."""
        ...

    def check(self) -> list[Check]:
        """What is installed and reachable, and how to mend what is not."""
        ...


@runtime_checkable
class Probing(Protocol):
    """Can try its infrastructure out with a job."""

    async def probe(self) -> None:
        """Learn more than `survey`, which went before, by a short job. Never raises."""
        ...


@runtime_checkable
class HasCapacity(Protocol):
    """Knows how much there is."""

    def capacity(self) -> Capacity:
        """All there is, whoever uses it now."""
        ...


@runtime_checkable
class HoldsClusters(Protocol):
    """Has nodes that `trainway launch` can hold; the row of its family says so too."""

    def holder(self) -> ClusterHolder:
        """Who holds nodes of its family, whichever place it is itself."""
        ...


@runtime_checkable
class HoldsConnections(Protocol):
    """Has something to load before the first job, and to let go of at the end."""

    def warm_up(self) -> None:
        """Load what the first job needs; called in a thread, soon after the server started."""
        ...

    async def close(self) -> None:
        """Let go of connections; jobs run on."""
        ...


@runtime_checkable
class HasNamespaces(Protocol):
    """Keeps objects in namespaces, training runtimes among them."""

    def namespace(self, named: str) -> str:
        """Where a job goes whose object names that namespace, or none; empty: that is the same."""
        ...

    def runtime(self, kind: str, name: str) -> Json | None:
        """A TrainingRuntime or ClusterTrainingRuntime that is there; None: there is none."""
        ...


@runtime_checkable
class ReservesPorts(Protocol):
    """Reserves the port on which the pods of a job meet."""

    def release(self, port: int) -> None:
        """Give back what `network` reserved, for a job that will not run or is over."""
        ...

    def has_lost_network(self, handle: Handle) -> bool:
        """Whether a stranger took what was reserved for a job that has yet to be submitted."""
        ...


@runtime_checkable
class Judges(Protocol):
    """Can say of a job that it cannot run there."""

    def problems(self, jobset: Json, source: Json) -> tuple[list[str], list[str]]:
        """Why this JobSet cannot run here, and what of it will not be honoured.

        `source` is what it was compiled from, or the same JobSet.
        """
        ...

    async def rehearse(self, request: Request) -> None:
        """Ask whether the infrastructure would take the request; raises why not."""
        ...


@runtime_checkable
class Recovers(Protocol):
    """Finds jobs again after a server, an agent or the store was lost."""

    async def adopt(self, handle: Handle) -> None:
        """Take note of a job that an earlier server submitted."""
        ...

    def strays(self, known: Callable[[], Collection[str]]) -> list[Workload]:
        """Jobs that were submitted here and are not among those that are known."""
        ...

    async def recover(self, handle: Handle, *, cancelled: bool = False) -> bool:
        """Bring back a lost agent, as the job's policies say; False where that cannot be done.

        Of a job that was cancelled nothing starts again: it only comes to its end.
        """
        ...


@runtime_checkable
class KeepsLogs(Protocol):
    """Keeps what the containers of a job write."""

    def check_logs(self, query: LogQuery) -> None:
        """Raise what is wrong with a query, before anything is read."""
        ...

    def logs(
        self, handle: Handle, query: LogQuery, ended: asyncio.Event
    ) -> AsyncIterator[list[LogLine]]:
        """Lines in batches, in the order of time; a follower stops once the job has `ended`."""
        ...


@runtime_checkable
class KeepsLogFiles(Protocol):
    """Keeps logs in files of this machine, so that any part of them can be read."""

    def log_folder(self, handle: Handle) -> Path:
        """Where they are, named as `logs.files` says."""
        ...


@runtime_checkable
class KeepsOutput(Protocol):
    """Keeps files that a job leaves."""

    def output(self, handle: Handle) -> Path:
        """Where the server keeps what a job left, such as the value that a function returned."""
        ...


@runtime_checkable
class SharesOutput(Protocol):
    """Lets a job read what another one has written, where it has written it."""

    def shared_output(self, job_id: str) -> str:
        """The output directory of a job, as processes of other jobs find it."""
        ...


@runtime_checkable
class LimitsPods(Protocol):
    """Starts pods itself, and not as many as somebody asks for."""

    def most_pods(self) -> int:
        """How many pods a job may have."""
        ...


@runtime_checkable
class Suspends(Protocol):
    """Can stop the pods of a job and start them again."""

    async def suspend(self, handle: Handle) -> None:
        """Stop the pods, keep the job."""
        ...

    async def resume(self, handle: Handle) -> None:
        """Start the pods of a suspended job."""
        ...


@runtime_checkable
class Resizes(Protocol):
    """Can have an elastic job do with fewer nodes, without a restart, and give them back."""

    async def resize(self, handle: Handle, nodes: int) -> None:
        """Let it have so many nodes at most; a ConflictError says that it never gives up any."""
        ...


@runtime_checkable
class Remote(Protocol):
    """Runs jobs on infrastructure that may be gone for good."""

    async def absence(self, handle: Handle) -> Absence | None:
        """Why a job cannot be reached; None: it can."""
        ...

    async def forget(self, handle: Handle) -> None:
        """Remove what is kept here of a job that cannot be reached."""
        ...


def places(backend: Backend) -> list[str]:
    """The places of its family; itself where it knows of no others."""
    return backend.places() if isinstance(backend, HasPlaces) else [backend.name]


async def look(backend: Backend) -> None:
    """Have it learn what it offers now."""
    if isinstance(backend, Surveys):
        await backend.look()


async def survey(backend: Backend) -> None:
    """Have it learn all that can be told of it."""
    if isinstance(backend, Surveys):
        await backend.survey()


def check(backend: Backend) -> list[Check]:
    """Its lines of `doctor`."""
    return backend.check() if isinstance(backend, Surveys) else []


def features(backend: Backend) -> Mapping[Feature, str]:
    """What it can and cannot do; nothing where it does not say."""
    return backend.capabilities() if isinstance(backend, Surveys) else {}


def capacity(backend: Backend) -> Capacity:
    """How much it has; nothing where it does not say, and the engine does not ask then."""
    return backend.capacity() if isinstance(backend, HasCapacity) else Capacity()


def warm_up(backend: Backend) -> None:
    """Have it load what the first job needs."""
    if isinstance(backend, HoldsConnections):
        backend.warm_up()


async def close(backend: Backend) -> None:
    """Have it let go of connections."""
    if isinstance(backend, HoldsConnections):
        await backend.close()


def namespace(backend: Backend, named: str) -> str:
    """Where a job goes; empty: that is the same."""
    return backend.namespace(named) if isinstance(backend, HasNamespaces) else ""


def runtime(backend: Backend, kind: str, name: str) -> Json | None:
    """A runtime of its own."""
    return backend.runtime(kind, name) if isinstance(backend, HasNamespaces) else None


def release(backend: Backend, port: int) -> None:
    """Give back a port."""
    if isinstance(backend, ReservesPorts):
        backend.release(port)


def has_lost_network(backend: Backend, handle: Handle) -> bool:
    """Whether a stranger took the port of a job."""
    return isinstance(backend, ReservesPorts) and backend.has_lost_network(handle)


def problems(backend: Backend, jobset: Json, source: Json) -> tuple[list[str], list[str]]:
    """Why a JobSet cannot run there, and what of it will not be honoured."""
    return backend.problems(jobset, source) if isinstance(backend, Judges) else ([], [])


async def rehearse(backend: Backend, request: Request) -> None:
    """Ask whether a request would be taken."""
    if isinstance(backend, Judges):
        await backend.rehearse(request)


def most_pods(backend: Backend) -> int | None:
    """How many pods a job may have there; None: it sets no limit of its own."""
    return backend.most_pods() if isinstance(backend, LimitsPods) else None


async def adopt(backend: Backend, handle: Handle) -> None:
    """Tell it of a job that an earlier server submitted."""
    if isinstance(backend, Recovers):
        await backend.adopt(handle)


def strays(backend: Backend, known: Callable[[], Collection[str]]) -> list[Workload]:
    """Jobs that are there and that nobody knows."""
    return backend.strays(known) if isinstance(backend, Recovers) else []


async def recover(backend: Backend, handle: Handle, *, cancelled: bool = False) -> bool:
    """Bring back a lost agent."""
    return isinstance(backend, Recovers) and await backend.recover(handle, cancelled=cancelled)


def keeping_logs(backend: Backend) -> KeepsLogs:
    """The backend, which must keep logs."""
    if not isinstance(backend, KeepsLogs):
        raise _unable(backend, "keeps no logs")
    return backend


def keeping_log_files(backend: Backend) -> KeepsLogFiles:
    """The backend, which must keep logs in files."""
    if not isinstance(backend, KeepsLogFiles):
        raise _unable(backend, "keeps no log files")
    return backend


def keeping_output(backend: Backend) -> KeepsOutput:
    """The backend, which must keep what jobs leave."""
    if not isinstance(backend, KeepsOutput):
        raise _unable(backend, "keeps no files of jobs")
    return backend


def holding(backend: Backend) -> HoldsClusters:
    """The backend, which must have nodes for clusters."""
    if not isinstance(backend, HoldsClusters):
        raise _unable(backend, "holds no clusters")
    return backend


def suspending(backend: Backend) -> Suspends:
    """The backend, which must be able to suspend jobs."""
    if not isinstance(backend, Suspends):
        raise _unable(backend, "cannot suspend jobs")
    return backend


def _unable(backend: Backend, what: str) -> ConflictError:
    return ConflictError(
        f"the backend {backend.name} {what}", hint="trainway doctor shows what each backend can do"
    )
