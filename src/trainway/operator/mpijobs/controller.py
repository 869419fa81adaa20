"""The MPIJob controller: one pass over one MPIJob.

It takes what the caches know, lets the pure modules beside it decide, and sends the requests:
`wanted` what is to exist, `jobset_step` what becomes of the JobSet, `ending` what is cleaned up,
`trainway.jobset.mpijob_status` the status and its events.
"""

import logging
from collections import Counter
from dataclasses import replace
from typing import Final

from trainway.api.mpijob import MPIJob
from trainway.compiler.mpijob import KIND
from trainway.jobset.mpijob_status import is_finished, mpijob_status
from trainway.jobset.status import conditions_of
from trainway.json_types import Json
from trainway.kube.controller import Controller
from trainway.kube.errors import Conflict, ObjectNotFound, Refused
from trainway.kube.resources import JOBS, JOBSETS, MPIJOBS, PODS
from trainway.kube.store import split_key
from trainway.operator.caches import BY_JOB
from trainway.operator.config import MPI_JOB
from trainway.operator.context import Context
from trainway.operator.metrics import RestartCause
from trainway.operator.mpijobs.children import Children, LeftoverObjectError
from trainway.operator.mpijobs.ending import cleanup
from trainway.operator.mpijobs.jobset_step import is_over
from trainway.operator.mpijobs.measurement import launcher_restarts, measure, phase_of
from trainway.operator.mpijobs.memory import Memory
from trainway.operator.mpijobs.roles import Roles, kept_job, pod_facts, roles_of
from trainway.operator.mpijobs.wanted import facts_of, gpus_of, is_ours, parse
from trainway.operator.mpijobs.watches import BY_MPIJOB, Watches
from trainway.operator.namespace_end import namespace_goes
from trainway.operator.status_patch import status_patch
from trainway.operator.uncreated_pods import REASON as UNCREATED
from trainway.operator.uncreated_pods import about, complaints
from trainway.schema.field import FieldError

_LONGEST_MESSAGE: Final = 1024
_SOON_S: Final = 1.0

logger = logging.getLogger(__name__)


def build(context: Context) -> Controller:
    """The controller, with what it watches."""
    reconciler = Reconciler(context, Watches.of(context))
    workers = context.config.workers(MPI_JOB)
    controller = Controller("mpijob", reconciler.reconcile, workers, observer=context.metrics)
    reconciler.watches.connect(controller.queue.add, reconciler.memory)
    context.metrics.show_jobs(KIND, reconciler.count_by_phase)
    return controller


