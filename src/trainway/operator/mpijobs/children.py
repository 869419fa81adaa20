"""Writes the objects of one MPIJob: Secret, ConfigMap, PodGroup and JobSet.

All but the Secret are applied (server-side apply as `mpi-operator`), so that a field which is no
longer wanted goes. The Secret is created once: to apply it again would change the key under pods
that run. An object of that name which is not the job's is left alone, with an event.
"""

from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from trainway.api.mpijob import MPIJob
from trainway.compiler.keys import RedactedKeys
from trainway.compiler.mpijob import KIND
from trainway.compiler.mpijob_gang import GangScheduling
from trainway.errors import TrainwayError
from trainway.json_types import Json
from trainway.kube.errors import AlreadyExists, Conflict, InvalidObject, ObjectNotFound, Refused
from trainway.kube.informer import Informer
from trainway.kube.owners import controller_of, is_controlled_by
from trainway.kube.resources import CONFIG_MAPS, JOBS, JOBSETS, SECRETS, Resource
from trainway.operator.context import Context
from trainway.operator.jobset_change import can_become
from trainway.operator.mpijobs.jobset_step import Step, is_suspended, next_step
from trainway.operator.mpijobs.memory import Applied, JobMemory
from trainway.operator.mpijobs.roles import Roles, running_workers, scaling
from trainway.operator.mpijobs.wanted import (
    CompileContext,
    Wanted,
    digest,
    facts_of,
    replaces_restart_policy,
    wanted,
)
from trainway.operator.mpijobs.watches import Watches, pod_groups, version_of

FIELD_OWNER: Final = "mpi-operator"


class ForeignObjectError(TrainwayError):
    """An object of the name that a child needs belongs to somebody else."""

    code = "conflict"


class LeftoverObjectError(TrainwayError):
    """An object in the way that will go, or that the cache will show: look again soon."""

    code = "conflict"


