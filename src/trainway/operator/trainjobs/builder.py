"""The objects of a TrainJob, as the compiler makes them for Kubernetes."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from trainway.api.kinds import read
from trainway.api.packages import packages_errors, packages_of
from trainway.api.trainjob import TrainJob
from trainway.compiler.devices import gpus
from trainway.compiler.framework import Framework
from trainway.compiler.keys import Keys
from trainway.compiler.mpi_workers import replaceable
from trainway.compiler.plugins.progress import Progress, StatusEndpoint
from trainway.compiler.registry import default_framework
from trainway.compiler.trainjob import Target, compile_trainjob
from trainway.compiler.workload import Lookup, Runtime
from trainway.errors import TrainwayError
from trainway.jobset.model import replicated_jobs
from trainway.json_types import Json
from trainway.kube.pod_packages import in_pods
from trainway.operator.trainjobs.build_error import BuildError, field_problems

logger = logging.getLogger(__name__)


_METADATA = ("name", "namespace", "uid", "labels", "annotations")


@dataclass(frozen=True, slots=True)
class Built:
    """The objects in the order in which to send them."""

    objects: list[Json]

    @property
    def gpus(self) -> int:
        """How many GPUs all pods hold together."""
        return sum(
            gpus(container.resources) * role.job_spec.get("parallelism", 1) * role.replicas
            for jobset in self.objects
            if jobset["kind"] == "JobSet"
            for role in replicated_jobs(jobset["spec"])
            for container in role.pod.containers
        )

    @property
    def is_gang(self) -> bool:
        """Whether a scheduler starts all pods together."""
        return any(obj["kind"] == "PodGroup" for obj in self.objects)


@dataclass(frozen=True, slots=True)
class Builder:
    """Compiles TrainJobs."""

    keys: Keys
    has_priority_class: Callable[[str], bool]
    initializer_images: Mapping[str, str] = field(default_factory=dict)
    """The images that take the place of upstream's, by the step that they do."""

    def build(self, job: Json, runtime: Runtime, endpoint: StatusEndpoint | None) -> Built:
        """The objects; BuildError says all that is wrong."""
        target = Target(
            keys=self.keys,
            lookup=Lookup(has_priority_class=self.has_priority_class),
            framework=_framework(endpoint),
            initializer_images=self.initializer_images,
        )
        parsed = parsed_trainjob(job)
        try:
            compiled = compile_trainjob(parsed, runtime, target)
        except TrainwayError as error:
            raise BuildError(str(error)) from error
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            logger.exception("cannot compile %s", parsed.metadata.name)
            raise BuildError(f"the runtime cannot be used: {error!r}") from error
        errors = [*compiled.errors, *packages_errors(job)]
        if errors:
            raise BuildError("; ".join(str(error) for error in errors))
        packages = packages_of(job)
        return Built([_sent(obj, packages) for obj in compiled.objects])


def _sent(obj: Json, packages: Sequence[str]) -> Json:
    if obj["kind"] != "JobSet":
        return obj
    return replaceable(in_pods(obj, packages) if packages else obj)


def parsed_trainjob(job: Json) -> TrainJob:
    """The typed form of what matters for the objects: the status does not."""
    metadata = {name: job["metadata"][name] for name in _METADATA if name in job["metadata"]}
    head = {"apiVersion": job["apiVersion"], "kind": job["kind"], "metadata": metadata}
    obj = {**head, "spec": job.get("spec") or {}}
    try:
        parsed = read(obj)
    except ValueError as error:
        raise BuildError(f"TrainJob cannot be read: {field_problems(obj, error)}") from error
    if not isinstance(parsed, TrainJob):
        raise BuildError(f"TrainJob cannot be read: it is a {parsed.kind}")
    return parsed


@lru_cache(maxsize=4)
def _framework(endpoint: StatusEndpoint | None) -> Framework:
    plugins = default_framework().plugins
    return Framework([*plugins, Progress(endpoint)]) if endpoint else default_framework()
