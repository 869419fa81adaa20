"""A workload as the plan that a pool agent carries out. Pure: nothing is touched.

It is the plan of a job on this machine without what only a host knows: the pool agent says which
host a pod is on, and the host which devices, which address and which environment it has.
"""

import copy
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Final

from trainway.backends.base import Handle, Workload, as_json
from trainway.backends.demand import demand_of
from trainway.backends.local.planning import VERSION, status_path
from trainway.backends.masking import MASK, masked_object
from trainway.backends.pod_demand import pod_demands
from trainway.backends.ssh.sites import Site

Json = dict[str, Any]

_LAUNCHER: Final = "launcher"
_SSH_AUTH: Final = "kubernetes.io/ssh-auth"


@dataclass(frozen=True)
class PoolRequest:
    """One job for a pool agent."""

    plan: Json
    directory: PurePath
    site: Site

    @property
    def handle(self) -> Handle:
        """How the job is found again, whatever becomes of the configuration."""
        return {
            "id": self.plan["id"],
            "port": self.plan["network"]["port"],
            "directory": str(self.directory),
            "site": self.site.name,
            "pool": self.site.pool,
            "queue": self.site.queue,
            "outputs": self.site.outputs,
        }

    def text(self) -> str:
        """The plan, without the values of Secrets and of the environment."""
        shown = copy.deepcopy(self.plan)
        shown["objects"] = [masked_object(obj) for obj in shown["objects"]]
        shown["env"] = dict.fromkeys(shown["env"], MASK)
        return as_json(shown)


def site_of(handle: Handle) -> Site:
    """The site that a job was given to."""
    names = ("pool", "queue", "outputs")
    return Site(str(handle["site"]), **{name: str(handle[name]) for name in names})


def workload_of(plan: Json) -> Workload | None:
    """The workload that a plan was made from; None: it is not for a pool as a whole."""
    if "pool" not in plan or plan["queue"]:
        return None
    site = Site(plan["pool"], plan["pool"], outputs=plan["outputs"])
    request = PoolRequest(plan, PurePath(), site)
    return Workload(
        id=plan["id"],
        name=plan["name"],
        namespace=plan["namespace"],
        jobset=plan["jobset"],
        objects=plan["objects"],
        workdir=plan["workdir"],
        environ={},
        port=plan["network"]["port"],
        demand=demand_of(plan["jobset"]["spec"]),
        priority=plan["priority"],
        oversubscribe=plan["oversubscribe"],
        handle=request.handle,
    )


def plan(workload: Workload, site: Site, jobs: PurePath, environ: dict[str, str]) -> PoolRequest:
    """What the pool agent will be told; `environ` is what every process of the job has."""
    made: Json = {
        "version": VERSION,
        "id": workload.id,
        "name": workload.name,
        "namespace": workload.namespace,
        "pool": site.pool,
        "queue": site.queue,
        "priority": workload.priority,
        "oversubscribe": workload.oversubscribe,
        "demand": pod_demands(workload.jobset),
        "jobset": workload.jobset,
        "objects": workload.objects,
        "workdir": workload.workdir,
        "env": environ,
        "mounts": "namespace",
        "network": {"port": workload.port},
        "status": {"path": status_path(workload)},
        "outputs": site.outputs,
        "bring": [],
    }
    keys = _launcher_keys(workload)
    if keys:
        made["mpi"] = {"secret": keys}
    return PoolRequest(made, jobs / workload.id, site)


def _launcher_keys(workload: Workload) -> str:
    """The Secret by which a launcher gets to its workers; empty where there is no launcher."""
    roles = [role["name"] for role in workload.jobset["spec"].get("replicatedJobs") or ()]
    if _LAUNCHER not in roles:
        return ""
    found = (
        str(obj["metadata"]["name"])
        for obj in workload.objects
        if obj.get("kind") == "Secret" and obj.get("type") == _SSH_AUTH
    )
    return next(found, "")
