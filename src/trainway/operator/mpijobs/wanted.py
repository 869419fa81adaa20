"""What an MPIJob wants to exist, made from the object as the API server has it.

An MPIJob that another controller manages wants nothing; one that breaks the rules is refused here,
for it may have come past the webhook.
"""

import hashlib
import json
from collections.abc import Collection
from dataclasses import dataclass

from trainway.api.admission import validate_mpijob
from trainway.api.mpijob import CONTROLLER, LAUNCHER, WORKER, MPIJob
from trainway.api.packages import packages_errors, packages_of
from trainway.compiler.devices import gpus
from trainway.compiler.keys import Keys
from trainway.compiler.mpi_workers import replaceable
from trainway.compiler.mpijob import compile_mpijob
from trainway.compiler.mpijob_gang import GangScheduling
from trainway.compiler.network import JobIdentity, KubernetesNetwork
from trainway.jobset.mpijob_status import MPIJobFacts
from trainway.json_types import Json
from trainway.kube.pod_packages import in_pods
from trainway.operator import stored_object
from trainway.schema.field import FieldError


def is_ours(obj: Json) -> bool:
    """Whether this operator runs the job."""
    policy = obj["spec"].get("runPolicy") or {}
    return (policy.get("managedBy") or CONTROLLER) == CONTROLLER


def parse(obj: Json) -> tuple[MPIJob | None, list[FieldError]]:
    """The job with all defaults, or what is wrong with it."""
    return stored_object.parse(
        obj, MPIJob, lambda job: [*validate_mpijob(job), *packages_errors(_annotated(job))]
    )


def facts_of(job: MPIJob) -> MPIJobFacts:
    """What of the job its status depends on."""
    worker = job.spec.mpi_replica_specs.get(WORKER)
    return MPIJobFacts(
        namespace=job.metadata.namespace,
        name=job.metadata.name,
        workers=worker.replicas if worker else 0,
        suspend=job.spec.run_policy.suspend,
    )


def gpus_of(job: MPIJob) -> int:
    """The GPUs of all its pods together."""
    return sum(
        replica.replicas * gpus(container.get("resources") or {})
        for replica in job.spec.mpi_replica_specs.values()
        for container in replica.template["spec"]["containers"]
    )


@dataclass(frozen=True, slots=True)
class Wanted:
    """The objects that a job needs."""

    secret: Json
    config_map: Json
    jobset: Json
    pod_group: Json | None = None


@dataclass(frozen=True, slots=True)
class CompileContext:
    """What of the cluster the objects depend on."""

    keys: Keys
    cluster_domain: str = ""
    gang: GangScheduling | None = None


def wanted(job: MPIJob, around: CompileContext, running: Collection[int]) -> Wanted:
    """Compile the job. `running` are the workers that run now.

    The JobSet has no TTL: one that goes before its end was seen would be made again. The operator
    removes it when its time has come.
    """
    name, namespace = job.metadata.name, job.metadata.namespace
    network = KubernetesNetwork(JobIdentity(name, namespace, name), around.cluster_domain)
    secret, config_map, *group, jobset = compile_mpijob(
        job, network=network, keys=around.keys, gang=around.gang, running=running
    ).objects
    jobset["spec"].pop("ttlSecondsAfterFinished", None)
    if packages := packages_of(_annotated(job)):
        jobset = in_pods(jobset, packages)
    return Wanted(secret, config_map, replaceable(jobset), group[0] if group else None)


def _annotated(job: MPIJob) -> Json:
    """The job as those see it who look at its annotations only."""
    return {"kind": job.kind, "metadata": {"annotations": job.metadata.annotations}}


def replaces_restart_policy(job: MPIJob) -> bool:
    """Whether the launcher's template has a restart policy, which does not count."""
    return "restartPolicy" in job.spec.mpi_replica_specs[LAUNCHER].template["spec"]


def digest(obj: Json) -> str:
    """What two objects share if they say the same."""
    text = json.dumps(obj, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
