"""Makes a submission ready to run: one JobSet, what its pods read, and what it needs."""

import binascii
import copy
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

from trainway.api.health_check import (
    IN_PODS,
    health_check,
    health_check_errors,
    is_said,
    with_health_check,
)
from trainway.api.metrics_from_logs import pattern_errors
from trainway.api.packages import packages_errors, packages_of, with_packages
from trainway.api.task.task_file import PARALLEL
from trainway.api.timeout import timeout_errors, timeout_of
from trainway.backends import capabilities, path_names
from trainway.backends.base import Backend, Isolation, isolation_of
from trainway.backends.demand import demand_of
from trainway.backends.gpu_types import gpu_types
from trainway.backends.initializer_images import initializer_images
from trainway.backends.node_checks import usual_health_check
from trainway.compiler.compile import Input, Options, Outcome, Problem, compile_objects
from trainway.compiler.named_volumes import with_volumes
from trainway.compiler.network import JobIdentity, Network
from trainway.engine.checkpoint.annotation import checkpoint_errors
from trainway.engine.job_size import check_jobset, check_source
from trainway.engine.submission import (
    JOB_TYPES,
    TASK_TYPE,
    Prepared,
    Submission,
    suffixed,
    type_of,
)
from trainway.engine.worker_pool.rented_place import spot_label
from trainway.errors import InvalidError
from trainway.families.family import Files, Runs
from trainway.families.table import family_of
from trainway.jobset.admission import with_webhook_defaults
from trainway.jobset.labels import ISOLATION, JOB_GROUP
from trainway.jobset.model import KIND as JOBSET_KIND
from trainway.jobset.spec import JOBSET
from trainway.json_types import Json
from trainway.kube.pod_packages import in_pods
from trainway.runtimes import builtin_runtime
from trainway.schema.defaulting import with_defaults

FILES: Final = (("v1", "ConfigMap"), ("v1", "Secret"))
"""The objects that pods read."""

UNPLACED: Final = (
    ("trainer.kubeflow.org/v1alpha1", "ClusterTrainingRuntime"),
    ("scheduling.k8s.io/v1", "PriorityClass"),
)
"""The objects that are in no namespace."""

_VALUES: Final = ("data", "stringData", "binaryData")
_RUNTIMES: Final = "trainer.kubeflow.org/v1alpha1"
_SOURCE: Final = "request"


def prepare(submission: Submission, backend: Backend) -> Prepared:
    """Compile for the backend's network; InvalidError with all reasons why not."""
    objects = [copy.deepcopy(obj) for obj in submission.objects]
    job = _the_job(objects)
    check_source(job, backend)
    _check_files(objects, backend)
    _name(job, submission.name)
    _place(objects, job, backend)
    if submission.isolation is Isolation.CONTAINER:
        _isolate(job)
    network = _OneNetwork(backend.network)
    try:
        return _prepared(submission, backend, objects, job, network)
    except BaseException:
        if network.made is not None:
            capabilities.release(backend, network.made.port)
        raise


def _check_files(objects: Iterable[Json], backend: Backend) -> None:
    """Refuse keys that lead elsewhere, and files sent ahead where the backend takes none."""
    files = [obj for obj in objects if type_of(obj) in FILES]
    if not files:
        return
    wrong = path_names.key_errors(files)
    if wrong:
        raise InvalidError(wrong)
    takes_files = family_of(backend.name).files is Files.STREAMED
    for obj in files:
        for field in _VALUES:
            values = obj.get(field)
            for key, value in values.items() if isinstance(values, dict) else ():
                metadata = obj.get("metadata")
                name = metadata.get("name") if isinstance(metadata, dict) else None
                where = f"{obj['kind']}/{name}: {field}[{key}]"
                if not isinstance(value, dict):
                    _check_value(value, where, is_text=_is_text(obj["kind"], field))
                    continue
                if not _is_file(value) or field != "binaryData":
                    raise InvalidError([f"{where}: it is not text"])
                if not takes_files:
                    raise InvalidError(
                        [f"{where}: {backend.name} does not accept files that are sent ahead"]
                    )


def _check_value(value: Any, where: str, *, is_text: bool) -> None:
    """Refuse a value that nobody could write to a file."""
    if value is None:
        return
    if not isinstance(value, str):
        raise InvalidError([f"{where}: it is not text"])
    try:
        if not is_text:
            binascii.a2b_base64(value)
    except ValueError as error:  # letters that are not ASCII, or too few
        raise InvalidError([f"{where}: it is not Base64: {error}"]) from None