class Reconciler:
    """Brings one MPIJob after another to where it should be."""

    def __init__(self, context: Context, watches: Watches) -> None:
        self.context = context
        self.watches = watches
        self.memory = Memory()

    def count_by_phase(self) -> dict[str, int]:
        """How many MPIJobs there are in each phase."""
        return dict(Counter(phase_of(obj) for obj in self.watches.mpijobs.store.values()))

    async def reconcile(self, key: str) -> float | None:
        """One pass; gives the seconds after which there is more to do."""
        obj = self.watches.mpijobs.store.get(key)
        if obj is None:
            self._forget(key)
            return None
        if not is_ours(obj) or "deletionTimestamp" in obj["metadata"]:
            return None
        job, errors = parse(obj)
        if job is None:
            self._refuse(obj, errors)
            return None
        memory = self.memory.of(key, obj["metadata"]["uid"])
        children = Children(self.context, self.watches, obj, memory)
        status = obj.get("status") or {}
        has_ended = is_finished(conditions_of(obj)) and "completionTime" in status
        try:
            if has_ended:
                return await self._clean_up(job, children)
            return await self._run(job, children)
        except LeftoverObjectError:
            return _SOON_S
        except Refused as error:
            if not namespace_goes(error):
                raise
            return None

    async def _run(self, job: MPIJob, children: Children) -> float | None:
        jobset = children.jobset()
        roles = self._roles(children, jobset)
        self._tell_uncreated(children)
        if jobset is None or not is_over(jobset):
            jobset = await children.provide(job, jobset, roles)
        elif not roles.launcher_ended:
            roles = await self._with_live_launcher(children, roles)
        return await self._write_status(job, children, jobset, roles)

    async def _clean_up(self, job: MPIJob, children: Children) -> float | None:
        found = self.watches.jobsets.store.get(f"{children.namespace}/{children.name}")
        jobset = found if found and children.owns(found) else None
        roles = self._roles(children, jobset)
        todo = cleanup(children.obj, job, jobset, roles, self.context.now())
        if todo.delete_job:
            await children.delete(MPIJOBS, children.name, uid=children.memory.uid)
            return None
        if todo.suspend_jobset:
            await children.suspend_jobset()
        for name in todo.delete_pods:
            await children.delete(PODS, name)
        if todo.delete_pod_group:
            await children.delete_pod_group()
        if todo.delete_jobset and jobset is not None:
            await children.delete(JOBSETS, children.name, uid=jobset["metadata"]["uid"])
        again = await self._write_status(job, children, jobset, roles)
        return min((seconds for seconds in (todo.look_again, again) if seconds), default=None)

    async def _write_status(
        self, job: MPIJob, children: Children, jobset: Json | None, roles: Roles
    ) -> float | None:
        obj, now = children.obj, self.context.now()
        old = obj.get("status") or {}
        facts = facts_of(job)
        outcome = mpijob_status(facts, old, jobset, pod_facts(roles, facts.workers), now)
        patch = status_patch(obj, outcome.status)
        if patch is not None:
            try:
                await self.context.client.patch(
                    MPIJOBS, children.name, children.namespace, patch, subresource="status"
                )
            except ObjectNotFound:
                return None
            except Conflict:
                return _SOON_S  # what we know is old; news is on the way
            for event in outcome.events:
                self.context.mpi_recorder.record(obj, event.type, event.reason, event.message)
            self._measure(job, children, outcome.status, roles)
        return None

    def _measure(self, job: MPIJob, children: Children, new: Json, roles: Roles) -> None:
        metrics, metadata = self.context.metrics, children.obj["metadata"]
        pods = (*roles.launcher_pods, *roles.worker_pods)
        starts = [pod["status"]["startTime"] for pod in pods if "startTime" in pod["status"]]
        old, now = children.obj.get("status") or {}, self.context.now()
        found = measure(metadata["creationTimestamp"], old, new, starts, now)
        if found.created:
            metrics.job_created(KIND)
        if found.time_to_running is not None:
            metrics.job_running(KIND, found.time_to_running)
        if found.gang_wait is not None:
            metrics.gang_wait(KIND, found.gang_wait)
        if found.ran:
            metrics.gpu_seconds(KIND, children.namespace, found.ran * gpus_of(job))
        restarts = children.memory.more_restarts(launcher_restarts(old), launcher_restarts(new))
        if restarts:
            metrics.restart(KIND, RestartCause.FAILURE, restarts)
        if found.finished:
            metrics.job_finished(KIND, found.finished)
        if roles.launcher is not None and not children.memory.launcher:
            children.memory.launcher = roles.launcher["metadata"]["name"]
            metrics.mpi_job_info(children.memory.launcher, children.namespace)

    def _roles(self, children: Children, jobset: Json | None) -> Roles:
        key = f"{children.namespace}/{children.name}"
        jobs = self.watches.jobs.store.by_index(BY_MPIJOB, key)
        return roles_of(jobset, jobs, self.watches.pods.store.by_index(BY_MPIJOB, key))

    def _tell_uncreated(self, children: Children) -> None:
        """Tell once why pods cannot be created."""
        key = f"{children.namespace}/{children.name}"
        jobs = {job["metadata"]["name"] for job in self.watches.jobs.store.by_index(BY_MPIJOB, key)}
        found = about(self.watches.uncreated.store.by_index(BY_JOB, key), jobs)
        for complaint in complaints(found):
            if complaint not in children.memory.complaints:
                children.memory.complaints.add(complaint)
                message = complaint[:_LONGEST_MESSAGE]
                self.context.mpi_recorder.record(children.obj, "Warning", UNCREATED, message)

    async def _with_live_launcher(self, children: Children, roles: Roles) -> Roles:
        """The JobSet is over, but the news why has not come to us: ask."""
        name = f"{children.name}-launcher-0"
        try:
            live = await self.context.client.get(JOBS, name, children.namespace)
        except ObjectNotFound:
            return roles
        return replace(roles, launcher=kept_job(live))

    def _refuse(self, obj: Json, errors: list[FieldError]) -> None:
        text = "; ".join(str(error) for error in errors)
        message = f"Found validation errors: {text}"[:_LONGEST_MESSAGE]
        self.context.mpi_recorder.record(obj, "Warning", "ValidationError", message)

    def _forget(self, key: str) -> None:
        gone = self.memory.forget(key)
        if gone is not None and gone.launcher:
            namespace, _ = split_key(key)
            self.context.metrics.mpi_job_gone(gone.launcher, namespace)
