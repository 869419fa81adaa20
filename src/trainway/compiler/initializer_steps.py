"""Initializers on a runtime that has none: the steps that fetch come from the job itself.

Upstream refuses such a job, so each runtime with initializers is written a second time (upstream's
issue 2886). Here the steps and the volume that they share with the trainer are added, in front of
it. A runtime that has the step keeps it as it is, and what is wrong with it is said as upstream
says it.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from trainway.api.trainjob import InitializerSource
from trainway.compiler.workload import DATASET_INITIALIZER, MODEL_INITIALIZER, Role, Workload
from trainway.jobset.labels import ANCESTOR_STEP, INITIALIZER_STORAGE
from trainway.jobset.model import ReplicatedJob, upsert
from trainway.jobset.quantity import InvalidQuantityError, Quantity
from trainway.json_types import Json
from trainway.schema.field import FieldError, invalid

VOLUME: Final = "initializer"
WORKSPACE: Final = "/workspace"
IMAGES: Final = {
    step: f"ghcr.io/kubeflow/trainer/{step}:v2.3.0"
    for step in (DATASET_INITIALIZER, MODEL_INITIALIZER)
}
"""Upstream's images; ours do the same, and take their place where they are named."""
_STORAGE: Final = "20Gi"
_CACHE: Final = "cache://"
_ATTEMPTS: Final = 3
IN_VAIN: Final = 2
"""The exit code of our initializers where another attempt would end alike."""


def storage_errors(annotations: Mapping[str, str]) -> Iterator[FieldError]:
    """What is wrong with the size of the volume, where the job names one."""
    said = annotations.get(INITIALIZER_STORAGE)
    if said is None:
        return
    try:
        is_size = Quantity.parse(said) > Quantity.parse(0)
    except InvalidQuantityError:
        is_size = False
    if not is_size:
        where = ("metadata", "annotations", (INITIALIZER_STORAGE,))
        yield invalid(where, said, "must be an amount of storage, such as 100Gi")


def sources(workload: Workload) -> Iterator[tuple[str, InitializerSource]]:
    """What the job wants fetched, by the step that does it."""
    initializer = workload.job.spec.initializer
    if initializer is not None and initializer.dataset is not None:
        yield DATASET_INITIALIZER, initializer.dataset
    if initializer is not None and initializer.model is not None:
        yield MODEL_INITIALIZER, initializer.model


def add_missing_steps(workload: Workload) -> None:
    """Add the steps that the job names and its runtime lacks, where they can be added."""
    if workload.spec.get("startupPolicy"):
        return  # JobSet allows no role to wait for the end of another then
    missing = [
        step
        for step, source in sources(workload)
        if workload.role(step) is None and _is_fetchable(source.storage_uri or "")
    ]
    trainers = [role for role, _ in workload.training_containers()]
    if not missing or not trainers:
        return
    volume = _shared_volume(workload, trainers)
    roles = [Role(ReplicatedJob(_step(step, volume)), 1) for step in missing]
    workload.spec["replicatedJobs"][:0] = [role.job.data for role in roles]
    workload.roles[:0] = roles
    for role in trainers:
        _await(role, missing, [trainer.name for trainer in trainers])
        container = role.container("node")
        if container is not None and not container.mounts(VOLUME):
            container.set_mount(VOLUME, WORKSPACE)
        if volume:
            role.pod.set_volume(dict(volume))


def choose_images(workload: Workload, images: Mapping[str, str]) -> None:
    """Put other images in the place of upstream's initializers."""
    for role in workload.roles:
        container = role.container(role.ancestor) if role.ancestor in images else None
        if container is not None and _is_upstream(container.data.get("image"), role.ancestor):
            container.data["image"] = images[role.ancestor]


def _is_fetchable(uri: str) -> bool:
    return "://" in uri and not uri.startswith(_CACHE)


def _is_upstream(image: object, step: str) -> bool:
    name = IMAGES[step].partition(":")[0]
    return isinstance(image, str) and image.partition("@")[0].partition(":")[0] == name


def _shared_volume(workload: Workload, trainers: list[Role]) -> Json:
    """The volume that the trainer has already; else the JobSet claims one, and this is empty."""
    for role in trainers:
        for volume in role.pod.spec.get("volumes") or []:
            if volume.get("name") == VOLUME:
                return dict(volume)
    policies: list[Json] = workload.spec.setdefault("volumeClaimPolicies", [])
    claimed = [
        (template.get("metadata") or {}).get("name")
        for policy in policies
        for template in policy.get("templates") or []
    ]
    if VOLUME not in claimed:
        size = workload.job.metadata.annotations.get(INITIALIZER_STORAGE, _STORAGE)
        mode = "ReadWriteOnce" if workload.num_nodes == 1 else "ReadWriteMany"
        claim = {"accessModes": [mode], "resources": {"requests": {"storage": size}}}
        policies.append({"templates": [{"metadata": {"name": VOLUME}, "spec": claim}]})
    return {}


def _step(step: str, volume: Json) -> Json:
    matched = {"containerName": step, "operator": "In", "values": [IN_VAIN]}
    container: Json = {
        "name": step,
        "image": IMAGES[step],
        "volumeMounts": [{"name": VOLUME, "mountPath": WORKSPACE}],
    }
    pod: Json = {"restartPolicy": "Never", "containers": [container]}
    if volume:
        pod["volumes"] = [dict(volume)]
    return {
        "name": step,
        "replicas": 1,
        "template": {
            "metadata": {"labels": {ANCESTOR_STEP: step}},
            "spec": {
                "backoffLimit": _ATTEMPTS,
                "podFailurePolicy": {"rules": [{"action": "FailJob", "onExitCodes": matched}]},
                "template": {"spec": pod},
            },
        },
    }


def _await(role: Role, steps: list[str], trainers: list[str]) -> None:
    """Let a role start when all is fetched; one that waits for another trainer does so anyway."""
    there: list[Json] = role.job.data.get("dependsOn") or []
    if any(each["name"] in trainers for each in there):
        return
    for step in steps:
        upsert(there, {"name": step, "status": "Complete"}, "name")
    role.job.data["dependsOn"] = there