@dataclass(frozen=True)
class Children:
    """The objects of one job."""

    context: Context
    watches: Watches
    obj: Json
    """The MPIJob as it is stored."""
    memory: JobMemory

    @property
    def namespace(self) -> str:
        """Where all of them are."""
        return str(self.obj["metadata"]["namespace"])

    @property
    def name(self) -> str:
        """The job's own, which the JobSet and the PodGroup have too."""
        return str(self.obj["metadata"]["name"])

    def jobset(self) -> Json | None:
        """The JobSet of the job."""
        return self._own(self.watches.jobsets, self.name)

    def owns(self, child: Json) -> bool:
        """Whether an object is the job's."""
        return is_controlled_by(child, self.memory.uid)

    async def provide(self, job: MPIJob, jobset: Json | None, roles: Roles) -> Json | None:
        """Bring all of them up to date; gives the JobSet."""
        want = self._wanted(job, roles)
        await self._provide_secret(want.secret)
        await self._provide_applied(CONFIG_MAPS, self.watches.config_maps, want.config_map)
        suspend = job.spec.run_policy.suspend
        if want.pod_group is not None and self.watches.pod_groups is not None:
            resource = self.watches.pod_groups.resource
            await self._provide_applied(resource, self.watches.pod_groups, want.pod_group)
        jobset = await self._provide_jobset(want, jobset, suspend=suspend)
        if suspend:
            await self.delete_pod_group()
        elif jobset is not None and not is_suspended(jobset):
            await self._scale(roles, facts_of(job).workers)
        if not (self.obj.get("status") or {}).get("conditions") and replaces_restart_policy(job):
            self._warn(
                "SetPodTemplateRestartPolicy",
                "the restart policy of the launcher's pod template is not used;"
                " the one of the replica spec is",
            )
        return jobset

    async def suspend_jobset(self) -> None:
        """Stop all pods."""
        body = {"spec": {"suspend": True}}
        written = await self.context.client.patch(
            JOBSETS, self.name, self.namespace, body, field_manager=FIELD_OWNER
        )
        if JOBSETS.kind in self.memory.applied:
            self.memory.applied[JOBSETS.kind].version = version_of(written)

    async def delete_pod_group(self) -> None:
        """The gang is no longer wanted."""
        groups = self.watches.pod_groups
        group = groups and groups.store.get(f"{self.namespace}/{self.name}")
        if group and self.owns(group):
            resource = pod_groups(self.context.config.gang_scheduling)
            await self.delete(resource, self.name, uid=group["metadata"]["uid"])

    async def delete(
        self, resource: Resource, name: str, *, uid: str = "", propagation: str = "Background"
    ) -> None:
        """Remove an object, if it is still there and no other has taken its place."""
        with suppress(ObjectNotFound, Conflict):
            await self.context.client.delete(
                resource, name, self.namespace, uid=uid, propagation=propagation
            )

    def _wanted(self, job: MPIJob, roles: Roles) -> Wanted:
        config = self.context.config
        gang = None
        if config.gang_scheduling:
            classes = self.watches.priority_classes
            values = {
                item["metadata"]["name"]: int(item.get("value") or 0)
                for item in (classes.store.values() if classes else ())
            }
            gang = GangScheduling(config.gang_scheduling, values)
        has_secret = self._own(self.watches.secrets, f"{self.name}-ssh") is not None
        keys = RedactedKeys() if has_secret else self.context.keys
        around = CompileContext(keys, config.cluster_domain, gang)
        return wanted(job, around, running_workers(roles))

    async def _provide_secret(self, secret: Json) -> None:
        name = secret["metadata"]["name"]
        if self._own(self.watches.secrets, name) is not None:
            return
        try:
            await self.context.client.create(
                SECRETS, secret, self.namespace, field_manager=FIELD_OWNER
            )
        except AlreadyExists as error:
            problem = f"{SECRETS.kind} {name} exists, but the cache does not show its owner"
            raise LeftoverObjectError(problem) from error

    async def _provide_applied(self, resource: Resource, informer: Informer, obj: Json) -> None:
        there = self._own(informer, obj["metadata"]["name"])
        said = digest(obj)
        if there is None or not self.memory.is_applied(resource.kind, said):
            await self._apply(resource, obj, said)

    async def _provide_jobset(
        self, want: Wanted, jobset: Json | None, *, suspend: bool
    ) -> Json | None:
        said = digest(want.jobset["spec"] | {"suspend": None})
        changed = not self.memory.is_applied(JOBSETS.kind, said)
        match next_step(jobset, suspend=suspend, changed=changed):
            case Step.CREATE:
                return await self._create_jobset(want.jobset, said)
            case Step.SUSPEND:
                await self.suspend_jobset()
            case Step.UPDATE:
                await self._update_jobset(want.jobset, said)
            case Step.WAIT | Step.NOTHING:
                pass
        return jobset

    async def _create_jobset(self, jobset: Json, said: str) -> Json:
        try:
            return await self._apply(JOBSETS, jobset, said)
        except (InvalidObject, Refused) as error:
            self._warn("MPIJobFailed", f"launcher and worker pods cannot be created: {error}")
            raise

    async def _update_jobset(self, jobset: Json, said: str) -> None:
        """Change a suspended JobSet, or make room for another where that does not do."""
        try:
            live = await self.context.client.get(JOBSETS, self.name, self.namespace)
        except ObjectNotFound:
            return  # its deletion is on the way to us
        if not is_suspended(live) or "deletionTimestamp" in live["metadata"]:
            return
        if can_become(live, jobset):
            with suppress(InvalidObject):
                await self._apply(JOBSETS, jobset, said)
                return
        uid = live["metadata"]["uid"]
        await self.delete(JOBSETS, self.name, uid=uid, propagation="Foreground")

    async def _scale(self, roles: Roles, workers: int) -> None:
        body = scaling(roles, workers)
        if body is not None and roles.worker is not None:
            name = roles.worker["metadata"]["name"]
            await self.context.client.patch(
                JOBS, name, self.namespace, body, field_manager=FIELD_OWNER
            )

    async def _apply(self, resource: Resource, obj: Json, said: str) -> Json:
        written = await self.context.client.apply(obj, field_manager=FIELD_OWNER, resource=resource)
        self.memory.applied[resource.kind] = Applied(said, version_of(written))
        return written

    def _own(self, informer: Informer, name: str) -> Json | None:
        """The object of that name if it is there; raises if it is not the job's."""
        found = informer.store.get(f"{self.namespace}/{name}")
        if found is not None:
            self._check(informer.resource, found)
        return found

    def _check(self, resource: Resource, found: Json) -> None:
        if self.owns(found):
            return
        name = found["metadata"]["name"]
        owner = controller_of(found) or {}
        if owner.get("kind") == KIND and owner.get("name") == self.name:
            raise LeftoverObjectError(f"{resource.kind} {name} of a deleted MPIJob still exists")
        message = (
            f'Resource "{name}" of Kind "{resource.kind}" already exists'
            " and is not managed by MPIJob"
        )
        self._warn("ErrResourceExists", message)
        raise ForeignObjectError(message, hint="delete it, or give the MPIJob another name")

    def _warn(self, reason: str, message: str) -> None:
        self.context.mpi_recorder.record(self.obj, "Warning", reason, message)
