"""An API server of OptimizationJobs and TrainJobs in memory, which dies in the middle of requests.

What it stores comes to the caches of the controller when a test lets it; until then they are old.
"""

import copy
import itertools
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final, cast

from trainway.json_types import Json
from trainway.kube.client import Client
from trainway.kube.connection import Connection, Endpoint
from trainway.kube.credentials import Credentials
from trainway.kube.errors import AlreadyExists, ApiError, Conflict, ObjectNotFound
from trainway.kube.events import EventRecorder
from trainway.kube.informers import Informers
from trainway.kube.resources import OPTIMIZATION_JOBS, TRAINJOBS, Resource
from trainway.operator import caches
from trainway.operator.context import Context
from trainway.operator.metrics import Metrics
from trainway.operator.optimizationjobs.reconciler import Reconciler

KEY: Final = "ns/demo"
NOW: Final = datetime(2026, 1, 31, 12, 0, 0, tzinfo=UTC)


class KilledError(BaseException):
    """The operator is no more."""


class _NoCredentials:
    async def fetch(self) -> Credentials:
        raise AssertionError("nobody is asked here")


class Recorder:
    """Keeps what was told."""

    def __init__(self) -> None:
        self.told: list[tuple[str, str]] = []

    def record(self, _obj: Json, _type: str, reason: str, message: str) -> None:
        """Keep an event."""
        self.told.append((reason, message))


class World:
    """The cluster, and an operator that can be killed."""

    def __init__(self, *objects: Json) -> None:
        self.objects: dict[tuple[str, str], Json] = {}
        self.recorder = Recorder()
        self.metrics = Metrics()
        self.refusal: ApiError | None = None
        """What every creation is answered with."""
        self.births: list[str] = []
        self.dies: Callable[[], bool] = lambda: False
        """Whether the operator is killed, asked before and after each request is done."""
        self._versions = itertools.count(1)
        for obj in objects:
            self.store(obj)
        self.start()

    def store(self, obj: Json) -> Json:
        """Keep an object as the API server does."""
        version = str(next(self._versions))
        metadata = {"uid": f"U{version}", **obj["metadata"], "resourceVersion": version}
        stored = {**obj, "metadata": {"namespace": "ns", **metadata}}
        self.objects[obj["kind"], metadata["name"]] = stored
        return stored

    def start(self) -> None:
        """Start the operator, which sees what there is."""
        informers = Informers(Client(Connection(Endpoint("https://nowhere"), _NoCredentials())))
        self._searches = informers.of(OPTIMIZATION_JOBS)
        self._trainjobs = caches.trainjobs(informers)
        context = Context(
            client=cast("Client", self),
            informers=informers,
            recorder=cast("EventRecorder", self.recorder),
            mpi_recorder=cast("EventRecorder", self.recorder),
            optimization_recorder=cast("EventRecorder", self.recorder),
            config=cast("Any", None),
            now=lambda: NOW,
            metrics=self.metrics,
            keys=cast("Any", None),
            endpoint=lambda: None,
            namespace="default",
        )
        self.reconciler = Reconciler(context, self._searches.store, self._trainjobs.store)
        self.see()

    def see(self) -> None:
        """Let the caches have all that there is."""
        for (kind, _), obj in self.objects.items():
            cache = self._trainjobs if kind == TRAINJOBS.kind else self._searches
            cache.put(copy.deepcopy(obj))

    async def look(self) -> float | None:
        """Let the operator look at the search once."""
        return await self.reconciler.reconcile(KEY)

    # What the reconciler asks

    async def create(
        self, resource: Resource, obj: Json, _namespace: str, *, field_manager: str
    ) -> Json:
        """Create a TrainJob."""
        assert (resource, field_manager) == (TRAINJOBS, "trainer")
        self._die()
        if self.refusal is not None:
            raise self.refusal
        name = obj["metadata"]["name"]
        if (obj["kind"], name) in self.objects:
            raise AlreadyExists(f'trainjobs "{name}" already exists', status=409)
        self.births.append(name)
        stored = self.store(copy.deepcopy(obj))
        self._die()
        return copy.deepcopy(stored)

    async def patch(
        self, resource: Resource, name: str, _namespace: str, body: Json, *, subresource: str = ""
    ) -> Json:
        """Write a status, or annotate a TrainJob."""
        self._die()
        found = self.objects.get((resource.kind, name))
        if found is None:
            raise ObjectNotFound(name, status=404)
        if subresource:
            version = body["metadata"]["resourceVersion"]
            if version != found["metadata"]["resourceVersion"]:
                raise Conflict("it has changed", status=409)
            changed = {**found, "status": {**(found.get("status") or {}), **body["status"]}}
        else:
            annotations = found["metadata"].get("annotations") or {}
            more = {"annotations": {**annotations, **body["metadata"]["annotations"]}}
            changed = {**found, "metadata": {**found["metadata"], **more}}
        stored = self.store(changed)
        self._die()
        return copy.deepcopy(stored)

    def _die(self) -> None:
        if self.dies():
            raise KilledError

    # What tests read and do

    @property
    def status(self) -> Json:
        """Of the search."""
        found: Json = self.objects[OPTIMIZATION_JOBS.kind, "demo"].get("status") or {}
        return found

    @property
    def conditions(self) -> list[tuple[str, str]]:
        """Type and reason of those of the search."""
        found = self.status.get("conditions") or []
        return [(item["type"], item["reason"]) for item in found]

    @property
    def active(self) -> list[str]:
        """The trials that have not ended."""
        return [
            name
            for (kind, name), job in self.objects.items()
            if kind == TRAINJOBS.kind and not (job.get("status") or {}).get("conditions")
        ]

    def trial(self, index: int) -> Json:
        """A trial."""
        return self.objects[TRAINJOBS.kind, f"demo-{index}"]

    def report(self, name: str, progress: int, **metrics: float) -> None:
        """Let a trial say how far it is."""
        job = self.objects[TRAINJOBS.kind, name]
        values = [{"name": key, "value": str(value)} for key, value in metrics.items()]
        trainer = {"progressPercentage": progress, "metrics": values}
        self.store({**job, "status": {**(job.get("status") or {}), "trainerStatus": trainer}})

    def end(self, name: str, type_: str = "Complete", reason: str = "AllJobsCompleted") -> None:
        """Let a trial end."""
        job = self.objects[TRAINJOBS.kind, name]
        condition = {"type": type_, "status": "True", "reason": reason, "message": ""}
        self.store({**job, "status": {**(job.get("status") or {}), "conditions": [condition]}})


def search(choices: int = 4, name: str = "demo", **spec: Any) -> Json:
    """A grid search of so many trials, two at a time."""
    space = {"categorical": {"choices": [str(number) for number in range(choices)]}}
    return {
        "apiVersion": OPTIMIZATION_JOBS.api_version,
        "kind": OPTIMIZATION_JOBS.kind,
        "metadata": {"name": name},
        "spec": {
            "objectives": [{"metric": "loss"}],
            "searchAlgorithm": {"grid": {}},
            "parameters": [{"name": "lr", "searchSpace": space}],
            "numTrials": choices,
            "parallelTrials": 2,
            "trainJobTemplate": {"spec": {"runtimeRef": {"name": "torch"}}},
            **spec,
        },
    }
