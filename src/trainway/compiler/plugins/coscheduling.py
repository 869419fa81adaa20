"""Coscheduling: gangs by the scheduler-plugins scheduler."""

from collections.abc import Iterator
from typing import Any

from trainway.compiler.plugins.gang import gang, min_member, min_resources
from trainway.compiler.workload import Workload
from trainway.jobset.labels import COSCHEDULING_POD_GROUP
from trainway.json_types import Json


class CoScheduling:
    """Active where the runtime has the pod group policy `coscheduling`."""

    name = "CoScheduling"
    order = 700

    def enforce_pod_group_policy(self, workload: Workload) -> None:
        """Label the gang's pods."""
        if _policy(workload) is not None:
            for role in gang(workload):
                role.pod.add_labels({COSCHEDULING_POD_GROUP: workload.name})

    def build(self, workload: Workload) -> Iterator[Json]:
        """The PodGroup."""
        policy = _policy(workload)
        if policy is None:
            return
        yield {
            "apiVersion": "scheduling.x-k8s.io/v1alpha1",
            "kind": "PodGroup",
            "metadata": workload.owned(workload.name),
            "spec": {
                "minMember": min_member(workload),
                "minResources": min_resources(workload),
                "scheduleTimeoutSeconds": policy.schedule_timeout_seconds,
            },
        }


def _policy(workload: Workload) -> Any:
    groups = workload.runtime.spec.pod_group_policy
    return groups.coscheduling if groups else None
