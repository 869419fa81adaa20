"""The plan of a job as agents get it: what is the same in it wherever the agent is. Pure.

An agent of this machine, of a pool and in an allocation of Slurm carry out the same plan; each
backend adds what only its own agents must know.
"""

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from trainway.agent.base.plan import VERSION
from trainway.api.packages import packages_of
from trainway.backends.agents.initializers import as_processes
from trainway.backends.base import Handle, Workload, as_json
from trainway.backends.demand import demand_of
from trainway.backends.handles import JobHandle
from trainway.backends.masking import MASK, masked_object
from trainway.compiler.restarts import INITIALIZERS
from trainway.compiler.workload import LAUNCHER
from trainway.jobset.model import replicated_jobs
from trainway.json_types import Json

if TYPE_CHECKING:
    from trainway.agent.base.plan_document import LauncherPart, Plan

_SSH_AUTH: Final = "kubernetes.io/ssh-auth"


@dataclass(frozen=True)
class AgentRequest:
    """One job for an agent."""

    plan: Json
    directory: PurePath

    @property
    def handle(self) -> Handle:
        """How the job is found again, whatever becomes of the configuration."""
        return dict(self.job_handle)

    @property
    def job_handle(self) -> JobHandle:
        """The part of the handle that jobs of all agents have."""
        port = self.plan["network"]["port"]
        return {"id": self.plan["id"], "directory": str(self.directory), "port": port}

    def text(self) -> str:
        """The plan, without the values of Secrets and of the environment."""
        return shown(self.plan, lambda _: True)


def shown(plan: Json, is_hidden: Callable[[str], bool]) -> str:
    """The text of a plan, without the values of Secrets and of hidden variables."""
    made = copy.deepcopy(plan)
    made["objects"] = [masked_object(obj) for obj in made["objects"]]
    made["env"] = {name: MASK if is_hidden(name) else value for name, value in made["env"].items()}
    return as_json(made)


def plan_of(workload: Workload, python: Sequence[str] = ()) -> "Plan":
    """What every agent is told of a workload; `python` starts one that has Trainway installed."""
    workload = as_processes(workload, python)
    made: Plan = {
        "version": VERSION,
        "id": workload.id,
        "name": workload.name,
        "namespace": workload.namespace,
        "jobset": workload.jobset,
        "objects": workload.objects,
        "workdir": workload.workdir,
        "mounts": "namespace",
        "network": {"port": workload.port},
        "status": {"path": status_path(workload)},
    }
    lines = packages_of(workload.jobset)
    if lines:
        made["environment"] = {"requirements": "\n".join(lines), "without": list(INITIALIZERS)}
    return made


def workload_of(plan: Json) -> Workload:
    """The workload that a plan was made from, as far as every plan tells."""
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
    )


def status_path(workload: Workload) -> str:
    """Where on the server of its agent a job reports its progress."""
    resource = f"namespaces/{workload.namespace}/trainjobs/{workload.name}/status"
    return f"/apis/trainer.kubeflow.org/v1alpha1/{resource}"


def launcher_part(workload: Workload) -> "LauncherPart":
    """What a plan says of the Secret by which a launcher gets to its workers; often nothing."""
    if LAUNCHER not in [job.name for job in replicated_jobs(workload.jobset["spec"])]:
        return {}
    named = (
        str(obj["metadata"]["name"])
        for obj in workload.objects
        if obj.get("kind") == "Secret" and obj.get("type") == _SSH_AUTH
    )
    name = next(named, "")
    return {"mpi": {"secret": name}} if name else {}