def _is_text(kind: str, field: str) -> bool:
    """Whether a field has its values as they are, and not in Base64."""
    return field == "stringData" or (kind == "ConfigMap" and field == "data")


def _is_file(value: Json) -> bool:
    if set(value) != {"$file", "size"}:
        return False
    name, size = value["$file"], value["size"]
    is_digest = isinstance(name, str) and re.fullmatch("[0-9a-f]{64}", name) is not None
    return is_digest and isinstance(size, int) and size >= 0


def _name(job: Json, name: str) -> None:
    """Give the job the name that was asked for, or one that begins as it wants."""
    metadata = job.setdefault("metadata", {})
    if not isinstance(metadata, dict):
        return  # the compiler will say so
    if not name and not metadata.get("name") and metadata.get("generateName"):
        name = suffixed(str(metadata["generateName"]))
    if name:
        metadata["name"] = name


def _place(objects: Iterable[Json], job: Json, backend: Backend) -> None:
    """Put everything into the namespace that the backend says, where it cares."""
    metadata = job.get("metadata")
    named = metadata.get("namespace") if isinstance(metadata, dict) else None
    namespace = capabilities.namespace(backend, named if isinstance(named, str) else "")
    for obj in objects:
        if namespace and isinstance(obj.get("metadata"), dict) and type_of(obj) not in UNPLACED:
            obj["metadata"]["namespace"] = namespace


def _isolate(obj: Json) -> None:
    """Note that containers are wanted where it is found again: on the object itself."""
    metadata = obj.get("metadata")
    if isinstance(metadata, dict):  # else the compiler will say so
        metadata["annotations"] = {**(metadata.get("annotations") or {}), ISOLATION: "container"}


class _OneNetwork:
    """Makes the network of the one job, once, and keeps it."""

    def __init__(self, make: Callable[[JobIdentity], Network]) -> None:
        self._make = make
        self.made: Network | None = None

    def __call__(self, job: JobIdentity) -> Network:
        if self.made is None:
            self.made = self._make(job)
        return self.made


def _prepared(
    submission: Submission, backend: Backend, objects: list[Json], job: Json, network: _OneNetwork
) -> Prepared:
    inputs = [Input(obj, _SOURCE) for obj in objects if type_of(obj) not in FILES]
    inputs += _own_runtime(job, objects, backend)
    options = Options(
        network=network,
        builtin_runtime=lambda name: _runtime(backend, name),
        initializer_images=initializer_images(backend) if job["kind"] == "TrainJob" else {},
    )
    outcome = compile_objects(inputs, options)
    _refuse(outcome.errors)
    in_pods = family_of(backend.name).runs is Runs.PODS
    wrong = timeout_errors(job) + pattern_errors(job) + health_check_errors(job)
    wrong += packages_errors(job) + checkpoint_errors(job)
    if wrong:
        raise InvalidError([f"{job['kind']}/{job['metadata']['name']}: {error}" for error in wrong])
    bare = _the_jobset(outcome, job)
    jobset, unfit = with_volumes(bare, job, backend.name, in_pods=in_pods)
    if unfit:
        raise InvalidError([f"{job['kind']}/{job['metadata']['name']}: {line}" for line in unfit])
    if isolation_of(job) is Isolation.CONTAINER:
        _isolate(jobset)
    said = health_check(job, jobset, usual_health_check(backend))
    jobset = with_health_check(jobset, said or "false") if said or is_said(jobset) else jobset
    jobset = _with_environment(jobset, job, backend)
    check_jobset(job, jobset["spec"], backend)
    namespace = jobset["metadata"].get("namespace") or "default"
    name = jobset["metadata"]["name"]
    port = network(JobIdentity(name, namespace, name)).port
    errors, warnings = capabilities.problems(backend, jobset, job)
    if errors:
        raise InvalidError([f"{job['kind']}/{name}: {line}" for line in errors])
    if said and family_of(backend.name).runs is Runs.PODS:
        warnings = [*warnings, f"{job['kind']}/{name}: {IN_PODS}"]
    spec = job.get("spec") or {}
    return Prepared(
        kind=job["kind"],
        name=name,
        namespace=namespace,
        labels={
            **(job["metadata"].get("labels") or {}),
            **submission.labels,
            **spot_label(use_spot=submission.use_spot),
            **_group(job),
        },
        objects=objects,
        jobset=jobset,
        companions=[obj for obj in (*objects, *outcome.objects) if type_of(obj) in FILES],
        demand=replace(demand_of(jobset["spec"]), types=gpu_types(jobset)),
        port=port,
        warnings=[*_lines(outcome.warnings), *warnings],
        deadline_seconds=spec.get("activeDeadlineSeconds")
        if job["kind"] == "TrainJob"
        else timeout_of(job),
        ttl_seconds=jobset["spec"].get("ttlSecondsAfterFinished"),
    )


