"""Going on after an agent died: what its journal says, and what it left running.

Nothing of the old agent's processes is taken over: they are killed, and pods that had not ended
count as failed, with reason AgentLost. The policies of the Job and the JobSet decide what follows.
"""

from __future__ import annotations

import os
import time

from trainway.agent.base.pod_status import HEALTH_CHECK_FAILED, TERMINAL, PodStatus
from trainway.agent.kubelet import process_tree
from trainway.agent.kubelet.container_tool import ContainerTool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from trainway.agent.base.plan import Plan
    from trainway.agent.base.records import AgentRecord
    from trainway.json_types import Json


AGENT_LOST = "AgentLost"
HOST_LOST = "HostLost"
FENCED = "Fenced"
ALLOCATION_LOST = "AllocationLost"
DISRUPTIONS = (AGENT_LOST, HOST_LOST, FENCED, ALLOCATION_LOST, HEALTH_CHECK_FAILED)
"""The reasons of pods that ended through no fault of their own."""
LOST_EXIT_CODE = 137
PATIENCE = 10.0
PAUSE = 0.02
PURGE_SECONDS = 60.0
AGENT_DIED = "the agent that ran the pod died"


def begun(*, is_new: bool) -> AgentRecord:
    """The record with which this process says that it has the job now."""
    return {
        "event": "started" if is_new else "recovered",
        "pid": os.getpid(),
        "boot_id": process_tree.boot_id(),
    }


class Remembered:
    """The last that a journal says about everything."""

    def __init__(self, records: Iterable[Json]) -> None:
        self.ended = False
        self.left = False
        """Whether the last agent let go of the job in order, and none has taken it up since."""
        self.status: Json = {}
        self.suspend: bool | None = None
        self.most_nodes: int | None = None
        self.jobs: dict[str, Json] = {}
        """The states of Jobs that exist, by name."""
        self.pods: dict[str, dict[str, Json]] = {}
        """The records of the pods that the last state of their Job does not account for, by Job and
        by uid."""
        for record in records:
            self._take(record)

    def _take(self, record: Json) -> None:
        type_ = record.get("type")
        if type_ == "status":
            self.status = record.get("jobset") or {}
            self.suspend = record.get("suspend", self.suspend)
            self.most_nodes = record.get("nodes", self.most_nodes)
        elif type_ == "pod" and "job" in record:  # a pod of Kubernetes is nobody's to look after
            self.pods.setdefault(record["job"], {})[str(record.get("uid"))] = record
        elif type_ == "job":
            self._take_job(record)
        elif type_ == "agent":
            self.left = record.get("event") == "left"
        elif type_ == "end":
            self.ended = True

    def _take_job(self, record: Json) -> None:
        """A Job's state counts all pods that had ended when it was written."""
        name = record["job"]
        if record.get("gone"):
            self.jobs.pop(name, None)
            self.pods.pop(name, None)
            return
        self.jobs[name] = record.get("state") or {}
        pods = self.pods.get(name, {}).items()
        self.pods[name] = {uid: pod for uid, pod in pods if pod.get("phase") not in TERMINAL}


def _is_over(record: Json) -> bool:
    return record.get("phase") in TERMINAL and record.get("reason") != AGENT_LOST


class LostPod:
    """A pod of an agent that is no more."""

    def __init__(self, record: Json, *, indexed: bool, now: float) -> None:
        self.uid = str(record["uid"])
        self._index = int(record["slot"]) if indexed else None
        self._now = now
        self.was_over = _is_over(record)
        self.record = record if self.was_over else lost(record, AGENT_LOST, AGENT_DIED)

    def status(self) -> PodStatus:
        """How it ended, or that it was lost."""
        return PodStatus(
            self.uid,
            name=str(self.record.get("name") or self.record.get("pod") or ""),
            index=self._index,
            phase=str(self.record.get("phase")) if self.was_over else "Failed",
            deleted=bool(self.record.get("deleted")),
            exit_codes=exit_codes(self.record) if self.was_over else [],
            finished_at=self._now,
            disrupted=not self.was_over,
        )


def why_unhealthy(record: Json) -> str:
    """What the health check of a pod that ended has found wrong with its node; empty: nothing."""
    if record.get("phase") not in TERMINAL or record.get("reason") != HEALTH_CHECK_FAILED:
        return ""
    return str(record.get("message") or HEALTH_CHECK_FAILED)


def exit_codes(record: Json) -> list[tuple[str, int]]:
    """Of the containers in a pod's record that ended, main ones first."""
    containers: list[Json] = record.get("containers") or []
    ended = [item for item in containers if item.get("state") == "terminated"]
    ended.sort(key=lambda item: "kind" in item)
    return [(str(item["name"]), int(item.get("exitCode") or 0)) for item in ended]


def lost(record: Json, reason: str, message: str) -> Json:
    """The record of a pod that was taken away with what ran it."""
    containers = []
    for item in record.get("containers") or []:
        if item.get("state") == "running":
            gone = {key: value for key, value in item.items() if key not in ("pid", "ready")}
            gone.update(state="terminated", exitCode=LOST_EXIT_CODE, reason=reason)
            containers.append(gone)
        else:
            containers.append(item)
    kept = {key: value for key, value in record.items() if key not in ("seq", "time", "type")}
    kept.update(phase="Failed", ready=False, reason=reason, message=message)
    kept["containers"] = containers
    return kept


def clear_leftovers(job_id: str) -> list[int]:
    """Kill what an old agent left running; what could not be killed is given back."""
    return kill_until_gone(lambda: process_tree.marked(job_id))


def kill_until_gone(find: Callable[[], list[int]]) -> list[int]:
    """Kill what is found until there is nothing more to be found; else what is left.

    They are no children of ours, so there is nothing to wait on but /proc.
    """
    give_up = time.monotonic() + PATIENCE
    while True:
        left = find()
        if not left or time.monotonic() > give_up:
            return left
        process_tree.signal_all(left)
        time.sleep(PAUSE)


def clear_containers(plan: Plan) -> str:
    """Remove what containers an old agent left; why that failed, if it did."""
    if not plan.containers:
        return ""
    return purge(ContainerTool(plan.containers), plan.id, plan.env)


def purge(tool: ContainerTool, job_id: str, env: Mapping[str, str]) -> str:
    """Have a tool remove all containers of a job; why it could not, if so."""
    failure = _removed(tool, job_id, env)
    kill_until_gone(lambda: _with_all_below(process_tree.container_monitors(job_id)))
    return failure


def _with_all_below(pids: list[int]) -> list[int]:
    return [*pids, *process_tree.descendants(pids)] if pids else []


def _removed(tool: ContainerTool, job_id: str, env: Mapping[str, str]) -> str:
    import subprocess  # noqa: PLC0415 - slow, and hardly ever needed

    try:
        ended = subprocess.run(  # noqa: S603 - no shell, and our own words
            tool.purge(job_id),
            env=dict(env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=PURGE_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError) as error:
        return str(error)
    said: str = ended.stderr.decode("utf-8", "replace").strip()
    return (said or f"status {ended.returncode}") if ended.returncode else ""
