"""A workload as the batch script that Slurm gets and the plan that the job's driver reads. Pure."""

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final

from trainway.agent.slurm.files.job_files import SCRATCH
from trainway.agent.transfer.ssh_command import shell_path
from trainway.api.timeout import timeout_of
from trainway.backends.agents import agent_plan
from trainway.backends.agents.agent_plan import AgentRequest, launcher_part, plan_of
from trainway.backends.base import ArrayPlace, Handle, Isolation, Workload, isolation_of
from trainway.backends.demand import demand_of
from trainway.backends.elastic_demand import elastic_nodes
from trainway.backends.handles import SlurmHandle
from trainway.backends.masking import is_confidential
from trainway.backends.node_sharing import launcher_works, one_per_node
from trainway.backends.pod_demand import pod_demands
from trainway.backends.slurm import images, options, script
from trainway.backends.slurm.layout import Layout, layout_of
from trainway.backends.slurm.refusals import honours
from trainway.backends.slurm.script import Sheet
from trainway.backends.slurm.section import ConfiguredCluster
from trainway.jobset.model import replicated_jobs
from trainway.json_types import Json

if TYPE_CHECKING:
    from trainway.agent.base.plan_document import Plan, SlurmPlan, StepPlan

JOBSET: Final = "JobSet"
GRACE_S: Final = 30
"""The grace period of a pod that names none."""
_MOST_NICE: Final = 2_147_483_645


@dataclass(frozen=True)
class SlurmRequest(AgentRequest):
    """One batch job."""

    script: str
    cluster: ConfiguredCluster
    tool: str = ""

    @property
    def handle(self) -> Handle:
        """Also where it went, and how Slurm knows it."""
        made: SlurmHandle = {
            **self.job_handle,
            "site": _site(self.cluster),
            "cluster": self.cluster.to_dict(),
            "outputs": self.cluster.outputs,
            "containers": self.tool,
            "mark": _mark(self.plan),
            "requeue": self.plan["slurm"]["requeue"],
        }
        return dict(made)

    def text(self) -> str:
        """The script, which holds nothing of Secrets: they stand in the plan."""
        return self.script


def plan(
    workload: Workload,
    cluster: ConfiguredCluster,
    jobs: PurePath,
    tool: str = "",
    avoided: Collection[str] = (),
) -> SlurmRequest:
    """What is sent for a workload; `tool` runs images there, and `avoided` nodes are left alone."""
    source = workload.source or workload.jobset
    said, _ = options.of_job(source, workload.jobset)
    chosen = options.keeping_off(options.merged(cluster.batch_options(), said), avoided)
    layout = layout_of(
        workload.jobset,
        one_per_node=spreads(source, workload.jobset, chosen),
        gpu_names=cluster.gpu_types,
        launcher_works=launcher_works(workload.jobset, workload.objects),
    )
    is_contained = isolation_of(workload.jobset) is Isolation.CONTAINER
    elastic = elastic_nodes(workload.jobset["spec"])
    place = None if layout.is_heterogeneous else workload.place  # Slurm has no arrays of such jobs
    sheet = Sheet(
        **_identity(workload, cluster, place),
        layout=layout,
        options=chosen,
        env={name: text for name, text in cluster.env.items() if not is_confidential(name)},
        grace=grace_of(workload.jobset),
        deadline=deadline_of(workload.jobset, source),
        nice=min(max(-workload.priority, 0), _MOST_NICE),
        hold=bool(workload.jobset["spec"].get("suspend")),
        python=shell_path(cluster.python),
        scratch="" if cluster.shared else SCRATCH,
        images=images.within(workload.jobset, tool) if is_contained else {},
        least=elastic.least if elastic else 0,
    )
    made = _driver_plan(workload, cluster, sheet, tool)
    if place is not None:
        made["slurm"]["array"] = asdict(place)
    return SlurmRequest(dict(made), jobs / workload.id, script.text(sheet), cluster, tool)


def spreads(source: Mapping[str, Any], jobset: Mapping[str, Any], chosen: options.Options) -> bool:
    """Whether each pod gets a node; of a JobSet whoever passes `nodes` to sbatch decides."""
    is_said = source.get("kind") == JOBSET and chosen.keys() & set(options.NODES)
    return not is_said and one_per_node(source, jobset, sharing=(JOBSET,))


def _identity(workload: Workload, cluster: ConfiguredCluster, place: ArrayPlace | None) -> Json:
    """What is different in the script of each job, and the same in that of all of an array."""
    if place is None:
        directory = cluster.directory(workload.id)
        return {"id": workload.id, "name": workload.name, "directory": directory}
    return {
        "id": place.id,
        "name": workload.name.removesuffix(f"-{place.rank}"),
        "directory": cluster.array_directory(place.id),
        "count": place.count,
    }


