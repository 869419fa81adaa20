"""The plan of a job as it is carried out on this host."""

from __future__ import annotations

import os

from trainway.agent.base.plan import Plan
from trainway.agent.kubelet.host_names import NameMap, mentions_pods
from trainway.agent.transfer.blobs import resolved

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from trainway.agent.base.directory import Directory
    from trainway.agent.host.machine import Machine
    from trainway.json_types import Json


STATUS_FILES = {
    "certificate": "status/tls.crt",
    "key": "status/tls.key",
    "token": "status/token",
}


class HostedPlan(Plan):
    """A plan with what only this host knows."""

    names_replaced = False


def hosted_plan(
    data: Json,
    directory: Directory,
    machine: Machine,
    addresses: Mapping[str, str],
    own: str,
) -> HostedPlan:
    """The plan with the host's environment, directories and address."""
    changed = dict(data)
    changed["objects"] = resolved(data.get("objects") or [], directory)
    changed["env"] = {**machine.environment, **(data.get("env") or {})}
    changed["workdir"] = _workdir(str(data.get("workdir") or ""), directory)
    changed["host"] = {"name": os.uname().nodename, "ip": own or "127.0.0.1"}
    status: Json = data.get("status") or {}
    changed["status"] = {"port": 0, "path": status["path"], **STATUS_FILES} if status else {}
    plan = HostedPlan(changed)
    mounts = machine.can_mount and plan.mounts == "namespace" and not plan.containers
    # A launcher of MPI finds its workers by their names, in a file of ours.
    if mounts or plan.mpi or not addresses or not mentions_pods(plan):
        return plan
    plan = HostedPlan(NameMap(plan, addresses).plan(changed))
    plan.names_replaced = True
    return plan


def _workdir(wanted: str, directory: Directory) -> str:
    """The submitter's directory where it exists here too, else one of the job's own."""
    if wanted.strip("/") and os.path.isdir(wanted) and os.access(wanted, os.R_OK | os.X_OK):
        return wanted
    directory.make("work")
    return directory.join("work")
