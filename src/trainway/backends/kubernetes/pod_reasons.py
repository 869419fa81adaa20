"""Why a pod is as it is, from its status. Pure."""

from collections.abc import Mapping
from typing import Final

from trainway.agent.base.pod_status import HEALTH_CHECK_FAILED
from trainway.agent.kubelet.health.verdict import UNHEALTHY
from trainway.backends.kubernetes.usage.memory_limits import OOM_KILLED, out_of_memory
from trainway.jobset.status import find_condition
from trainway.json_types import Json

CHECK: Final = "trainway-health-check"
"""The container of ours that looks at the node before all others."""
_STARTING: Final = ("ContainerCreating", "PodInitializing")
"""Why a container waits when nothing is wrong."""
_CRASHES: Final = "CrashLoopBackOff"


def reason_of(status: Json, disruption: Json, limits: Mapping[str, int]) -> tuple[str, str]:
    """Why the pod is as it is: evicted, killed for memory, waiting for an image."""
    if sick := why_sick(status):
        return HEALTH_CHECK_FAILED, sick
    for told in (status, disruption):
        if told.get("reason"):
            return str(told["reason"]), str(told.get("message") or "")
    everywhere = (
        *(status.get("initContainerStatuses") or ()),
        *(status.get("containerStatuses") or ()),
    )
    for item in everywhere:
        waits = (item.get("state") or {}).get("waiting") or {}
        if waits.get("reason") and waits["reason"] not in _STARTING:
            is_crash = waits["reason"] == _CRASHES  # how it ended says more than the kubelet does
            return str(waits["reason"]), "" if is_crash else str(waits.get("message") or "")
        ended = (item.get("state") or {}).get("terminated") or {}
        if ended.get("reason") == OOM_KILLED:
            return OOM_KILLED, out_of_memory(limits.get(item["name"], 0))
    unscheduled = condition_of(status, "PodScheduled", "False")
    return str(unscheduled.get("reason") or ""), str(unscheduled.get("message") or "")


def why_sick(status: Json) -> str:
    """What the health check found wrong with the node of a pod; empty: nothing, or none ran."""
    for item in status.get("initContainerStatuses") or ():
        state = item.get("state") or {}
        last = item.get("lastState") or {} if "waiting" in state else state
        ended = last.get("terminated") or {}
        if item.get("name") == CHECK and ended.get("exitCode") == UNHEALTHY:
            return str(ended.get("message") or "").strip() or "it gave no reason"
    return ""


def condition_of(status: Json, kind: str, value: str) -> Json:
    """The condition that has that value; empty: there is none."""
    found = find_condition(status.get("conditions") or (), kind) or {}
    return found if found.get("status") == value else {}
