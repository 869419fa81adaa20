"""Elastic torch: torchrun goes on with fewer nodes, and grows again when there is room.

torchrun meets by its c10d rendezvous, which nodes may leave and join, at a store in the process of
node 0. That node is the only one that cannot be lost: without it the others have nowhere to meet.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from trainway.compiler.elasticity import Elasticity, annotation_path, elasticity
from trainway.compiler.network import KUBERNETES
from trainway.compiler.plugins.torchtune import is_torchtune
from trainway.compiler.workload import Workload
from trainway.jobset.labels import HOSTS_RENDEZVOUS, MAX_NODES, MIN_NODES
from trainway.json_types import Json
from trainway.schema.field import FieldError, invalid

RESERVED: Final = ("PET_RDZV_BACKEND", "PET_RDZV_ENDPOINT", "PET_RDZV_ID", "PET_RDZV_CONF")
MAX_RESTARTS: Final = 30
"""How often torchrun starts its workers anew. Those on the nodes that are left fail when another is
lost, so this is how many losses a node survives; a program that is wrong ends after so many."""

RENDEZVOUS: Final[Mapping[str, int]] = {
    "join_timeout": 3600,
    "last_call_timeout": 5,
    "keep_alive_interval": 2,
    "keep_alive_max_attempt": 5,
    "read_timeout": 300,
}
"""What torchrun is told, in seconds: how long nodes wait until there are enough of them, and then
for others; after how many heartbeats one counts as gone; and how long the store is waited for."""

_HOSTS: Final = "TRAINWAY_HOSTS_RENDEZVOUS"


def elasticity_errors(workload: Workload) -> Iterator[FieldError]:
    """Why a job whose annotations are right cannot be elastic."""
    elastic = elasticity(workload.job.metadata.annotations)
    if elastic is None:
        return
    if workload.ml_policy.torch is None or is_torchtune(workload):
        detail = (
            "only jobs of torchrun can be elastic: use a runtime with the policy torch, such as "
            "torch-distributed, or give a fixed number of nodes"
        )
        yield invalid(annotation_path(MIN_NODES), str(elastic.minimum), detail)
    asked = workload.settings.num_nodes
    if asked is not None and asked != elastic.maximum:
        detail = f"must be {elastic.maximum}, as {MAX_NODES} says, or left out"
        yield invalid(("spec", "trainer", "numNodes"), asked, detail)


def apply_elasticity(workload: Workload) -> None:
    """Have the most nodes, and let the role that trains say with how many it goes on.

    On agents the minimum alone decides. Where Kubernetes runs the Job, its controller replaces a
    pod that fails, as often as torchrun starts workers anew, and one that was lost with its node
    however often that happens.
    """
    elastic, role = elasticity(workload.job.metadata.annotations), workload.trainer
    if elastic is None or role is None:
        return
    role.count = elastic.maximum
    metadata: Json = role.job.data.setdefault("template", {}).setdefault("metadata", {})
    metadata.setdefault("annotations", {})[MIN_NODES] = str(elastic.minimum)
    role.job.job_spec["backoffLimit"] = MAX_RESTARTS
    role.pod.spec["restartPolicy"] = "Never"
    if workload.network.cloud == KUBERNETES:
        for name, policy in _on_kubernetes(elastic).items():
            role.job.job_spec.setdefault(name, policy)


def _on_kubernetes(elastic: Elasticity) -> Json:
    """What a Job controller is told beyond that.

    torchrun ends on all nodes at once. A node that is not there at that time has nobody left to
    meet, so the Job is complete without it.
    """
    lost = {"type": "DisruptionTarget", "status": "True"}
    return {
        "podFailurePolicy": {"rules": [{"action": "Ignore", "onPodConditions": [lost]}]},
        "successPolicy": {"rules": [{"succeededCount": elastic.minimum}]},
    }


def rendezvous_env(workload: Workload) -> list[dict[str, Any]]:
    """The variables from which torchrun knows where and how to meet.

    Each round has a store of its own for the workers, since the one that torchrun would share
    stays on a node that may be lost.
    """
    settings = {name: str(value) for name, value in RENDEZVOUS.items()}
    found: list[dict[str, Any]] = []
    if workload.network.cloud != KUBERNETES:
        # Elsewhere several nodes may have one address, so who has the store must be said.
        path = f"metadata.annotations['{HOSTS_RENDEZVOUS}']"
        found.append({"name": _HOSTS, "valueFrom": {"fieldRef": {"fieldPath": path}}})
        settings["is_host"] = f"$({_HOSTS})"
    endpoint = f"{workload.first_host}:{workload.network.port}"
    address = {"fieldRef": {"fieldPath": "status.podIP"}}
    return [
        *found,
        {"name": "PET_RDZV_BACKEND", "value": "c10d"},
        {"name": "PET_RDZV_ENDPOINT", "value": endpoint},
        {"name": "PET_RDZV_ID", "value": workload.name},
        {"name": "PET_RDZV_CONF", "value": ",".join(f"{k}={v}" for k, v in settings.items())},
        {"name": "PET_MAX_RESTARTS", "value": str(MAX_RESTARTS)},
        {"name": "PET_LOCAL_ADDR", "valueFrom": address},
        {"name": "TORCH_DISABLE_SHARE_RDZV_TCP_STORE", "value": "1"},
    ]
