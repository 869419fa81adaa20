"""The objects of one job, among all that the informers of its namespace know."""

from typing import Final

from trainway.backends.base import Handle
from trainway.backends.kubernetes import leader_worker_set
from trainway.backends.kubernetes import session as sessions
from trainway.backends.kubernetes.form import Form
from trainway.backends.kubernetes.session import Key, Session
from trainway.jobset.labels import JOB_ID, SUSPENDED
from trainway.json_types import Json
from trainway.kube import resources

TOPS: Final[dict[str, Key]] = {
    "TrainJob": sessions.TRAINJOBS,
    "MPIJob": sessions.MPIJOBS,
    "JobSet": sessions.JOBSETS,
    leader_worker_set.KIND: sessions.LEADER_WORKER_SETS,
    "Service": sessions.SERVICES,
}
"""Where the top object of a job is, by its kind."""


class JobObjects:
    """Finds them."""

    def __init__(self, session: Session, handle: Handle) -> None:
        self._session = session
        self._handle = handle
        self.name = str(handle["name"])
        self.form = Form(handle["form"])
        self.top_key = TOPS[handle["kind"]]

    @property
    def keys(self) -> list[Key]:
        """What must be watched to know the job."""
        keys = [self.top_key, sessions.PODS]
        if self.form is Form.SOURCE:
            keys.append(sessions.JOBSETS)
        if self._handle["kind"] == "MPIJob":
            keys.append(sessions.MPI_PODS)
        if self.form is Form.JOBS:
            keys.append(sessions.JOBS)
        return keys

    @property
    def side_keys(self) -> list[Key]:
        """What one can do without: some may not be allowed to read it."""
        queues = [sessions.WORKLOADS] if self._handle.get("queue") else []
        sizes = [sessions.GANG_JOBS] if self._handle.get("elastic") else []
        return [sessions.EVENTS, *queues, *sizes]

    def owns(self, obj: Json) -> bool:
        """Whether an object was sent for the job."""
        labels = obj["metadata"].get("labels") or {}
        return bool(labels.get(JOB_ID) == self._handle["id"])

    def is_there(self) -> bool:
        """Whether the top object or any pod is left."""
        tops = self._session.find(self.top_key, self.name)
        return any(self.owns(top) for top in tops) or bool(self.pods())

    def pods(self) -> list[Json]:
        """All pods, also of attempts that are over."""
        keys = [key for key in self.keys if key[0] is resources.PODS]
        found = [pod for key in keys for pod in self._session.find(key, self.name)]
        return list({pod["metadata"]["uid"]: pod for pod in found}.values())

    def jobs(self) -> list[Json]:
        """The plain Jobs."""
        return [job for job in self._session.find(sessions.JOBS, self.name) if self.owns(job)]

    def sized_jobs(self) -> list[Json]:
        """The Jobs of an elastic job, whose size may change; none of another job."""
        if not self._handle.get("elastic"):
            return []
        return self._session.find(sessions.GANG_JOBS, self.name)

    def workload(self) -> Json | None:
        """What stands for the job in its queue."""
        if not self._handle.get("queue"):
            return None
        found = self._session.find(sessions.WORKLOADS, self.name)
        mine = [obj for obj in found if _is_for(obj, self._handle)]
        return mine[0] if mine else None


def suspension(handle: Handle, *, is_suspended: bool) -> Json:
    """The change of the top object that stops its pods, or lets them be made again. Pure."""
    if handle["kind"] == "MPIJob":
        return {"spec": {"runPolicy": {"suspend": is_suspended}}}
    if handle["kind"] == leader_worker_set.KIND:
        return leader_worker_set.suspension(is_suspended=is_suspended)
    if Form(handle["form"]) is Form.JOBS:
        return {"metadata": {"annotations": {SUSPENDED: "true" if is_suspended else None}}}
    return {"spec": {"suspend": is_suspended}}


def _is_for(workload: Json, handle: Handle) -> bool:
    owners = workload["metadata"].get("ownerReferences") or ()
    wanted = (handle["kind"], handle["top"])
    return any((owner["kind"], owner["name"]) == wanted for owner in owners)
