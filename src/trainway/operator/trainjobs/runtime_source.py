"""Runtimes as they are now, in the form in which TrainJobs are built from them.

A TrainJob keeps the runtime that it was first built with, so that first look must not be at an old
copy: `kubectl apply` of a changed runtime and a new TrainJob takes less time than a watch may lag.
So the runtime is read from the API server; but one read serves all TrainJobs that ask before it
starts, and reads of one runtime come one after the other, some time apart. Under load, when a read
takes long, that is a read for many jobs.
"""

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Hashable
from typing import Final, Protocol

from trainway.compiler.workload import Runtime
from trainway.json_types import Json
from trainway.kube.errors import ObjectNotFound
from trainway.kube.resources import CLUSTER_TRAINING_RUNTIMES, TRAINING_RUNTIMES, Resource
from trainway.operator.trainjobs.build_error import BuildError
from trainway.operator.trainjobs.memory import Snapshot
from trainway.operator.trainjobs.runtime_snapshot import (
    parsed_runtime,
    parsed_snapshot,
    runtime_text,
)

_APART_S: Final = 0.03
_LONGEST_TURN_S: Final = 1.0
"""How long a read may hold up the next one: its connection may be dead."""
_MOST_KEPT: Final = 256


class Reader(Protocol):
    """The part of a client that is needed here."""

    async def get(self, resource: Resource, name: str, namespace: str = "") -> Json:
        """One object; ObjectNotFound if there is none."""
        ...


_Place = tuple[Resource, str, str]


class RuntimeSource:
    """Reads and parses runtimes, each version once; reads of one start `apart_s` after another."""

    def __init__(self, client: Reader, apart_s: float = _APART_S) -> None:
        self._client = client
        self._apart_s = apart_s
        self._coming: dict[_Place, asyncio.Task[Snapshot]] = {}
        """Reads that have not started: whoever asks now may share them."""
        self._reading: dict[_Place, asyncio.Task[Snapshot]] = {}
        """Reads that have started, too early for whoever asks now."""
        self._started: dict[_Place, float] = {}
        self._parsed: OrderedDict[Hashable, Snapshot] = OrderedDict()

    async def live(self, job: Json) -> Snapshot:
        """The runtime of a TrainJob as it is now."""
        ref = job["spec"]["runtimeRef"]
        is_namespaced = ref.get("kind") == TRAINING_RUNTIMES.kind
        resource = TRAINING_RUNTIMES if is_namespaced else CLUSTER_TRAINING_RUNTIMES
        place = (resource, job["metadata"]["namespace"] if is_namespaced else "", ref["name"])
        coming = self._coming.get(place)
        if coming is None:
            coming = self._coming[place] = asyncio.create_task(self._read(place))
            coming.add_done_callback(_heard)
        return await asyncio.shield(coming)

    def stored(self, text: str, ref: Json) -> Snapshot:
        """The runtime in the snapshot of a TrainJob."""
        digest = hashlib.blake2b(text.encode(), digest_size=16).digest()
        key = (digest, ref["name"], ref.get("apiGroup"), ref.get("kind"))
        known = self._known(key)
        return known or self._keep(key, text, parsed_snapshot(text, ref))

    async def _read(self, place: _Place) -> Snapshot:
        resource, namespace, name = place
        await self._turn(place)
        reading = self._reading[place] = self._coming.pop(place)
        try:
            runtime = await self._client.get(resource, name, namespace)
        except ObjectNotFound as error:
            self._started.pop(place, None)
            raise BuildError(f"{_NOT_FOUND[resource]}: {error}", missing_runtime=True) from error
        finally:
            if self._reading.get(place) is reading:
                del self._reading[place]
        head = {"apiVersion": resource.api_version, "kind": resource.kind}
        return self._current(runtime | head)

    async def _turn(self, place: _Place) -> None:
        """Wait for the read before this one, and until it began long enough ago."""
        reading = self._reading.get(place)
        if reading is not None:
            await asyncio.wait({reading}, timeout=_LONGEST_TURN_S)
        clock = asyncio.get_running_loop().time
        pause = self._started.get(place, -self._apart_s) + self._apart_s - clock()
        if pause > 0:
            await asyncio.sleep(pause)
        self._started[place] = clock()

    def _current(self, runtime: Json) -> Snapshot:
        metadata = runtime["metadata"]
        key = (metadata["uid"], metadata["resourceVersion"])
        known = self._known(key)
        return known or self._keep(key, runtime_text(runtime), parsed_runtime(runtime))

    def _known(self, key: Hashable) -> Snapshot | None:
        found = self._parsed.get(key)
        if found is not None:
            self._parsed.move_to_end(key)
        return found

    def _keep(self, key: Hashable, text: str, runtime: Runtime) -> Snapshot:
        snapshot = self._parsed[key] = Snapshot(text, runtime)
        if len(self._parsed) > _MOST_KEPT:
            self._parsed.popitem(last=False)
        return snapshot


def _heard(read: "asyncio.Task[Snapshot]") -> None:
    """Take note of a failure also where all who asked have gone: asyncio would log it."""
    if not read.cancelled():
        read.exception()


_NOT_FOUND: Final = {
    TRAINING_RUNTIMES: "TrainingRuntime specified in TrainJob is not found",
    CLUSTER_TRAINING_RUNTIMES: "not found ClusterTrainingRuntime specified in TrainJob",
}
