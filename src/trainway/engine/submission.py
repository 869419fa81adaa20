"""What someone submits, and what becomes of it before it runs.

Apart from `preparation`, which does the work, since the compiler is slow to import.
"""

import hashlib
import json
import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from trainway.api.task.task_object import API_VERSION as TASK_VERSION
from trainway.api.task.task_object import KIND as TASK_KIND
from trainway.backends.base import Isolation, Workload
from trainway.backends.demand import Demand
from trainway.engine.array import place_of
from trainway.engine.phases import Phase
from trainway.engine.record import JobRecord, JobSpec, stored
from trainway.engine.worker_pool.rented_place import is_on_spot, place_again
from trainway.families.builtin import HERE
from trainway.jobset.labels import ACCOUNT, WORKER_POOL
from trainway.jobset.model import API_VERSION as JOBSET_VERSION
from trainway.jobset.model import KIND as JOBSET_KIND
from trainway.json_types import Json

_SUFFIX_ALPHABET: Final = "bcdfghjklmnpqrstvwxz2456789"
_SUFFIX: Final = re.compile(rf"(?<=.)-(?=[0-9]*[a-z])[{_SUFFIX_ALPHABET}]{{5}}$")
"""What a name has at its end from an earlier time; a mere number is the owner's."""
TASK_TYPE: Final = (TASK_VERSION, TASK_KIND)
JOB_TYPES: Final = (
    ("trainer.kubeflow.org/v1alpha1", "TrainJob"),
    ("kubeflow.org/v2beta1", "MPIJob"),
    (JOBSET_VERSION, JOBSET_KIND),
    TASK_TYPE,
)

_OF_ONE_TIME: Final = (WORKER_POOL, ACCOUNT)
"""Labels that a job gets anew each time."""


@dataclass(frozen=True)
class Submission:
    """A request to run something."""

    objects: Sequence[Json]
    name: str = ""
    """The name in place of the one in the object; empty: leave it."""
    backend: str = HERE
    priority: int = 0
    workdir: str = ""
    environ: Mapping[str, str] = field(default_factory=dict)
    oversubscribe: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)
    kubeconfig: Sequence[str] = ()
    """The kubeconfig files of the submitter, for a backend that needs them."""
    isolation: Isolation = Isolation.PROCESS
    """How its containers run: as processes, unless the job's own annotation asks for containers."""
    key: str = ""
    """The key with which a second submission gets the same job; empty: always a new one."""
    digest: str = ""
    """The digest of the whole request, where it has a key."""
    num_jobs: int | None = None
    """How many jobs of it there are, each with a rank; None: one, which has none."""
    notify: Sequence[str] = ()
    """Whom to tell of it beside the targets of the settings: names of those, or URLs."""
    parameters: Sequence[Mapping[str, str]] | None = None
    """One job with each of these, as ranks; None: there are none."""
    placeholders: bool = True
    """Whether `{name}` in the job stands for a parameter."""
    parallel: int | None = None
    """How many of several may run at a time; None: as many as there is room for."""
    place: str = ""
    """The first job that had the place in a run which this one takes; empty: it takes none."""
    queue: str = ""
    """The managed queue that it waits in; empty: what its label says, or the default one."""
    search: Json | None = None
    """The search that trials of it are, as `optimization.request` has it; None: it is none."""

    kept: Mapping[str, str] = field(default_factory=dict)
    """The jobs of its pipeline that there are already, by task."""
    pipeline: bool = False
    """Whether each task of it is to be a job of its own, one after the other."""
    candidates: Sequence[Json] = ()
    """The same for other places, as `moving.move.Candidate` has it, to which it goes in order."""
    max_wait: float | None = None
    """How many seconds it may wait at a place where there is another one; None: until refused."""
    placement: Mapping[str, Json] = field(default_factory=dict)
    """The `places` of tasks of a pipeline, and what counts between them (`prefer`), by task."""
    prefer: str = ""
    """What counts where its place is chosen when its turn comes; empty: it has its place."""
    recovery_strategy: str | None = None
    """What follows when its place is lost; None: what its place does by itself."""
    deadline: str | None = None
    """When it must have ended; None: it does not say."""
    sure: str = ""
    """With a deadline: the place where it is not lost; the others are cheap."""
    work: float | None = None
    """How many seconds it computes until then if nothing interrupts it."""
    stage: tuple[int, int] | None = None
    """Of a task with a deadline: where it stands in its pipeline, as `Promise.stage` says."""

    sets_up: bool = False
    """Whether it is the setup of a worker, which a queue takes in that takes in no jobs."""

    use_spot: bool = False
    """On a cloud: whether its machines are spot machines, which may be taken back."""
    max_cost: float | None = None
    """How much it may cost in all, with all of its jobs; None: anything."""
    max_cost_each: float | None = None
    """How much each of its jobs may cost; None: anything."""

    @property
    def is_run(self) -> bool:
        """Whether it is several jobs, or could be."""
        several = (self.num_jobs, self.parameters, self.search)
        return self.pipeline or any(each is not None for each in several)