def _with_environment(jobset: Json, job: Json, backend: Backend) -> Json:
    """The JobSet with the packages of the job: agents make an environment, images install them."""
    lines = packages_of(job)
    if not lines:
        return jobset
    is_contained = isolation_of(job) is Isolation.CONTAINER
    if is_contained or family_of(backend.name).runs is Runs.PODS:
        return in_pods(jobset, lines)
    return with_packages(jobset, lines)


def _group(job: Json) -> dict[str, str]:
    """The label of a job whose tasks run side by side."""
    header = (job.get("spec") or {}).get("header")
    is_group = isinstance(header, dict) and header.get("execution") == PARALLEL
    return {JOB_GROUP: "true"} if is_group and type_of(job) == TASK_TYPE else {}


def _runtime(backend: Backend, name: str) -> Json | None:
    """The runtime that the backend has under that name, else the built-in one."""
    return capabilities.runtime(backend, "ClusterTrainingRuntime", name) or builtin_runtime(name)


def _own_runtime(job: Json, objects: Iterable[Json], backend: Backend) -> list[Input]:
    """The TrainingRuntime that the job names, where it is the backend's own."""
    spec = job.get("spec")
    ref = spec.get("runtimeRef") if isinstance(spec, dict) else None
    if not isinstance(ref, dict) or ref.get("kind") != "TrainingRuntime":
        return []
    name = str(ref.get("name") or "")
    given = [obj for obj in objects if type_of(obj) == (_RUNTIMES, "TrainingRuntime")]
    if any((obj.get("metadata") or {}).get("name") == name for obj in given):
        return []
    found = capabilities.runtime(backend, "TrainingRuntime", name)
    return [] if found is None else [Input(found, _SOURCE)]


def _the_job(objects: Iterable[Json]) -> Json:
    jobs = [obj for obj in objects if type_of(obj) in JOB_TYPES]
    if len(jobs) == 1:
        return jobs[0]
    kinds = ", ".join(kind for _, kind in JOB_TYPES)
    if jobs:
        found = ", ".join(
            f"{obj['kind']}/{(obj.get('metadata') or {}).get('name')}" for obj in jobs
        )
        raise InvalidError([f"more than one job: {found}"], hint="submit them one at a time")
    versions = {kind: api for api, kind in JOB_TYPES}
    for api, kind in map(type_of, objects):
        if kind in versions:
            wanted = f"a {kind} has {versions[kind]}"
            raise InvalidError([f'apiVersion: Unsupported value: "{api}": {wanted}'])
    found = ", ".join(sorted({str(obj.get("kind")) for obj in objects})) or "nothing"
    raise InvalidError(
        [f"there is no job among the objects, only {found}"], hint=f"a job is one of {kinds}"
    )


def _the_jobset(outcome: Outcome, job: Json) -> Json:
    made = [obj for obj in outcome.objects if obj["kind"] == JOBSET_KIND]
    if not made:
        name = job["metadata"].get("name")
        raise InvalidError(
            [f"{job['kind']}/{name}: spec.managedBy: the job belongs to another controller"],
            hint="remove managedBy to run it here",
        )
    jobset: Json = with_webhook_defaults(with_defaults(JOBSET, made[0]))
    if not (jobset.get("spec") or {}).get("replicatedJobs"):
        name = jobset["metadata"]["name"]
        raise InvalidError(
            [f"JobSet/{name}: spec.replicatedJobs: Required value: there is nothing to run"]
        )
    return jobset


def _refuse(problems: Sequence[Problem]) -> None:
    if problems:
        raise InvalidError(_lines(problems))


def _lines(problems: Iterable[Problem]) -> list[str]:
    return [
        f"{problem.kind}/{problem.name}: {problem.message.removeprefix('warning: ')}"
        for problem in problems
    ]
