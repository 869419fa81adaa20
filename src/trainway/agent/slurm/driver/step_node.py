"""A node of Slurm, for the one pod that a task is."""

from __future__ import annotations

import re

from trainway.agent.base import log_limit
from trainway.agent.base.log_limit import LogLimit
from trainway.agent.host.hosted_node import HostedNode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from trainway.agent.base.directory import Directory
    from trainway.agent.base.plan import Plan
    from trainway.agent.base.pod_identity import PodIdentity
    from trainway.agent.host.machine import Machine
    from trainway.agent.kubelet.node import Recorder
    from trainway.json_types import Json


_OF_SLURM = re.compile(r"(SLURM|SLURMD|SRUN|SBATCH|PMI|PMI2|PMIX)_.*")
KEPT = frozenset(
    (
        "SLURMD_NODENAME",
        "SLURM_ARRAY_JOB_ID",
        "SLURM_ARRAY_TASK_COUNT",
        "SLURM_ARRAY_TASK_ID",
        "SLURM_CLUSTER_NAME",
        "SLURM_CONF",
        "SLURM_JOB_ACCOUNT",
        "SLURM_JOB_END_TIME",
        "SLURM_JOB_ID",
        "SLURM_JOB_NAME",
        "SLURM_JOB_NODELIST",
        "SLURM_JOB_PARTITION",
        "SLURM_JOB_QOS",
        "SLURM_JOB_START_TIME",
        "SLURM_JOB_USER",
        "SLURM_RESTART_COUNT",
        "SLURM_SUBMIT_DIR",
        "SLURM_TMPDIR",
    )
)


def pod_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """What a pod sees of its task's environment: which job it is in, but not which task.

    A task is a pod, not a rank. Frameworks and MPI libraries that find themselves in a step would
    take its numbers for their own. The devices that Slurm chose stay.
    """
    return {
        name: value
        for name, value in environ.items()
        if name in KEPT or not _OF_SLURM.fullmatch(name)
    }


class StepNode(HostedNode):
    """A node whose job has a directory that other nodes write to as well."""

    def __init__(
        self,
        plan: Plan,
        directory: Directory,
        machine: Machine,
        journal: Recorder,
        token: str,
        uid: str,
    ) -> None:
        super().__init__(plan, directory, machine, journal, token)
        self._programs = machine.home.join("bin")
        self.hosts_path = f"volumes/hosts.{uid}"

    def share_logs(self, key: str) -> None:
        """Keep to this pod's share of what logs may take, since nobody sees what others write."""
        pods = sum(role.replicas * role.job.pods for role in self.plan.roles)
        limit = self.plan.log_limit // max(1, pods)
        used = log_limit.used_in(self.directory, f"{key}.")
        self._log_limit = LogLimit(limit, used, self.on_log_limit)

    def ran_out_of_memory(self, *, is_killed: bool) -> bool:  # noqa: ARG002 - its parent may end
        """As Slurm's control group of the task says, in which there is nobody else."""
        return super().ran_out_of_memory(is_killed=True)

    def control_group(self, container: Json, mark: str) -> None:
        """None: Slurm limits memory itself where the cluster is set up so, and owns its groups."""

    def gpus(self, pod: PodIdentity) -> list[str]:
        """Those that Slurm chose for the task."""
        named = self.environment(pod).get("CUDA_VISIBLE_DEVICES", "")
        return [name for name in named.split(",") if name]

    def environment(self, pod: PodIdentity) -> Mapping[str, str]:
        """As on any host, with our own programs first whatever the job says of PATH."""
        env = dict(super().environment(pod))
        words = [word for word in env.get("PATH", "").split(":") if word != self._programs]
        env["PATH"] = ":".join((self._programs, *words))
        return env
