"""Gives a job another number of nodes, as long as no backend has it.

A job that waits in our queue, also one that was suspended there, is compiled anew and waits on in
its place. One that its backend has keeps its nodes: what runs there was made for that number, and a
job that is submitted again is another job.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace

from trainway.api.node_count import with_nodes
from trainway.backends import capabilities
from trainway.engine import wishing
from trainway.engine.intake import prepare, refuse_unfitting
from trainway.engine.ledger import Ledger
from trainway.engine.live import LiveJob
from trainway.engine.observation import Observation
from trainway.engine.reading import Reading
from trainway.engine.record import JobRecord, JobSpec
from trainway.engine.stored_job import Change, write
from trainway.engine.submission import Prepared, Submission, with_job, workload_of
from trainway.engine.view import is_unstarted
from trainway.errors import ConflictError
from trainway.json_types import Json


class Scaling:
    """Scales jobs."""

    def __init__(
        self,
        ledger: Ledger,
        reading: Reading,
        live: Mapping[str, LiveJob],
        schedule: Callable[[], object],
    ) -> None:
        self._ledger = ledger
        self._reading = reading
        self._live = live
        """The jobs that are not over."""
        self._schedule = schedule
        """Called when another job may fit."""

    async def scale(self, ref: str, nodes: int) -> Json:
        """Give a job that waits so many nodes."""
        record = await self._reading.record(ref)
        live = self._live.get(record.id)
        if live is None:
            raise wishing.is_over(record, "scaled")
        # Whoever waits may be cancelled; what is being written is written, and counts.
        objects = await asyncio.shield(live.background.spawn(self._scale(live, nodes)))
        self._schedule()
        return self._reading.shown(live.record, objects)

    async def _scale(self, live: LiveJob, nodes: int) -> list[Json]:
        """Do it; what the job is made from now."""
        async with live.pen:  # no round of the queue starts it meanwhile
            await live.refresh()
            _refuse_begun(live, nodes)
            spec = await self._ledger.call(self._ledger.store.spec, live.id)
            former = live.record.handle_data
            submission = with_job(
                _submission(live.record, spec), lambda job: with_nodes(job, nodes)
            )
            prepared = await prepare(submission, live.backend)
            try:
                refuse_unfitting(prepared, submission, live.backend)
                change = _change(live, prepared, replace(spec, objects=prepared.objects), nodes)
                await write(self._ledger, [(live, change)])
            except BaseException:
                if live.record.handle_data == former:
                    capabilities.release(live.backend, prepared.port)
                raise
            capabilities.release(live.backend, int(former["port"]))
            return prepared.objects


def _refuse_begun(live: LiveJob, nodes: int) -> None:
    record = live.record
    if record.is_over:
        raise wishing.is_over(record, "scaled")
    if not is_unstarted(record):
        raise ConflictError(
            f"{record.backend} already has {record.name}, and cannot give it another number of "
            "nodes",
            hint=f"submit it again: trainway jobs rerun {record.id} --set spec.trainer.numNodes="
            f"{nodes}, for a task --set num_nodes={nodes}",
        )


def _submission(record: JobRecord, spec: JobSpec) -> Submission:
    return Submission(
        spec.objects,
        backend=record.backend,
        oversubscribe=record.oversubscribe,
        labels=record.label_map,
    )


def _change(live: LiveJob, prepared: Prepared, spec: JobSpec, nodes: int) -> Change:
    spec = replace(spec, jobset=prepared.jobset, companions=prepared.companions)
    columns = {
        "demand": prepared.demand.to_dict(),
        "observed": Observation.planned(prepared.jobset["spec"]).to_dict(),
        "handle": {**live.record.handle_data, "port": prepared.port},
    }
    workload = workload_of(live.record.with_columns(columns), spec)
    columns["handle"] = live.backend.plan(workload).handle
    said = f"it was given {nodes} {'node' if nodes == 1 else 'nodes'} while it waited"
    return Change(columns, [live.event("Scaled", said)], spec)
