"""Gang scheduling of an MPIJob: its pods are placed together or not at all.

MPI Operator has it as a flag: the name `volcano`, or that of a scheduler that runs the coscheduling
plugin. It gives the job a PodGroup, and each pod that scheduler and the mark of its group.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from trainway.api.mpijob import SchedulingPolicy
from trainway.jobset.labels import COSCHEDULING_POD_GROUP, VOLCANO_GROUP_NAME
from trainway.jobset.model import PodTemplate
from trainway.jobset.quantity import ZERO, Quantity
from trainway.jobset.requests import pod_requests
from trainway.json_types import Json

VOLCANO: Final = "volcano"


@dataclass(frozen=True, slots=True)
class Members:
    """Pods of one role that are in the gang."""

    pods: int
    spec: Json
    """The pod spec they share."""

    @property
    def priority_class(self) -> str:
        """The name of their PriorityClass; empty: none."""
        return str(self.spec.get("priorityClassName") or "")


@dataclass(frozen=True)
class GangScheduling:
    """The scheduler that places gangs, and what is known of the cluster's priorities."""

    scheduler: str
    priority_classes: Mapping[str, int] = field(default_factory=dict)
    """The value of each PriorityClass; one that is not there counts as 0."""

    @property
    def is_volcano(self) -> bool:
        """Whether gangs are Volcano's; otherwise they are the coscheduling plugin's."""
        return self.scheduler == VOLCANO

    def mark(self, pod: PodTemplate, group: str) -> None:
        """Give the pod to the scheduler as a member of the group."""
        pod.spec["schedulerName"] = self.scheduler
        if self.is_volcano:
            pod.add_annotations({VOLCANO_GROUP_NAME: group})
        else:
            pod.add_labels({COSCHEDULING_POD_GROUP: group})

    def pod_group(
        self,
        metadata: Json,
        policy: SchedulingPolicy,
        gang: Sequence[Members],
        *,
        queue: str,
        priority_class: str,
    ) -> Json:
        """Make the PodGroup. `queue` and `priority_class` are for a policy that names none."""
        spec = self._minimum(policy, gang)
        if self.is_volcano:
            version = "scheduling.volcano.sh/v1beta1"
            named = {
                "queue": policy.queue or queue,
                "priorityClassName": policy.priority_class or priority_class,
            }
            spec |= {key: value for key, value in named.items() if value}
        else:
            version = "scheduling.x-k8s.io/v1alpha1"
            spec["scheduleTimeoutSeconds"] = policy.schedule_timeout_seconds or 0
        return {"apiVersion": version, "kind": "PodGroup", "metadata": metadata, "spec": spec}

    def _minimum(self, policy: SchedulingPolicy, gang: Sequence[Members]) -> Json:
        wanted = policy.min_available
        if wanted is None:
            wanted = sum(members.pods for members in gang)
        if policy.min_resources is not None:
            resources: Mapping[str, Any] = policy.min_resources
        else:
            resources = self._requests_of_first(wanted, gang)
        return {"minMember": wanted} | ({"minResources": dict(resources)} if resources else {})

    def _requests_of_first(self, wanted: int, gang: Sequence[Members]) -> dict[str, str]:
        """Sum up the requests of that many pods, those with the highest priority first.

        Upstream means the same, but counts too many launchers when workers have the higher one.
        """
        total: dict[str, Quantity] = {}
        for members in sorted(gang, key=self._priority, reverse=True):
            pods = max(min(members.pods, wanted), 0)
            wanted -= pods
            for name, quantity in pod_requests(members.spec).items() if pods else ():
                total[name] = total.get(name, ZERO) + quantity * pods
        return {name: str(quantity) for name, quantity in sorted(total.items())}

    def _priority(self, members: Members) -> int:
        return self.priority_classes.get(members.priority_class, 0)