def at_places(submission: Submission) -> list[Submission]:
    """The submission, and as it would be if each of its other places were the first one."""
    own = {
        "backend": submission.backend,
        "objects": submission.objects,
        "kubeconfig": submission.kubeconfig,
        "environ": submission.environ,
    }
    places = [own, *submission.candidates]
    return [
        replace(
            submission,
            backend=str(place["backend"]),
            objects=place["objects"],
            kubeconfig=tuple(place.get("kubeconfig") or ()),
            environ=place.get("environ") or {},
            candidates=[other for other in places if other is not place],
        )
        for place in places
    ]


@dataclass(frozen=True)
class Prepared:
    """A submission that can run."""

    kind: str
    name: str
    namespace: str
    labels: Mapping[str, str]
    objects: list[Json]
    """The objects as submitted, under the name that the job has now."""
    jobset: Json
    companions: list[Json]
    """The ConfigMaps and Secrets that were submitted or made."""
    demand: Demand
    port: int
    warnings: list[str]
    deadline_seconds: int | None
    ttl_seconds: int | None

    @property
    def is_suspended(self) -> bool:
        """Whether it is not to start yet."""
        return bool(self.jobset["spec"].get("suspend"))


def workload_of(record: JobRecord, spec: JobSpec) -> Workload:
    """A job as its backend takes it."""
    source, submitted = parted(spec.objects)
    return Workload(
        id=record.id,
        name=record.name,
        namespace=record.namespace,
        jobset=spec.jobset,
        objects=spec.companions,
        workdir=record.workdir,
        environ=spec.environ,
        port=int(record.handle_data["port"]),
        demand=Demand.from_dict(record.demand_data),
        devices=record.device_map,
        source=source,
        submitted=submitted,
        priority=record.priority,
        oversubscribe=record.oversubscribe,
        handle=record.handle_data,
        place=place_of(record.label_map),
    )


def resubmission(
    record: JobRecord, spec: JobSpec, *, is_renamed: bool, key: str = ""
) -> Submission:
    """What a job was made from, once more; under a new name where names are taken.

    With a key the new name follows from it, so that the request is the same when it is repeated.
    """
    return Submission(
        spec.objects,
        key=key,
        name=suffixed(f"{_SUFFIX.sub('', record.name)}-", key) if is_renamed else "",
        backend=place_again(record.backend, record.label_map),
        priority=record.priority,
        workdir=record.workdir,
        environ=spec.environ,
        oversubscribe=record.oversubscribe,
        labels={key: each for key, each in record.label_map.items() if key not in _OF_ONE_TIME},
        notify=record.notify_targets,
        queue=record.queue,
        kubeconfig=record.handle_data.get("kubeconfig") or (),
        use_spot=is_on_spot(record.label_map),
        max_cost=budget_of(record),
    )


def budget_of(record: JobRecord) -> float | None:
    """How much a job may cost in all; None: anything."""
    return float(json.loads(record.budget)["limit"]) if record.budget else None


Amend = Callable[[Json], Json]
"""What is to be changed of a job before it is submitted again."""


def unchanged(job: Json) -> Json:
    """The job as it was."""
    return job


def with_job(submission: Submission, amend: Amend) -> Submission:
    """The submission with a difference in its job, wherever that may go."""

    def amended(objects: Sequence[Json]) -> list[Json]:
        return [amend(obj) if type_of(obj) in JOB_TYPES else obj for obj in objects]

    others = [{**each, "objects": amended(each["objects"])} for each in submission.candidates]
    return replace(submission, objects=amended(submission.objects), candidates=others)


def suffixed(name: str, key: str = "") -> str:
    """A name that nobody has yet, which begins like this one; with a key always the same."""
    numbers = hashlib.sha256(key.encode()).digest() if key else secrets.token_bytes(32)
    letters = (_SUFFIX_ALPHABET[number % len(_SUFFIX_ALPHABET)] for number in numbers[:5])
    return name + "".join(letters)


def name_of(submission: Submission) -> str:
    """The name that a job is to have, or one that begins as it wants; empty: it has none."""
    job, _ = parted(submission.objects)
    metadata = (job or {}).get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    name = submission.name or str(metadata.get("name") or "")
    if not name and metadata.get("generateName"):
        name = suffixed(str(metadata["generateName"]))
    return name


def parted(objects: Sequence[Json]) -> tuple[Json | None, list[Json]]:
    """The job among the objects, and the others."""
    jobs = [obj for obj in objects if type_of(obj) in JOB_TYPES]
    return (jobs[0] if jobs else None), [obj for obj in objects if type_of(obj) not in JOB_TYPES]


def type_of(obj: Json) -> tuple[str, str]:
    """The apiVersion and kind of an object."""
    return str(obj.get("apiVersion", "")), str(obj.get("kind", ""))


def record_of(workload: Workload, backend: str, handle: Json, created: str) -> JobRecord:
    """A record for a job that is with its backend but was lost from the store."""
    metadata = workload.jobset.get("metadata") or {}
    columns = {
        "labels": metadata.get("labels") or {},
        "handle": handle,
        "demand": workload.demand.to_dict(),
        "devices": workload.devices,
    }
    return JobRecord(
        id=workload.id,
        name=workload.name,
        namespace=workload.namespace,
        kind="JobSet",
        backend=backend,
        workdir=workload.workdir,
        created=created,
        phase=Phase.STARTING,
        ttl_seconds=workload.jobset["spec"].get("ttlSecondsAfterFinished"),
        **stored(columns),
    )
