"""The clusters of one server: held allocations, each with a queue of its own.

Who keeps a cluster is the agent of its pool, which goes on without us; here is what was asked for,
and what the agent last said of it. A cluster on this machine holds its share only while jobs of it
run, so they stand in the engine's own queue (`shares`); elsewhere the agent finds the nodes.
"""

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from typing import Final

from trainway.backends.base import Devices
from trainway.engine.cluster import shape as cluster_shape
from trainway.engine.cluster.access import access_to
from trainway.engine.cluster.agents import Agents
from trainway.engine.cluster.book import ClusterBook
from trainway.engine.cluster.context import ClusterContext
from trainway.engine.cluster.draining import Draining
from trainway.engine.cluster.name import check_name, generated_name
from trainway.engine.cluster.news import ClusterNews
from trainway.engine.cluster.queue import cluster_jobs
from trainway.engine.cluster.record import ClusterRecord, State, cluster_view
from trainway.engine.cluster.refusal import refuse_unfitting, refuse_worker
from trainway.engine.cluster.rented import RentedClusters, is_rented
from trainway.engine.cluster.request import (
    Launch,
    autostop_of,
    canonical,
    check_autostop,
    infra_of,
    is_at,
    is_stoppable,
    labels_text,
    stored,
)
from trainway.engine.cluster.settling import Settling
from trainway.engine.cluster.shares import Shares
from trainway.engine.live import LiveJob
from trainway.engine.queue import GPUS, Decision, QueuedGang
from trainway.engine.rental.choice import Chosen
from trainway.engine.rental.interruption import Interruption
from trainway.engine.submission import Prepared
from trainway.engine.times import time_text
from trainway.errors import (
    ConflictError,
    DatabaseError,
    NotFoundError,
    TrainwayError,
)
from trainway.families.builtin import HELD
from trainway.jobset.labels import CLUSTER, CLUSTER_JOB, WORKER_POOL
from trainway.json_types import Json

log = logging.getLogger(__name__)

_PATIENCE_S: Final = 5.0
"""How long to wait for what was written of jobs that have ended."""
_END_S: Final = 60.0
"""How long to wait for the end of jobs on this machine, where no agent of a cluster says it."""


