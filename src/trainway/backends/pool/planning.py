"""A workload as the plan that a pool agent carries out. Pure: nothing is touched.

It is the plan of a job on this machine without what only a host knows: the pool agent says which
host a pod is on, and the host which devices, which address and which environment it has.
"""

from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING

from trainway.backends.agents import agent_plan
from trainway.backends.agents.agent_plan import AgentRequest, launcher_part, plan_of
from trainway.backends.base import Handle, Workload
from trainway.backends.handles import PoolHandle
from trainway.backends.node_sharing import apart
from trainway.backends.pod_demand import pod_demands
from trainway.backends.pool.site import Site
from trainway.json_types import Json

if TYPE_CHECKING:
    from trainway.agent.base.plan_document import Plan


@dataclass(frozen=True)
class PoolRequest(AgentRequest):
    """One job for a pool agent."""

    site: Site

    @property
    def handle(self) -> Handle:
        """Also where it went."""
        made: PoolHandle = {
            **self.job_handle,
            "site": self.site.name,
            "pool": self.site.pool,
            "queue": self.site.queue,
            "outputs": self.site.outputs,
        }
        return dict(made)


def site_of(handle: Handle) -> Site:
    """The site that a job was given to."""
    names = ("pool", "queue", "outputs")
    return Site(str(handle["site"]), **{name: str(handle[name]) for name in names})


def at_queue(handle: Handle, queue: str) -> Handle:
    """The handle of a job that is given to a queue of the same agent."""
    return {**handle, "site": queue, "queue": queue}


def workload_of(plan: Json) -> Workload | None:
    """The workload that a plan was made from; None: it is not for a pool as a whole."""
    if "pool" not in plan or plan["queue"]:
        return None
    site = Site(plan["pool"], plan["pool"], outputs=plan["outputs"])
    request = PoolRequest(plan, PurePath(), site)
    return replace(
        agent_plan.workload_of(plan),
        priority=plan["priority"],
        oversubscribe=plan["oversubscribe"],
        handle=request.handle,
    )


def plan(workload: Workload, site: Site, jobs: PurePath, environ: dict[str, str]) -> PoolRequest:
    """What the pool agent will be told; `environ` is what every process of the job has."""
    made: Plan = {
        **plan_of(workload),
        "pool": site.pool,
        "queue": site.queue,
        "priority": workload.priority,
        "oversubscribe": workload.oversubscribe,
        "demand": pod_demands(
            workload.jobset, apart(workload.source or {}, workload.jobset, workload.objects)
        ),
        "env": environ,
        "outputs": site.outputs,
        "bring": [],
        **launcher_part(workload),
    }
    return PoolRequest(dict(made), jobs / workload.id, site)
