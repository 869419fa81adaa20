"""Volcano: gangs by the Volcano scheduler, with queue, priority and network topology."""

from collections.abc import Iterator
from typing import Any

from trainway.compiler.plugins.gang import gang, min_member, min_resources
from trainway.compiler.workload import Workload
from trainway.jobset.labels import VOLCANO_GROUP_NAME, VOLCANO_QUEUE_NAME
from trainway.json_types import Json
from trainway.schema.field import FieldError, invalid

BUILT_IN_CLASSES = ("system-cluster-critical", "system-node-critical")


class Volcano:
    """Active where the runtime has the pod group policy `volcano`."""

    name = "Volcano"
    order = 800

    def validate(self, workload: Workload) -> Iterator[FieldError]:
        """The queue has a name, and every priority class exists (defect D9: each is looked at)."""
        if _policy(workload) is None:
            return
        if workload.annotations.get(VOLCANO_QUEUE_NAME) == "":
            path = ("spec", "annotations", (VOLCANO_QUEUE_NAME,))
            yield invalid(path, "", "Volcano queue name must not be empty")
        for name in dict.fromkeys(_priority_classes(workload)):
            if name not in BUILT_IN_CLASSES and not workload.lookup.has_priority_class(name):
                detail = (
                    f'PriorityClass "{name}" doesn\'t exist: '
                    f'priorityclasses.scheduling.k8s.io "{name}" not found'
                )
                yield invalid(("spec", "templateSpec", "priorityClassName"), name, detail)

    def enforce_pod_group_policy(self, workload: Workload) -> None:
        """Annotate the gang's pods."""
        if _policy(workload) is not None:
            for role in gang(workload):
                role.pod.add_annotations({VOLCANO_GROUP_NAME: workload.name})

    def build(self, workload: Workload) -> Iterator[Json]:
        """The PodGroup."""
        policy = _policy(workload)
        if policy is None:
            return
        spec: dict[str, Any] = {
            "minMember": min_member(workload),
            "minResources": min_resources(workload),
        }
        if VOLCANO_QUEUE_NAME in workload.annotations:
            spec["queue"] = workload.annotations[VOLCANO_QUEUE_NAME]
        classes = _priority_classes(workload)
        if classes:
            spec["priorityClassName"] = classes[-1]
        if policy.network_topology is not None:
            spec["networkTopology"] = {
                "mode": policy.network_topology.mode,
                "highestTierAllowed": policy.network_topology.highest_tier_allowed,
            }
        yield {
            "apiVersion": "scheduling.volcano.sh/v1beta1",
            "kind": "PodGroup",
            "metadata": workload.owned(workload.name),
            "spec": spec,
        }


def _policy(workload: Workload) -> Any:
    groups = workload.runtime.spec.pod_group_policy
    return groups.volcano if groups else None


def _priority_classes(workload: Workload) -> list[str]:
    names = (role.pod.spec.get("priorityClassName") for role in workload.roles)
    return [name for name in names if name]
