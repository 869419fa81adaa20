"""What all jobs of one namespace share: a client, and copies of its objects that stay up to date.

One watch of a resource serves every job. It begins when the first job needs it and ends some time
after the last; nothing is ever polled.
"""

import asyncio
import logging
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Final

from trainway.backends.kubernetes.container_log import Slots
from trainway.backends.kubernetes.form import TRAINJOB_API, Offer, apis_of
from trainway.backends.kubernetes.pods import gang_of, kept
from trainway.backends.kubernetes.sites import POD
from trainway.backends.kubernetes.usage.meter import UsageMeter
from trainway.jobset.labels import JOB_ID, JOBSET_NAME, MPI_JOB_NAME
from trainway.json_types import Json
from trainway.kube import resources
from trainway.kube.client import Client
from trainway.kube.connection import load_connection
from trainway.kube.errors import ObjectNotFound, Refused
from trainway.kube.informer import Change, Informer, Keep
from trainway.kube.public_config import PUBLIC_CONFIG_MAP, annotations_of, system_namespace
from trainway.kube.queue_position import QueuePositions
from trainway.kube.resources import Resource

Listener = Callable[[Resource, Change], None]
Key = tuple[Resource, str]
"""A resource, and the labels by which its objects are chosen."""

_LINGER_S: Final = 60.0
_USER_AGENT: Final = "trainway-server"
_TOLD: Final = frozenset(
    {"Pod", "Job", "JobSet", "TrainJob", "MPIJob", "LeaderWorkerSet", "Workload", "Service"}
)
"""The kinds whose events may be about a job."""

PODS: Final[Key] = (resources.PODS, JOBSET_NAME)
MPI_PODS: Final[Key] = (resources.PODS, MPI_JOB_NAME)
JOBSETS: Final[Key] = (resources.JOBSETS, "")
LEADER_WORKER_SETS: Final[Key] = (resources.LEADER_WORKER_SETS, JOB_ID)
JOBS: Final[Key] = (resources.JOBS, JOB_ID)
GANG_JOBS: Final[Key] = (resources.JOBS, JOBSET_NAME)
"""Also those that JobSet has made."""
SERVICES: Final[Key] = (resources.SERVICES, JOB_ID)
TRAINJOBS: Final[Key] = (resources.TRAINJOBS, JOB_ID)
MPIJOBS: Final[Key] = (resources.MPIJOBS, JOB_ID)
EVENTS: Final[Key] = (resources.EVENTS, "")
WORKLOADS: Final[Key] = (resources.WORKLOADS, "")

log = logging.getLogger(__name__)


def connect(kubeconfig: Sequence[str], context: str) -> Client:
    """A client for a context of these files, or for the pod that we run in."""
    if not kubeconfig:
        environ = {name: value for name, value in os.environ.items() if name != "KUBECONFIG"}
        return Client(load_connection(environ=environ), user_agent=_USER_AGENT)
    environ = {**os.environ, "KUBECONFIG": os.pathsep.join(kubeconfig)}
    chosen = None if context == POD else context
    return Client(load_connection(context=chosen, environ=environ), user_agent=_USER_AGENT)


async def offer_of(client: Client, namespace: str) -> Offer:
    """What the cluster understands, and the runtimes that a job in the namespace can name."""
    apis = apis_of(await client.raw("GET", "/apis"))
    runtimes: list[Json] = []
    annotations: frozenset[str] = frozenset()
    if TRAINJOB_API in apis:
        annotations = await _followed_annotations(client)
        runtimes += await readable(client, resources.CLUSTER_TRAINING_RUNTIMES)
        runtimes += await readable(client, resources.TRAINING_RUNTIMES, namespace)
    named = {(obj["kind"], obj["metadata"]["name"]): obj for obj in runtimes}
    return Offer(apis, named, annotations)


async def _followed_annotations(client: Client) -> frozenset[str]:
    """The annotations of a TrainJob that the operator says it follows."""
    where = system_namespace(os.environ)
    try:
        return annotations_of(await client.get(resources.CONFIG_MAPS, PUBLIC_CONFIG_MAP, where))
    except (Refused, ObjectNotFound) as error:
        log.info("%s: %s", PUBLIC_CONFIG_MAP, error)
        return frozenset()


async def readable(
    client: Client, resource: Resource, namespace: str = "", field_selector: str = ""
) -> list[Json]:
    """All objects of a resource; none where we may not read it, or there is no such thing."""
    try:
        found = await client.list(resource, namespace, field_selector=field_selector)
    except (Refused, ObjectNotFound) as error:
        log.info("%s: %s", resource, error)
        return []
    return found.items


