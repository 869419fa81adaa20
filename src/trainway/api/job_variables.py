"""Variables and secrets that are given with a job, put into the containers of its pods. Pure.

Values of secrets are in a Secret beside the job, never in the job itself: its containers refer to
it by key, as those of tasks do.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from trainway.jobset.literal_text import literal
from trainway.json_types import Json

_SUFFIX: Final = "-secrets"


def entries(env: Mapping[str, str], secrets: Mapping[str, str], job: str) -> list[Json]:
    """The entries of a container's `env`; `job` is the name of the job that has the secrets."""
    plain = [
        {"name": name, "value": literal(value)}
        for name, value in env.items()
        if name not in secrets
    ]
    hidden = [
        {"name": name, "valueFrom": {"secretKeyRef": {"name": f"{job}{_SUFFIX}", "key": name}}}
        for name in secrets
    ]
    return [*plain, *hidden]


def merged(given: Sequence[Json] | None, wanted: Sequence[Json]) -> list[Json]:
    """The entries of a container with those that are asked for in place of their namesakes."""
    names = {item["name"] for item in wanted}
    return [*(item for item in given or () if item.get("name") not in names), *wanted]


def secret_objects(secrets: Mapping[str, str], job: str) -> list[Json]:
    """The Secret with the values, where there are any."""
    if not secrets:
        return []
    from trainway.api.task.task_object import secret  # noqa: PLC0415 - seldom needed

    return [secret(job, secrets)]


def set_in_pods(job: Json, wanted: Sequence[Json]) -> None:
    """Put the entries into every container of a JobSet or MPIJob; what is malformed is left."""
    for container in containers_of(job):
        container["env"] = merged(container.get("env"), wanted)


def containers_of(job: Json) -> Iterator[Json]:
    """Every container of a JobSet or MPIJob; what is malformed is left out."""
    if job.get("kind") == "MPIJob":
        replicas = _at(job, "spec", "mpiReplicaSpecs")
        pods = [_at(item, "template") for item in _values(replicas)]
    else:
        roles = _at(job, "spec", "replicatedJobs")
        pods = [_at(role, "template", "spec", "template") for role in _values(roles)]
    for pod in pods:
        found = _values(_at(pod, "spec", "containers"))
        yield from (item for item in found if isinstance(item, dict))


def _at(value: Any, *path: str) -> Any:
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _values(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []
