"""What a cache is for Kubernetes and for all that runs JobSets: pure functions from its wishes.

A cache is a JobSet of a head and workers. A head that is killed is replaced, and one that says what
is wrong (an exit code of ours) ends the job. Workers restart in their pods, with the disk they had.
"""

import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from trainway.data.flight.contract import HEAD, HEALTH_PORT, PORT, TOKEN, WORKER
from trainway.jobset.labels import DATA_CACHE

Json = dict[str, Any]
_PROGRAM: Final = ("-m", "trainway.data.flight")
_FIRST_PORT: Final = 15_000
_PORTS: Final = 2_000
_ERRORS: Final = [1, 2, 3]
_ATTEMPTS: Final = 1_000
_FOLDER: Final = "/cache"


@dataclass(frozen=True)
class CacheSpec:
    """What somebody wants."""

    name: str
    table: str
    workers: int = 0
    image: str = ""
    """Pods need one, processes none."""
    is_here: bool = False
    """Whether all of it runs on one machine, for jobs of that machine."""
    has_token: bool = False
    python: str = "python3"
    """The program that has trainway[cache], where the cache runs."""

    @property
    def in_pods(self) -> bool:
        """Whether each process has an address of its own."""
        return bool(self.image)

    @property
    def port(self) -> int:
        """Of the head: upstream's in pods, and else one that the name chooses."""
        own = _FIRST_PORT + 2 * (zlib.crc32(self.name.encode()) % _PORTS)
        return PORT if self.in_pods else own

    @property
    def health_port(self) -> int:
        """Of the head's /ready."""
        return HEALTH_PORT if self.in_pods else self.port + 1

    @property
    def head(self) -> str:
        """The name that the head has among the pods of the job, and in its namespace."""
        return f"{self.name}-{HEAD}-0-0.{self.subdomain}:{self.port}"

    @property
    def subdomain(self) -> str:
        """Behind the names of the pods: one that a LeaderWorkerSet can give its pods, too."""
        return f"{self.name}-{HEAD}-0" if self.in_pods else self.name

    def written(self) -> str:
        """To compare it with another."""
        return json.dumps(asdict(self), sort_keys=True)


def cache_objects(
    spec: CacheSpec, token: str = "", keys: Mapping[str, str] | None = None
) -> list[Json]:
    """The JobSet of a cache, and the Secret with its token and the keys of its table, if any."""
    hidden = {**(keys or {}), **({TOKEN: token} if spec.has_token else {})}
    host = "127.0.0.1" if spec.is_here else "0.0.0.0"  # noqa: S104 - other machines read it
    head = [HEAD, host, str(spec.port), "--table", spec.table, "--workers", str(spec.workers)]
    head += ["--health-port", str(spec.health_port)]
    if not spec.in_pods:
        head += ["--advertise", spec.head.partition(":")[0]]
    roles = [_role(spec, HEAD, 1, head, _until_an_error(), hidden)]
    if spec.workers:
        port, health = (str(PORT), str(HEALTH_PORT)) if spec.in_pods else ("0", "0")
        worker = [WORKER, host, port, "--head", spec.head, "--health-port", health]
        policy = {"restartPolicy": "OnFailure"}
        roles.append(_role(spec, WORKER, spec.workers, worker, policy, hidden))
    metadata = {
        "name": spec.name,
        "labels": {DATA_CACHE: spec.name},
        "annotations": {DATA_CACHE: spec.written()},
    }
    network = {"network": {"subdomain": spec.subdomain}} if spec.in_pods else {}
    jobset = {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": metadata,
        "spec": {"replicatedJobs": roles, **network},
    }
    return [*_secrets(spec, hidden), jobset]


def _secrets(spec: CacheSpec, hidden: Mapping[str, str]) -> list[Json]:
    if not hidden:
        return []
    metadata = {"name": _secret(spec)}
    data = dict(hidden)
    return [{"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": data}]


def _secret(spec: CacheSpec) -> str:
    return f"{spec.name}-token"


def _until_an_error() -> Json:
    return {
        "restartPolicy": "Never",
        "podFailurePolicy": {
            "rules": [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": _ERRORS}}]
        },
    }


def _role(
    spec: CacheSpec,
    name: str,
    count: int,
    words: Sequence[str],
    policy: Mapping[str, Any],
    hidden: Iterable[str],
) -> Json:
    job: Json = {
        "parallelism": count,
        "completions": count,
        "completionMode": "Indexed",
        "backoffLimit": _ATTEMPTS,
        "template": {
            "metadata": {"labels": {"app": f"{spec.name}-{name}"}},
            "spec": {
                "restartPolicy": policy["restartPolicy"],
                "containers": [_container(spec, words, hidden)],
                "volumes": [{"name": "cache", "emptyDir": {}}],
            },
        },
    }
    job |= {key: value for key, value in policy.items() if key != "restartPolicy"}
    return {"name": name, "replicas": 1, "template": {"spec": job}}


def _container(spec: CacheSpec, words: Sequence[str], hidden: Iterable[str]) -> Json:
    container: Json = {
        "name": "cache",
        "command": [spec.python, *_PROGRAM, *words, "--folder", _FOLDER],
        "volumeMounts": [{"name": "cache", "mountPath": _FOLDER}],
    }
    variables = [
        {"name": name, "valueFrom": {"secretKeyRef": {"name": _secret(spec), "key": name}}}
        for name in hidden
    ]
    if variables:
        container["env"] = variables
    if spec.in_pods:
        container["image"] = spec.image
        container["ports"] = [{"containerPort": PORT}, {"containerPort": HEALTH_PORT}]
        container["readinessProbe"] = {"httpGet": {"path": "/ready", "port": HEALTH_PORT}}
    return container