def grace_of(jobset: Mapping[str, Any]) -> int:
    """The longest time that a pod has to end."""
    jobs = replicated_jobs(jobset["spec"])
    named = [job.pod.spec.get("terminationGracePeriodSeconds") for job in jobs]
    return max((GRACE_S if seconds is None else int(seconds) for seconds in named), default=GRACE_S)


def deadline_of(jobset: Mapping[str, Any], source: Mapping[str, Any]) -> int | None:
    """After how many seconds it is over at the latest; None: nobody knows.

    TrainJobs and MPIJobs have their own. Else those of the Jobs count, as if they ran one after the
    other and as often as the JobSet may start again.
    """
    own = source.get("spec") or {}
    if source.get("kind") in ("TrainJob", "MPIJob"):
        if source["kind"] == "MPIJob":
            own = own.get("runPolicy") or {}
        seconds = own.get("activeDeadlineSeconds")
        return None if seconds is None else int(seconds)
    if timeout_of(source) is not None:
        return timeout_of(source)
    spec = jobset["spec"]
    named = [job.job_spec.get("activeDeadlineSeconds") for job in replicated_jobs(spec)]
    known = [int(seconds) for seconds in named if seconds is not None]
    policy = spec.get("failurePolicy") or {}
    if not known or len(known) < len(named) or policy.get("rules"):
        return None
    return sum(known) * (1 + int(policy.get("maxRestarts") or 0))


def workload_of(plan: Json) -> Workload | None:
    """The workload that a plan was made from; None: it is not for Slurm."""
    if "slurm" not in plan:
        return None
    told = plan["slurm"]
    spec = {**plan["jobset"]["spec"], **({"suspend": True} if told["hold"] else {})}
    return replace(
        agent_plan.workload_of(plan),
        jobset={**plan["jobset"], "spec": spec},
        demand=demand_of(spec),
        priority=plan["priority"],
        handle={
            "site": told["site"],
            "cluster": told["login"],
            "outputs": plan["outputs"],
            "containers": told["containers"],
        },
        place=ArrayPlace(**told["array"]) if told.get("array") else None,
    )


def _driver_plan(workload: Workload, cluster: ConfiguredCluster, sheet: Sheet, tool: str) -> "Plan":
    told: SlurmPlan = {
        "cluster": cluster.name,
        "site": _site(cluster),
        "login": cluster.to_dict(),
        "containers": tool,
        "grace": sheet.grace,
        "requeue": "no-requeue" not in sheet.options,
        "hold": sheet.hold,
        "roles": _roles(sheet.layout),
    }
    annex = script.annex_options(sheet)
    if annex:
        told["annex"] = annex
    if sheet.scratch:
        told |= {"shared": False, "scratch": sheet.scratch}
    made = plan_of(workload)
    return {
        **made,
        "jobset": _begun(made["jobset"]),
        "priority": workload.priority,
        "demand": pod_demands(workload.jobset),
        "env": {name: text for name, text in cluster.env.items() if is_confidential(name)},
        "honours": honours(workload.jobset),
        "outputs": cluster.outputs,
        "slurm": told,
        **launcher_part(workload),
    }


def _begun(jobset: Json) -> Json:
    """The JobSet as the driver gets it: Slurm holds one that is suspended, nobody else."""
    spec = {name: value for name, value in jobset["spec"].items() if name != "suspend"}
    return {**jobset, "spec": spec}


def _roles(layout: Layout) -> "dict[str, StepPlan]":
    return {
        step.role: {
            "group": step.part if layout.is_heterogeneous else None,
            "nodes": step.pods if layout.one_per_node and not step.sits_beside else None,
            "overlap": step.sits_beside,
        }
        for step in layout.steps
    }


def _mark(plan: Json) -> str:
    """How the job is known in Slurm's queue: by its comment, and in an array by its rank too."""
    array = plan["slurm"].get("array")
    return f"trainway:{array['id']} and _{array['rank']}" if array else f"trainway:{plan['id']}"


def _site(cluster: ConfiguredCluster) -> str:
    return f"{cluster.name}/{cluster.partition}" if cluster.partition else cluster.name


def why_stays(handle: Handle) -> str:
    """Why a job cannot go on elsewhere; empty: it can."""
    if handle.get("outputs") == "keep":
        return "its output stays on the cluster (outputs: keep)"
    if not handle.get("requeue", True):
        return "Slurm must not requeue it (--slurm no-requeue), so it cannot be suspended there"
    return ""


def remains(handle: Handle) -> str:
    """What a cluster that does not answer may still have of a job, and how that is removed."""
    cluster = ConfiguredCluster.from_dict(handle["cluster"])
    return (
        "Slurm may still have it; on the login node: squeue --me --array -o '%i %k' shows it with "
        f"{handle['mark']}, scancel ends it, and {cluster.home}/jobs/{handle['id']} is its "
        "directory"
    )