class Clusters:
    """All clusters."""

    def __init__(self, around: ClusterContext, agents: Callable[[], Agents]) -> None:
        self._around = around
        self._book = ClusterBook(around.ledger, agents, around.worker_changed)
        draining = Draining(self._book, around.jobs)
        self._rented = RentedClusters(self._book, around.office, draining.drain)
        self._settling = Settling(around, self._book, self._rented)
        heard = (self._rented.released, self._rented.hear)
        self._news = ClusterNews(self._book, around.schedule, *heard)
        self._waking: set[str] = set()

    @property
    def book(self) -> ClusterBook:
        """What is known of them."""
        return self._book

    @property
    def agents(self) -> Agents:
        """Those who keep them."""
        return self._book.agents

    @property
    def _records(self) -> dict[str, ClusterRecord]:
        return self._book.records

    def find(self, name: str) -> ClusterRecord | None:
        """One of them, if it is there."""
        return self._records.get(name)

    def interruption(self, name: str) -> Interruption | None:
        """That a cloud takes machines of one back; None: it does not."""
        record = self._records.get(name)
        is_one = record is not None and is_rented(record.infra)
        return self._rented.interruption(name) if is_one else None

    async def taken(self, name: str) -> Interruption | None:
        """That a cloud has taken machines of one, which it is asked now; None: it has not."""
        record = self._records.get(name)
        if record is None or not is_rented(record.infra):
            return None
        return await self._rented.taken(record)

    async def start(self) -> None:
        """Take up what an earlier server knew, and what has become of it since."""
        await self._book.load()
        self._rented.begin()
        for record in self._records.values():
            if record.state != State.STOPPED or record.message:  # a wish may be half done
                self._settling.soon(record.name)
        self._news.listen()

    async def close(self) -> None:
        """Look after them no more; their agents do."""
        await self._settling.close()
        await self._rented.close()
        await self._news.close()
        await self._book.close()

    def gangs(self) -> list[QueuedGang]:
        """Those that wait for this machine."""
        return [record.gang for record in self._records.values() if record.gang is not None]

    @property
    def shares(self) -> Shares:
        """What they hold of this machine."""
        return Shares(self._records, self._around.job_records)

    def wake(self, name: str) -> None:
        """Start one again that stopped while a job of it waited for this machine."""
        if self._records[name].state == State.STOPPED and name not in self._waking:
            self._waking.add(name)
            self._settling.spawn(self._wake, name)

    async def _wake(self, name: str) -> None:
        try:
            await self.restart(name)
        except TrainwayError as error:
            log.warning("cluster %s cannot be started again: %s", name, error)
        finally:
            self._waking.discard(name)

    async def decided(self, decision: Decision) -> None:
        """Do what the queue decided for clusters."""
        ours = {record.id: record for record in self._records.values()}
        for cluster_id, record in ours.items():
            if cluster_id in decision.start:
                await self._begin(record, decision.start[cluster_id])
                continue
            why = decision.waiting.get(cluster_id) or decision.inadmissible.get(cluster_id)
            if why and record.message != why:
                await self._book.change(record.name, message=why)

    async def _begin(self, record: ClusterRecord, devices: Devices) -> None:
        """It fits now."""
        given = {node: {GPUS: list(kinds.get(GPUS, ()))} for node, kinds in devices.items()}
        await self._book.change(record.name, devices=json.dumps(given), message="")
        self._settling.soon(record.name)

    async def launch(self, request: Launch) -> Json:
        """Make a cluster, unless it is there; a stopped one starts again."""
        await self._news.hear()
        known = self._records.get(request.name) if request.name else None
        if known is not None:
            refuse_worker(known, request.worker_pool)
            return await self._launched_again(known, request)
        record = await self.planned(request)
        name = record.name
        if request.dry_run:
            return self._view(record)
        if not await self._book.add(record):
            return await self.launch(request)  # somebody else was faster
        try:
            if is_rented(record.infra):
                self._settling.soon(name)  # that takes minutes
            else:
                await self._settling.settle(name)
        except DatabaseError:
            self._settling.soon(name)  # the cluster is stored: what is left is done when it can be
        except TrainwayError:
            await self._book.forget_gone(name)
            raise
        self._news.listen()
        await self._around.schedule()
        return self._view(self._records.get(name, record))

    async def planned(self, request: Launch) -> ClusterRecord:
        """The cluster that a request would make; raises why there can be none."""
        self._around.admit(request.labels)
        wanted = cluster_shape.read(request.nodes, request.resources or {})
        infra = infra_of(self.agents, request.infra, wanted)
        name = check_name(request.name) if request.name else generated_name(self._records)
        autostop = autostop_of(request, wanted)
        check_autostop(infra, autostop)
        resources = json.dumps(stored(wanted, infra, request))
        await refuse_unfitting(name, infra, wanted.shape, self.agents, self._around.capacity)
        record = ClusterRecord(
            name=name,
            id=self._around.ids.new(),
            infra=infra,
            pool=self.agents.pool(infra, request.worker_pool or name),
            nodes=request.nodes,
            resources=resources,
            autostop=json.dumps(autostop) if autostop else "",
            launched=time_text(self._around.clock()),
            worker_pool=request.worker_pool,
            labels=labels_text(request.labels),
            budget=request.budget,
        )
        await self._rented.check(record)
        return record

    async def offered(self, request: Launch) -> Chosen:
        """What would be rented first for a cluster; raises why nothing would."""
        return await self._rented.offer(await self.planned(request))

    async def _launched_again(self, record: ClusterRecord, request: Launch) -> Json:
        if request.infra and not is_at(record, canonical(self.agents, request.infra)):
            raise ConflictError(
                f"cluster {record.name} is on {record.infra}",
                hint=f"leave out --infra, or choose another name than {record.name}",
            )
        if request.dry_run:
            return self._view(record)
        if request.budget is not None:
            await self._book.change(record.name, budget=request.budget)
        if request.idle_minutes is not None or request.down:
            minutes = request.idle_minutes or 0
            await self.autostop(record.name, minutes, down=request.down)
        if record.state == State.STOPPED:
            return await self.restart(record.name)
        return self._view(self._records[record.name])

    async def all(self, *, refresh: bool = False) -> list[Json]:
        """All clusters but the workers of worker pools; `refresh`: ask their agents once more."""
        await self._news.hear()
        if refresh:
            await self._news.refresh()
        return [self._view(each) for each in self._records.values() if not each.worker_pool]

    async def get(self, name: str) -> Json:
        """One cluster."""
        await self._news.hear()
        return self._view(self.record(name))

    def record(self, name: str) -> ClusterRecord:
        """One cluster as it is stored."""
        return self._book.record(name)

    def _ours(self, name: str) -> ClusterRecord:
        """One that somebody launched, and may change."""
        record = self.record(name)
        refuse_worker(record)
        return record

    async def jobs(self, name: str) -> list[Json]:
        """The queue of one."""
        return await cluster_jobs(self._around.ledger, self.record(name))

    async def access(self, name: str) -> Json:
        """How a person gets to its first node."""
        return await access_to(self.agents, self.record(name))

    async def stop(self, name: str) -> Json:
        """Let go of its nodes and keep the cluster; its jobs end."""
        record = self._ours(name)
        if not is_stoppable(record.infra):
            raise ConflictError(
                f"cluster {name} cannot be stopped: its hosts cannot be switched off, and a "
                "stopped cluster would not keep them",
                hint=f"use trainway down {name} to release them; trainway launch makes it again",
            )
        if record.state == State.STOPPED:
            return self._view(record)
        await self._rented.refuse_stop(record)
        async with self._wish(record, "it is being stopped"):
            jobs = await self._end_jobs(record)
            if record.held:
                await self.agents.ask(record.pool, "release", name, stop=True)
            await self._rented.release(record, stop=True)
        await _ended(jobs, record)
        columns = {"state": State.STOPPED, "devices": "", "placed": "[]", "message": ""}
        stopped = await self._book.note(name, **columns)
        self._around.schedule()
        return self._view(stopped)

    async def restart(self, name: str, minutes: int | None = None, *, down: bool = False) -> Json:
        """Give a stopped cluster its nodes again, with an autostop if one is given."""
        record = self._ours(name)
        if minutes is not None or down:
            await self.autostop(name, minutes or 0, down=down)
        if record.state == State.STOPPED:
            self._around.admit(record.label_map)
            async with self._wish(record, "it is being started"):
                if not is_rented(record.infra):
                    await self.agents.ask(record.pool, "start", name)
            record = await self._book.note(name, state=State.INIT, devices="", message="")
            if is_rented(record.infra):
                self._settling.soon(name)
            self._news.listen()
            await self._around.schedule()
        return self._view(self._records.get(name, record))

    async def autostop(self, name: str, minutes: int | None, *, down: bool = False) -> Json:
        """Set after how long without jobs it stops; None: never."""
        record = self._ours(name)
        wanted = None if minutes is None else {"minutes": minutes, "down": down}
        check_autostop(record.infra, wanted)
        more: Json = {"minutes": minutes, "down": down}
        async with self._settling.lock(name):  # else an older answer may win
            await self._book.change(name, autostop=json.dumps(wanted) if wanted else "")
            try:
                await self.agents.ask(record.pool, "autostop", name, **more)
            except TrainwayError:
                await self._book.note(name, autostop=record.autostop)
                raise
        return self._view(self._records.get(name, record))

    async def down(self, name: str, *, purge: bool = False) -> Json:
        """End its jobs, give back its nodes, and forget it. `purge`: also where nobody answers."""
        self._ours(name)
        return await self.release(name, purge=purge)

    async def release(self, name: str, *, purge: bool = False) -> Json:
        """The same, for a worker of a worker pool too."""
        record = self.record(name)
        view, forget = self._view(record), self._book.forget
        try:
            async with self._wish(record, "it is being taken down"):
                jobs = await self._end_jobs(record)
                if record.held:
                    await self.agents.ask(record.pool, "release", name, stop=False, purge=purge)
                    forget = self._book.forget_gone  # its agent has forgotten it, for good
                await self._rented.release(record, stop=False)
            await _ended(jobs, record)
        except DatabaseError:
            raise
        except NotFoundError:
            log.info("cluster %s was gone already", name)
            forget = self._book.forget_gone
        except TrainwayError as error:
            if not purge:
                error.hint = error.hint or f"use trainway down --purge {name} to forget it anyway"
                raise
            log.warning("cluster %s is forgotten, and may still be there: %s", name, error)
        await forget(name)
        self._around.schedule()
        return view

    async def labelled(self, prepared: Prepared, backend: str) -> Prepared:
        """A new job of a cluster with its labels: the cluster, and its number there."""
        family, _, name = backend.partition("/")
        if family != HELD:
            return prepared
        await self._news.hear()
        refuse_worker(self.record(name), prepared.labels.get(WORKER_POOL, ""))
        number = await self._book.next_number(name)
        labels = {CLUSTER: name, CLUSTER_JOB: str(number)}
        return replace(prepared, labels={**prepared.labels, **labels})

    @contextlib.asynccontextmanager
    async def _wish(self, record: ClusterRecord, message: str) -> AsyncIterator[None]:
        """Note what is about to be done, before it is; take the note back if it was not done."""
        await self._book.change(record.name, message=message)
        try:
            yield
        except TrainwayError:
            if record.name in self._records:
                await self._book.note(record.name, message=record.message)
            raise

    async def _end_jobs(self, record: ClusterRecord) -> list[LiveJob]:
        jobs = list(self._around.jobs(record.backend))
        await self._around.end(jobs)
        return jobs

    def _view(self, record: ClusterRecord) -> Json:
        folder, active = self.agents.directory(record.name), self._around.jobs(record.backend)
        bill = self._around.ledger.bills.view(record)
        view = cluster_view(record, folder, len(active), bill)
        view["status"]["rental"] = rental = self._rented.view(record)
        if rental and rental["interruption"] and record.state == State.UP:
            view["status"]["message"] = record.message or rental["interruption"]["message"]
        return view


async def _ended(jobs: Sequence[LiveJob], record: ClusterRecord) -> None:
    """Wait until it is known of the jobs of a cluster how they ended."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_END_S if record.is_local else _PATIENCE_S):
            await asyncio.gather(*(live.over.wait() for live in jobs))
