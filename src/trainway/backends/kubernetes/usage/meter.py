"""Asks a cluster every quarter of a minute what the pods of all jobs use, while there are any.

A namespace is one request where the cluster has metrics.k8s.io; elsewhere each node with a pod of a
job is one. What a cluster does not have or does not allow is asked for again only after some
minutes, and is logged once.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Final, NamedTuple, Protocol

from trainway.backends.kubernetes.usage.readings import (
    Reading,
    Readings,
    metrics_readings,
    metrics_request,
    summary_readings,
    summary_request,
)
from trainway.errors import TrainwayError
from trainway.json_types import Json
from trainway.kube.errors import ObjectNotFound, Refused
from trainway.kube.requests import Request

FIRST_S: Final = 5.0
"""When the first job of a cluster is looked at; soon, as its pods may be running already."""
PERIOD_S: Final = 15.0
MOST_NODES: Final = 60
"""How many kubelets are asked at a time; where there are more, each is asked less often."""
_AT_ONCE: Final = 8
_ANSWER_S: Final = 10.0
_ABSENT_S: Final = 600.0
"""How long nobody asks for what does not exist or is forbidden."""
_FAILED_S: Final = 60.0
"""How long nobody asks for what has just failed."""
_ALL: Final = ""

log = logging.getLogger(__name__)


class Sends(Protocol):
    """What requests are sent with: a client."""

    async def send(self, request: Request) -> Json:
        """The JSON of the answer."""
        ...


class MeasuredJob(NamedTuple):
    """Whose pods are measured, and who is told."""

    namespace: str
    selectors: tuple[str, ...]
    """The labels by which pods of jobs are found."""
    pods: Callable[[], Mapping[str, str]]
    """The pods that run now: their nodes, by their names."""
    tell: Callable[[Mapping[str, Reading]], None]
    """Is called with what its pods use, by their names."""


class UsageMeter:
    """Measures the pods of all jobs of one cluster."""

    def __init__(self, client: Sends, clock: Callable[[], float] | None = None) -> None:
        self._client = client
        self._clock = clock or (lambda: asyncio.get_running_loop().time())
        self._jobs: list[MeasuredJob] = []
        self._task: asyncio.Task[None] | None = None
        self._no_metrics: dict[str, float] = {}
        """Until when a namespace, or `_ALL`, is not asked for."""
        self._no_summary: dict[str, float] = {}
        """The same of nodes."""
        self._asked: dict[str, float] = {}
        """When each node was last asked."""
        self._told: set[str] = set()

    @contextmanager
    def measuring(self, job: MeasuredJob) -> Iterator[None]:
        """Measure the pods of a job for a while."""
        self._jobs.append(job)
        task = self._task = self._task or asyncio.create_task(self._run(), name="usage of pods")
        try:
            yield
        finally:
            self._jobs.remove(job)
            if not self._jobs:
                task.cancel()
                self._task = None

    async def close(self) -> None:
        """Measure nothing any more."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def _run(self) -> None:
        await asyncio.sleep(FIRST_S)
        while True:
            try:
                await self.measure()
            except Exception:
                log.exception("what pods use is not known")
            await asyncio.sleep(PERIOD_S)

    async def measure(self) -> None:
        """Look at everything once, and tell the jobs."""
        running = [(job, pods) for job in self._jobs if (pods := job.pods())]
        readings: Readings = {}
        unknown: set[str] = set()
        for namespace in sorted({job.namespace for job, _ in running}):
            jobs = [(job, pods) for job, pods in running if job.namespace == namespace]
            selectors = sorted({selector for job, _ in jobs for selector in job.selectors})
            found = await self._metrics(namespace, selectors)
            if found is None:
                unknown |= {node for _, pods in jobs for node in pods.values() if node}
            else:
                readings |= found
        for part in await self._summaries(unknown):
            readings |= part
        for job, pods in running:
            known = {name: readings.get((job.namespace, name)) for name in pods}
            told = {name: reading for name, reading in known.items() if reading is not None}
            if told and job in self._jobs:
                job.tell(told)

    async def _metrics(self, namespace: str, selectors: Iterable[str]) -> Readings | None:
        """What metrics.k8s.io says of a namespace; None: it says nothing."""
        blocked = (self._no_metrics.get(name, 0.0) for name in (_ALL, namespace))
        if max(blocked) > self._clock():
            return None
        found: Readings = {}
        for selector in selectors:
            try:
                answer = await self._answer(metrics_request(namespace, selector))
            except ObjectNotFound as error:
                self._skip(self._no_metrics, _ALL, _ABSENT_S, error)
                return None
            except Refused as error:
                self._skip(self._no_metrics, namespace, _ABSENT_S, error)
                return None
            except (TrainwayError, TimeoutError, ValueError) as error:
                self._skip(self._no_metrics, namespace, _FAILED_S, error)
                return None
            found |= metrics_readings(answer)
        return found

    async def _summaries(self, nodes: Iterable[str]) -> list[Readings]:
        """What the kubelets of these nodes say, as far as they may be asked."""
        now = self._clock()
        if self._no_summary.get(_ALL, 0.0) > now:
            return []
        free = [node for node in nodes if self._no_summary.get(node, 0.0) <= now]
        chosen = sorted(free, key=lambda node: (self._asked.get(node, 0.0), node))[:MOST_NODES]
        self._asked = {node: self._asked.get(node, 0.0) for node in free}
        self._asked |= dict.fromkeys(chosen, now)
        for node in [name for name, end in self._no_summary.items() if end <= now]:
            del self._no_summary[node]
        found = []
        for start in range(0, len(chosen), _AT_ONCE):
            asked = chosen[start : start + _AT_ONCE]
            if start == 0:  # whether it is allowed, one request says as well as eight
                found += [await self._summary(asked.pop(0))]
            if self._no_summary.get(_ALL, 0.0) > now:
                break
            found += await asyncio.gather(*map(self._summary, asked))
        return found

    async def _summary(self, node: str) -> Readings:
        try:
            return summary_readings(await self._answer(summary_request(node)))
        except Refused as error:
            self._skip(self._no_summary, _ALL, _ABSENT_S, error)
        except (TrainwayError, TimeoutError, ValueError) as error:
            self._skip(self._no_summary, node, _FAILED_S, error)
        return {}

    async def _answer(self, request: Request) -> object:
        async with asyncio.timeout(_ANSWER_S):
            return await self._client.send(request)

    def _skip(
        self, ends: dict[str, float], name: str, seconds: float, error: BaseException
    ) -> None:
        """Ask no more for a while, and say why when that is news."""
        ends[name] = self._clock() + seconds
        source = "metrics.k8s.io" if ends is self._no_metrics else "a kubelet"
        kind = f"{source} does not say what pods use: {type(error).__name__}"
        if kind not in self._told:
            self._told.add(kind)
            log.info("%s: %s", kind, error)
