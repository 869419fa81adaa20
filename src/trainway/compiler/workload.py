"""A TrainJob on its way to becoming a JobSet.

It starts as a copy of the runtime's template with the job's patches and overrides applied. Plugins
then work on `roles`, which are views on that one copy, and never on the TrainJob or the runtime.
"""

import copy
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from trainway.api.admission import REQUIRED_CONTAINERS
from trainway.api.pod_override import PodTemplateOverride
from trainway.api.runtime import ClusterTrainingRuntime, MLPolicy, TrainingRuntime
from trainway.api.runtime_patch import RuntimePatch, RuntimePatchTemplate
from trainway.api.trainjob import Trainer, TrainJob
from trainway.compiler.keys import Keys
from trainway.compiler.network import JobIdentity, Network, NetworkFactory
from trainway.compiler.ownership import owned_metadata
from trainway.compiler.restarts import fail_fast, max_restarts, recovered_exit_codes
from trainway.jobset.labels import ANCESTOR_STEP, COMPLETION_INDEX
from trainway.jobset.merge_patch import merge
from trainway.jobset.model import Container, PodTemplate, ReplicatedJob, replicated_jobs
from trainway.jobset.quantity import Quantity
from trainway.jobset.requests import pod_requests
from trainway.jobset.spec import JOBSET_SPEC
from trainway.json_types import Json
from trainway.schema.kubernetes import kube
from trainway.schema.structural import Schema

API_VERSION = "trainer.kubeflow.org/v1alpha1"
TRAINER = "trainer"
NODE = "node"
LAUNCHER = "launcher"
DATASET_INITIALIZER = "dataset-initializer"
MODEL_INITIALIZER = "model-initializer"

RANK: Mapping[str, Any] = {"fieldRef": {"fieldPath": f"metadata.annotations['{COMPLETION_INDEX}']"}}
"""The source of a variable that holds the pod's index within its role."""

Runtime = TrainingRuntime | ClusterTrainingRuntime


@dataclass
class Role:
    """One replicated job of the JobSet and the number of its pods."""

    job: ReplicatedJob
    count: int

    @property
    def name(self) -> str:
        """The replicated job's name."""
        return self.job.name

    @property
    def ancestor(self) -> str:
        """The step of the TrainJob that this role does; for jobs beside it empty or unknown."""
        return self.job.labels.get(ANCESTOR_STEP, "")

    @property
    def pod(self) -> PodTemplate:
        """The template of its pods."""
        return self.job.pod

    def container(self, name: str) -> Container | None:
        """A main container of its pods."""
        return self.pod.container(name)

    def requests(self) -> dict[str, Quantity]:
        """What all its pods together ask of the cluster."""
        return {name: n * self.count for name, n in pod_requests(self.pod.spec).items()}


@dataclass(frozen=True)
class Lookup:
    """What the plugins may ask about the world around the job."""

    has_priority_class: Callable[[str], bool] = lambda _name: False


@dataclass
class Workload:
    """The job, its runtime, and the JobSet that they become."""

    job: TrainJob
    runtime: Runtime
    template: Json
    """The runtime's JobSet spec before any patch: what patches may name."""
    spec: Json
    labels: dict[str, str]
    annotations: dict[str, str]
    network: Network
    keys: Keys
    lookup: Lookup = field(default_factory=Lookup)
    roles: list[Role] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The TrainJob's name, which is the JobSet's too."""
        return self.job.metadata.name

    @property
    def ml_policy(self) -> MLPolicy:
        """The runtime's ML policy; one with nothing in it where there is none."""
        return self.runtime.spec.ml_policy or MLPolicy()

    @property
    def settings(self) -> Trainer:
        """What the job says about its trainer; nothing where it says nothing."""
        return self.job.spec.trainer or Trainer()

    @property
    def trainer(self) -> Role | None:
        """The role that trains."""
        return next((role for role in self.roles if role.ancestor == TRAINER), None)

    @property
    def node(self) -> Container | None:
        """The container that trains."""
        return self.trainer.container(NODE) if self.trainer else None

    @property
    def first_host(self) -> str:
        """Where the trainer's first pod is reached (defects N2, N3: whatever its job is called)."""
        return self.network.host(self.trainer.name if self.trainer else NODE, 0)

    def template_container(self) -> Container | None:
        """The container that trains as the runtime has it, before the job changed anything."""
        for job in replicated_jobs(self.template):
            if job.labels.get(ANCESTOR_STEP) == TRAINER:
                return job.pod.container(NODE)
        return None

    def role(self, name: str) -> Role | None:
        """The role of that name."""
        return next((role for role in self.roles if role.name == name), None)

    def training_containers(self) -> Iterator[tuple[Role, Container]]:
        """The trainer's container, and the workers' where an MPI launcher is a node like them."""
        mpi = self.ml_policy.mpi
        for role in self.roles:
            container = role.container(NODE)
            is_worker = mpi is not None and mpi.run_launcher_as_node and role.name == NODE
            if container is not None and (role.ancestor == TRAINER or is_worker):
                yield role, container

    def set_user_env(self) -> None:
        """Set the job's variables, over those that are there."""
        for _, container in self.training_containers():
            container.set_env(*self.settings.env)

    def owned(self, name: str) -> dict[str, Any]:
        """Metadata of an object that belongs to the TrainJob."""
        return owned_metadata(API_VERSION, "TrainJob", self.job.metadata, name)

    @property
    def num_nodes(self) -> int:
        """Nodes the job asks for: its own number, else the runtime's, else one."""
        if self.settings.num_nodes is not None:
            return self.settings.num_nodes
        return max(self.ml_policy.num_nodes or 1, 1)

    @property
    def node_resources(self) -> Json:
        """What a node has after the job's resources went over the runtime's (defect N6)."""
        for role in self.roles:
            container = role.container(NODE)
            is_node = role.name == NODE or role.ancestor == TRAINER
            if is_node and container is not None and container.resources:
                return container.resources
        return {}


