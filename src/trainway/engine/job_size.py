"""How large a job may be: pods and GPUs are counted before anything is made of them.

Where pods are processes that we start ourselves, the user's settings have the limit; a Kubernetes
cluster has its own, and beyond what one is made for nobody could even list the pods.
"""

from collections.abc import Iterator
from typing import Any, Final

from trainway.backends import capabilities
from trainway.backends.base import Backend
from trainway.backends.demand import gpu_count
from trainway.backends.pod_limit import FIELD, pod_count
from trainway.compiler.host_list import MOST_HOSTS
from trainway.errors import InvalidError
from trainway.jobset.model import KIND as JOBSET_KIND
from trainway.json_types import Json

MOST_GPUS: Final = 1_000_000


def check_source(job: Json, backend: Backend) -> None:
    """Refuse what is too large before it is compiled, as far as its own fields tell."""
    _check_pods(job, sum(_asked(job)), backend)


def check_jobset(job: Json, spec: Json, backend: Backend) -> None:
    """Refuse a compiled job that is too large."""
    _check_pods(job, pod_count(spec), backend)
    gpus = gpu_count(spec)
    if gpus > MOST_GPUS:
        raise InvalidError([f"{_name(job)}: {gpus:,} GPUs are too many; {MOST_GPUS:,} is the most"])


def check_array(job: Json, spec: Json, count: int, backend: Backend) -> None:
    """Refuse an array whose jobs together are too large.

    Those that wait in a queue elsewhere never run all at once, so each counts for itself there.
    """
    pods = pod_count(spec) * count
    limit = MOST_HOSTS if backend.schedules else most_pods(backend)
    if pods > limit:
        raise _too_many(job, pods, limit, backend, f"{count:,} such jobs have")


def most_pods(backend: Backend) -> int:
    """The pods of one job there."""
    limit = capabilities.most_pods(backend)
    return MOST_HOSTS if limit is None else limit


def _check_pods(job: Json, pods: int, backend: Backend) -> None:
    if pods <= 1:
        return
    limit = most_pods(backend)
    if pods > limit:
        raise _too_many(job, pods, limit, backend, "it has")


def _too_many(job: Json, pods: int, limit: int, backend: Backend, has: str) -> InvalidError:
    line = f"{_name(job)}: {has} {pods:,} pods, and on {backend.name} {limit:,} is the most"
    hint = f"request fewer, or raise {FIELD} in config.yaml in the home directory of the server"
    return InvalidError([line], hint=hint if limit < MOST_HOSTS else "request fewer")


def _asked(job: Json) -> Iterator[int]:
    """The numbers of pods that an object names; whatever is wrong with it is told later."""
    spec = _dict(job.get("spec"))
    match job.get("kind"):
        case "TrainJob":
            yield _number(_dict(spec.get("trainer")).get("numNodes"), 0)
        case "MPIJob":
            for replica in _dict(spec.get("mpiReplicaSpecs")).values():
                yield _number(_dict(replica).get("replicas"), 0)
        case "Task":
            for item in _list(spec.get("tasks")):
                yield _number(_dict(_dict(item).get("task")).get("num_nodes"), 0)
        case kind if kind == JOBSET_KIND:
            for role in map(_dict, _list(spec.get("replicatedJobs"))):
                template = _dict(_dict(role.get("template")).get("spec"))
                pods = _number(template.get("completions"), _number(template.get("parallelism"), 1))
                yield _number(role.get("replicas"), 1) * pods


def _number(value: Any, otherwise: int) -> int:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return max(value, 0) if is_number else otherwise


def _dict(value: Any) -> Json:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _name(job: Json) -> str:
    return f"{job.get('kind')}/{_dict(job.get('metadata')).get('name')}"
