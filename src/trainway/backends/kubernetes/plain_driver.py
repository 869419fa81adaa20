"""Does with plain Jobs what JobSet would do, where a cluster has none.

What is due is decided elsewhere, from the objects of the cluster alone (`plain_status`); so it does
not matter which server does it, or how often.
"""

import logging

from trainway.backends.base import Handle
from trainway.backends.kubernetes.continuation import counting_on, restarts_left
from trainway.backends.kubernetes.job_objects import JobObjects
from trainway.backends.kubernetes.plain_restarts import Restarts, made_anew
from trainway.backends.kubernetes.plain_status import Step, restarted, steps
from trainway.backends.kubernetes.planning import owned
from trainway.backends.kubernetes.session import Session
from trainway.errors import TrainwayError
from trainway.jobset.labels import SUSPENDED
from trainway.json_types import Json
from trainway.kube import resources
from trainway.kube.errors import AlreadyExists, Conflict, ObjectNotFound

log = logging.getLogger(__name__)


class PlainDriver:
    """The Jobs of one job."""

    def __init__(self, session: Session, handle: Handle, objects: JobObjects) -> None:
        self._session = session
        self._objects = objects
        self._sent = {job["metadata"]["name"]: job for job in handle.get("jobs") or ()}
        """The Jobs as they were sent first; none: they are never made anew."""
        self.policy: Json = handle.get("policy") or {}
        """What JobSet would go by."""
        self._restarts_before = 0

    def count_on(self, restarts: int, counted: int) -> None:
        """Go on from so many restarts elsewhere, of which so many count."""
        self._restarts_before = restarts
        if failure := restarts_left(self.policy.get("failurePolicy"), counted):
            self.policy = {**self.policy, "failurePolicy": failure}

    async def drive(self, service: Json, status: Json) -> bool:
        """Do what is due now; False: some of it could not be done, and is due again soon."""
        jobs, before = self._objects.jobs(), Restarts.on(service)
        policy = self.policy
        restarts = restarted(policy, jobs, status, before) if self._sent else before
        if restarts != before:
            # It is written before anything goes; when the Service has come again, the rest is due.
            return await self._done(Step("restart", service["metadata"]["name"]), service, restarts)
        held, names = is_held(service), list(self._sent)
        due = steps(policy, jobs, status, is_suspended=held, restarts=restarts, names=names)
        return all([await self._done(step, service, restarts) for step in due])

    async def _done(self, step: Step, service: Json, restarts: Restarts) -> bool:
        try:
            await self._take(step, service, restarts)
        except (ObjectNotFound, AlreadyExists, Conflict):
            return True  # it was done already, or another one has the name by now
        except TrainwayError as error:
            log.warning("%s: cannot %s %s: %s", self._objects.name, step.action, step.name, error)
            return False
        return True

    async def _take(self, step: Step, service: Json, restarts: Restarts) -> None:
        client, namespace = self._session.client, self._session.namespace
        match step.action:
            case "restart":
                change: Json = {"metadata": {"annotations": restarts.annotation()}}
                await client.patch(resources.SERVICES, step.name, namespace, change)
            case "create":
                owner = {"apiVersion": "v1", "kind": "Service", **service}
                job = counting_on(made_anew(self._sent[step.name], restarts), self._restarts_before)
                await client.create(resources.JOBS, owned(job, owner), namespace)
            case "delete" if step.uid:
                # Its name is free for its successor once its last pod has gone.
                await client.delete(
                    resources.JOBS, step.name, namespace, propagation="Foreground", uid=step.uid
                )
            case "delete":
                await client.delete(resources.JOBS, step.name, namespace)
            case _:
                change = {"spec": {"suspend": step.action == "suspend"}}
                await client.patch(resources.JOBS, step.name, namespace, change)


def is_held(service: Json) -> bool:
    """Whether the owner of a set of plain Jobs has suspended it."""
    annotations = service["metadata"].get("annotations") or {}
    return annotations.get(SUSPENDED) == "true"