def new_workload(
    job: TrainJob, runtime: Runtime, network: NetworkFactory, keys: Keys, lookup: Lookup
) -> Workload:
    """The state before any plugin: patches, counts and the trainer's overrides applied."""
    template = runtime.spec.template.spec
    patched = _patched(copy.deepcopy(template), job.spec.runtime_patches)
    restarts = max_restarts(job.metadata.annotations)
    if restarts is not None:
        fail_fast(patched, restarts, recovered_exit_codes(job.metadata.annotations))
    spec = _overridden(patched, job.spec.pod_template_overrides)
    labels, annotations = _propagated_metadata(job, runtime)
    subdomain = (spec.get("network") or {}).get("subdomain") or job.metadata.name
    identity = JobIdentity(job.metadata.name, job.metadata.namespace or "default", subdomain)
    workload = Workload(
        job, runtime, template, spec, labels, annotations, network(identity), keys, lookup
    )
    workload.roles = [_role(replicated) for replicated in replicated_jobs(spec)]
    _override_nodes(workload)
    workload.set_user_env()
    return workload


def _patched(spec: Json, patches: list[RuntimePatch]) -> Json:
    order = [job.name for job in replicated_jobs(spec)]
    for patch in patches:
        template = template_patch(patch)
        if template and template.spec:
            spec = merge(JOBSET_SPEC, spec, template.spec)
    jobs = spec.get("replicatedJobs") or []
    jobs.sort(key=lambda item: order.index(item["name"]) if item["name"] in order else len(order))
    return spec


def _overridden(spec: Json, overrides: list[PodTemplateOverride]) -> Json:
    """Apply overrides as patches; only tolerations add up, since Kueue gives no others."""
    for override in overrides:
        names = {target.name for target in override.target_jobs}
        for job in replicated_jobs(spec):
            if job.name in names:
                change = _pod_override(override, job.pod)
                job.job_spec["template"] = merge(kube("PodTemplateSpec"), job.pod.data, change)
    return spec


def _pod_override(override: PodTemplateOverride, pod: PodTemplate) -> Json:
    spec = dict(override.spec or {})
    if spec.get("tolerations"):
        there = pod.spec.get("tolerations") or []
        spec["tolerations"] = [*there, *(it for it in spec["tolerations"] if it not in there)]
    parts = {"metadata": override.metadata, "spec": spec}
    return {name: part for name, part in parts.items() if part}


def template_patch(patch: RuntimePatch) -> RuntimePatchTemplate | None:
    """What a patch changes in the JobSet template, if anything."""
    return patch.training_runtime_spec.template if patch.training_runtime_spec else None


def _propagated_metadata(job: TrainJob, runtime: Runtime) -> tuple[dict[str, str], dict[str, str]]:
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    sources = [runtime.spec.template.metadata]
    patches = map(template_patch, job.spec.runtime_patches)
    sources += [patch.metadata for patch in patches if patch is not None]
    for metadata in sources:
        labels |= (metadata or {}).get("labels") or {}
        annotations |= (metadata or {}).get("annotations") or {}
    return labels, annotations


def _role(job: ReplicatedJob) -> Role:
    role = Role(job, max(job.job_spec.get("parallelism", 1), 1))
    if role.ancestor in REQUIRED_CONTAINERS:
        job.data["replicas"] = 1
    return role


def _override_nodes(workload: Workload) -> None:
    """Bring the job's image, command, args and resources to the containers that train."""
    settings = workload.settings
    for role, container in workload.training_containers():
        if settings.image is not None:
            container.data["image"] = settings.image
        if role.ancestor == TRAINER and settings.command is not None:
            container.data["command"] = list(settings.command)
        if role.ancestor == TRAINER and settings.args is not None:
            container.data["args"] = list(settings.args)
        if settings.resources_per_node is not None:
            container.data["resources"] = merge(
                _node_resources(), container.resources, settings.resources_per_node
            )


@cache
def _node_resources() -> Schema:
    """Resources whose claims add up by name, where a patch of a pod would replace them."""
    resources = kube("ResourceRequirements")
    claims = replace(resources.properties["claims"], merge="merge", merge_key="name")
    return replace(resources, properties={**resources.properties, "claims": claims})
