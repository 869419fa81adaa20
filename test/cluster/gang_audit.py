"""What really happened in a namespace, noted by a watch of its own and judged at the end.

The operator is not asked. Every object that was ever there is known by its uid, so nothing that was
made twice, or made and removed again, stays unseen.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import Final

from jobset_player import events
from kwok_gangs import Gang

from trainway.json_types import Json
from trainway.kube.client import Client
from trainway.kube.resources import CONFIG_MAPS, JOBSETS, PODS, TRAINJOBS, Resource
from trainway.operator.trainjobs.runtime_snapshot import snapshot_name

ENDS: Final = ("Complete", "Failed")
JOBSET: Final = "jobset.sigs.k8s.io/jobset-name"
ATTEMPT: Final = "jobset.sigs.k8s.io/restart-attempt"
INDEX: Final = "batch.kubernetes.io/job-completion-index"
LIVE: Final = ("Pending", "Running")
LOOK_S: Final = 0.1
NEWS_S: Final = 30.0
"""How long a watch may be behind another."""


def ending(trainjob: Json) -> str | None:
    """The condition that ended a job."""
    conditions = (trainjob.get("status") or {}).get("conditions") or []
    types = [item["type"] for item in conditions if item["status"] == "True"]
    return next((each for each in types if each in ENDS), None)


async def _until(condition: Callable[[], bool], seconds: float) -> bool:
    """Whether it came true in time."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    while not condition():
        if loop.time() > deadline:
            return False
        await asyncio.sleep(LOOK_S)
    return True


class Births:
    """Every object that was ever there, by kind and name."""

    def __init__(self, *resources: Resource) -> None:
        self.uids: dict[tuple[str, str], set[str]] = defaultdict(set)
        self._resources = resources

    @asynccontextmanager
    async def recording(self, client: Client, namespace: str) -> AsyncIterator[None]:
        """Note what happens in the namespace while the block runs."""
        tasks = [
            asyncio.create_task(self._record(client, resource, namespace))
            for resource in self._resources
        ]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    async def _record(self, client: Client, resource: Resource, namespace: str) -> None:
        async with aclosing(events(client, resource, namespace)) as changes:
            async for _kind, obj in changes:
                self.note(resource, obj)

    async def wait_for(self, resource: Resource, count: int, seconds: float) -> None:
        """Wait until so many names of a kind were seen, or the time is over."""
        await _until(lambda: len(self.names(resource)) >= count, seconds)

    def note(self, resource: Resource, obj: Json) -> None:
        """An object was seen."""
        metadata = obj["metadata"]
        self.uids[resource.kind, metadata["name"]].add(metadata["uid"])

    def names(self, resource: Resource) -> set[str]:
        """All names that objects of a kind had."""
        return {name for kind, name in self.uids if kind == resource.kind}

    def twice(self) -> list[tuple[str, str]]:
        """What was there under one name more than once."""
        return [born for born, uids in self.uids.items() if len(uids) > 1]


class GangAudit(Births):
    """Births and lives of gangs and of their pods; a queue may change their JobSets."""

    def __init__(self, *, may_change: bool = False) -> None:
        super().__init__(TRAINJOBS, JOBSETS, CONFIG_MAPS, PODS)
        self._may_change = may_change
        self.endings: dict[str, list[str]] = defaultdict(list)
        self.most_alive = 0
        self._generations: dict[str, int] = {}
        self._phases: dict[str, dict[tuple[int, int], dict[str, str]]] = defaultdict(dict)
        self._alive: set[str] = set()

    def note(self, resource: Resource, obj: Json) -> None:
        """An object was seen."""
        name = obj["metadata"]["name"]
        if resource != PODS:  # whose names are random
            super().note(resource, obj)
        if resource == PODS:
            self._note_pod(obj)
        elif resource == JOBSETS:
            self._generations[name] = obj["metadata"]["generation"]
        elif resource == TRAINJOBS:
            end = ending(obj)
            if end and end not in self.endings[name]:
                self.endings[name].append(end)

    def _note_pod(self, pod: Json) -> None:
        metadata, phase = pod["metadata"], pod["status"]["phase"]
        labels = metadata["labels"]
        place = int(labels[ATTEMPT]), int(labels[INDEX])
        self._phases[labels[JOBSET]].setdefault(place, {})[metadata["uid"]] = phase
        if phase in LIVE and "deletionTimestamp" not in metadata:
            self._alive.add(metadata["uid"])
        else:
            self._alive.discard(metadata["uid"])
        self.most_alive = max(self.most_alive, len(self._alive))

    async def wait_for_pods(self, count: int, seconds: float) -> None:
        """Wait until so many pods were there at one moment, or the time is over."""
        await _until(lambda: self.most_alive >= count, seconds)

    async def wait_for_ends(self, gangs: Sequence[Gang], seconds: float) -> None:
        """Wait until all gangs have ended, or the time is over.

        Each kind has a watch of its own: that of pods may tell the end of one after that of its
        job was told.
        """
        if await _until(lambda: all(self.endings.get(gang.name) for gang in gangs), seconds):
            await _until(lambda: not self.problems(gangs), NEWS_S)

    def problems(self, gangs: Sequence[Gang]) -> list[str]:
        """All that should not have happened, in words."""
        found = [f"{kind} {name} was made twice" for kind, name in self.twice()]
        strangers = self.names(JOBSETS) - {gang.name for gang in gangs}
        found += [f"JobSet {name} belongs to no gang" for name in sorted(strangers)]
        for gang in gangs:
            found += [f"{gang.name}: {text}" for text in self._problems_of(gang)]
        return found

    def _problems_of(self, gang: Gang) -> Iterator[str]:
        ends = self.endings.get(gang.name, [])
        if ends != [gang.ending]:
            yield f"ended as {ends}, not as {gang.ending}"
        if (JOBSETS.kind, gang.name) not in self.uids:
            yield "had no JobSet"
        elif self._generations[gang.name] != 1 and not self._may_change:
            yield "its JobSet was changed"
        if (CONFIG_MAPS.kind, snapshot_name(gang.name)) not in self.uids:
            yield "had no snapshot of its runtime"
        yield from self._problems_of_pods(gang)

    def _problems_of_pods(self, gang: Gang) -> Iterator[str]:
        pods = self._phases.get(gang.name, {})
        for (attempt, index), phases in pods.items():
            if len(phases) > 1:
                yield f"pod {index} of attempt {attempt} was made {len(phases)} times"
        attempts = {attempt for attempt, _ in pods}
        if attempts != set(range(gang.restarts + 1)):
            yield f"had the attempts {sorted(attempts)}"
        last = {index for attempt, index in pods if attempt == gang.restarts}
        if last != set(range(gang.pods)):
            yield f"had the pods {sorted(last)} of {gang.pods}"
        elif gang.ending == "Complete":
            ends = {phase for index in last for phase in pods[gang.restarts, index].values()}
            if ends != {"Succeeded"}:
                yield f"its last pods were {', '.join(sorted(ends))}"