class Session:
    """One namespace of one cluster."""

    def __init__(
        self, client: Client, namespace: str, meter: UsageMeter, linger_s: float = _LINGER_S
    ) -> None:
        self.client = client
        self.meter = meter
        """Measures the pods of all jobs of the cluster."""
        self.namespace = namespace
        self.slots = Slots()
        self.positions = QueuePositions(client)
        self._informers: dict[Key, Informer] = {}
        self._tasks: dict[Key, asyncio.Task[None]] = {}
        self._listeners: defaultdict[str, list[Listener]] = defaultdict(list)
        self._linger_s = linger_s
        self._ending: asyncio.TimerHandle | None = None

    def informer(self, key: Key) -> Informer:
        """The copy of a resource; it begins to fill when it is first asked for."""
        if key not in self._informers:
            resource, selector = key
            informer = Informer(
                self.client,
                resource,
                namespaces=[self.namespace],
                label_selector=selector,
                keep=_KEEPS.get(resource),
                indexers={"gang": gangs_of(resource)},
            )
            informer.add_handler(lambda change: self._tell(resource, change))
            self._informers[key] = informer
            self._tasks[key] = asyncio.create_task(informer.run(), name=f"informer {resource}")
        return self._informers[key]

    def find(self, key: Key, gang: str) -> list[Json]:
        """The objects of a resource that belong to a gang."""
        return self.informer(key).store.by_index("gang", gang)

    async def synced(self, keys: Iterable[Key]) -> None:
        """Wait until everything of these was listed once."""
        for informer in [self.informer(key) for key in keys]:
            await informer.synced()

    def refusal(self, keys: Iterable[Key]) -> str:
        """What the API server says while it forbids us to read any of these."""
        told = (self.informer(key).refusal for key in keys)
        return next((text for text in told if text), "")

    @contextmanager
    def listening(self, gang: str, keys: Sequence[Key], listener: Listener) -> Iterator[None]:
        """Call the listener with what is there of a gang, and then with every change."""
        if self._ending is not None:
            self._ending.cancel()
            self._ending = None
        self._listeners[gang].append(listener)
        try:
            for key in keys:
                for obj in self._known(key, gang):
                    name = f"{self.namespace}/{obj['metadata']['name']}"
                    listener(key[0], Change("added", name, obj))
            yield
        finally:
            self._listeners[gang].remove(listener)
            if not self._listeners[gang]:
                del self._listeners[gang]
            if not self._listeners:
                loop = asyncio.get_running_loop()
                self._ending = loop.call_later(self._linger_s, self._stop)

    async def close(self) -> None:
        """Stop watching."""
        if self._ending is not None:
            self._ending.cancel()
        tasks = self._stop()
        for task in tasks:
            with suppress(asyncio.CancelledError):
                await task

    def _known(self, key: Key, gang: str) -> list[Json]:
        """The objects that may be a gang's, of an informer that may be new."""
        store = self.informer(key).store
        if key != EVENTS:
            return store.by_index("gang", gang)
        return [event for event in store.values() if _is_of(_about(event)[0], gang)]

    def _stop(self) -> list[asyncio.Task[None]]:
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        self._tasks.clear()
        self._informers.clear()
        return tasks

    def _tell(self, resource: Resource, change: Change) -> None:
        if not self._listeners:
            return
        if resource is resources.EVENTS:
            about = change.object["involvedObject"]["name"]
            names = [gang for gang in self._listeners if _is_of(about, gang)]
        else:
            names = list(gangs_of(resource)(change.object))
        for name in names:
            for listener in list(self._listeners.get(name, ())):
                listener(resource, change)


def gangs_of(resource: Resource) -> Callable[[Json], Iterable[str]]:
    """By which names of jobs an object of the resource is found."""
    return _GANGS.get(resource, _named)


def _named(obj: Json) -> tuple[str, ...]:
    return (str(obj["metadata"]["name"]),)


def _selected(obj: Json) -> tuple[str, ...]:
    """A headless Service has the name of its JobSet in its selector."""
    name = ((obj.get("spec") or {}).get("selector") or {}).get(JOBSET_NAME)
    return (str(name),) if name else ()


def _owners(obj: Json) -> tuple[str, ...]:
    references = obj["metadata"].get("ownerReferences") or ()
    return tuple(str(reference["name"]) for reference in references)


def _about(obj: Json) -> tuple[str, ...]:
    """An event is found by the name of what it is about, which may be longer than the gang's."""
    return (str(obj["involvedObject"]["name"]),)


def _is_of(name: str, gang: str) -> bool:
    return name == gang or name.startswith(f"{gang}-")


def _kept_jobset(jobset: Json) -> Json:
    """Without its templates, which are large and never change."""
    spec = jobset.get("spec") or {}
    kept = {name: spec[name] for name in ("suspend", "ttlSecondsAfterFinished") if name in spec}
    return {**jobset, "spec": kept}


def _kept_event(event: Json) -> Json | None:
    return event if (event.get("involvedObject") or {}).get("kind") in _TOLD else None


_GANGS: Final[dict[Resource, Callable[[Json], Iterable[str]]]] = {
    resources.PODS: gang_of,
    resources.JOBS: gang_of,
    resources.LEADER_WORKER_SETS: gang_of,
    resources.SERVICES: _selected,
    resources.EVENTS: _about,
    resources.WORKLOADS: _owners,
}
_KEEPS: Final[dict[Resource, Keep]] = {
    resources.PODS: kept,
    resources.JOBSETS: _kept_jobset,
    resources.EVENTS: _kept_event,
}
