"""PyTorch: the `PET_*` variables from which torchrun takes its arguments."""

from collections.abc import Iterator
from typing import Any

from trainway.api.runtime import TorchPolicy
from trainway.compiler.devices import cpus, gpus
from trainway.compiler.elasticity import elasticity
from trainway.compiler.plugins import elastic as elastic_torch
from trainway.compiler.plugins.reserved_env import reserved_env_errors
from trainway.compiler.plugins.torchtune import is_torchtune
from trainway.compiler.workload import RANK, Workload
from trainway.jobset.model import Container
from trainway.schema.field import FieldError, invalid

AUTO = "auto"
RESERVED = (
    "PET_NNODES",
    "PET_NPROC_PER_NODE",
    "PET_NODE_RANK",
    "PET_MASTER_ADDR",
    "PET_MASTER_PORT",
)


class Torch:
    """Active where the runtime has the policy `torch`."""

    name = "Torch"
    order = 200

    def validate(self, workload: Workload) -> Iterator[FieldError]:
        """Injection targets exist, and the job sets none of our variables."""
        policy = workload.ml_policy.torch
        if policy is None:
            return
        for job, container in _injection_targets(policy):
            if _target(workload, job, container) is None:
                detail = (
                    f'envInjection target podSet "{job}" container "{container}" '
                    "not found in runtime template"
                )
                yield invalid(("spec", "runtimeRef"), workload.job.spec.runtime_ref.name, detail)
        elastic = elasticity(workload.job.metadata.annotations)
        more = elastic_torch.RESERVED if elastic is not None else ()
        yield from reserved_env_errors(workload, (*RESERVED, *more))

    def enforce_ml_policy(self, workload: Workload) -> None:
        """Set the variables on the trainer and on the containers the runtime names."""
        policy = workload.ml_policy.torch
        if policy is None:
            return
        elastic_torch.apply_elasticity(workload)
        ranks, master = _rank_env(workload), _master_env(workload)
        node = workload.node
        if node is not None:
            node.set_env(*ranks)
            if not is_torchtune(workload):
                node.set_env(*master)
            node.set_port(workload.network.port)
        for job, name in _injection_targets(policy):
            container = _target(workload, job, name)
            if container is not None:
                container.set_env(*ranks, *master)


def processes_per_node(workload: Workload) -> str:
    """The job's own number; else `auto` with GPUs, and the number of CPUs without."""
    asked = workload.settings.num_proc_per_node
    if asked is not None:
        return str(asked)
    resources = workload.node_resources
    return AUTO if gpus(resources) else str(max(1, cpus(resources)))


def _rank_env(workload: Workload) -> list[dict[str, Any]]:
    count = workload.trainer.count if workload.trainer else 1
    elastic = elasticity(workload.job.metadata.annotations)
    nodes = str(count) if elastic is None else elastic.text
    return [
        {"name": "PET_NNODES", "value": nodes},
        {"name": "PET_NPROC_PER_NODE", "value": processes_per_node(workload)},
        {"name": "PET_NODE_RANK", "valueFrom": RANK},
    ]


def _master_env(workload: Workload) -> list[dict[str, Any]]:
    if elasticity(workload.job.metadata.annotations) is not None:
        return elastic_torch.rendezvous_env(workload)
    return [
        {"name": "PET_MASTER_ADDR", "value": workload.first_host},
        {"name": "PET_MASTER_PORT", "value": str(workload.network.port)},
    ]


def _injection_targets(policy: TorchPolicy) -> Iterator[tuple[str, str]]:
    for target in policy.env_injection.targets if policy.env_injection else ():
        for container in target.container_names:
            yield target.job_name, container


def _target(workload: Workload, job: str, container: str) -> Container | None:
    role = workload.role(job)
    return role.pod.any_container(container) if role else None
