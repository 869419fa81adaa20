"""The nodes of an allocation that a cluster holds, as hosts of its pool. Pure.

On each runs a host agent, a task of the batch job itself. It is reached through the login node, by
a small step beside it, and so is a pod by the pods of other nodes. Slurm says when a node is lost:
one that is only silent keeps what it has.
"""

from __future__ import annotations

from trainway.agent.slurm.relay.login import (
    STEP,
    exports,
    person_arguments,
    shell_arguments,
    shell_words,
)
from trainway.agent.slurm.srun import join_command
from trainway.agent.transfer.ssh_command import shell_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from trainway.json_types import Json


NODES = "nodes"
"""The folder of the job's directory in which each host agent has its own."""


def host_name(cluster: str, node: str) -> str:
    """What the pool calls a node: two clusters may have shares of the same one."""
    return f"{node}@{cluster}"


def host_of(name: str, held: Json, node: str, amounts: Mapping[str, Any]) -> Json:
    """A node as a host; `held` is what is known of the allocation of the cluster `name`."""
    cluster: Json = held["cluster"]
    job, directory = str(held["job"]), str(held["directory"])
    home = f"{directory}/{NODES}/{node}"
    beside = step(job, node)
    python = shell_path(str(cluster.get("python") or "python3"))
    agent = shell_words((f"{directory}/agent.pyz", "host", "attach", "--home", home))
    line = f"{exports(cluster.get('env') or {})}exec {shell_words(beside)} {python} {agent}"
    person = f"{exports(cluster.get('env') or {})}{STEP} --jobid={job} --nodelist={node}"
    gpus = -int(-float(amounts.get("gpus") or 0) // 1)
    return {
        "name": host_name(name, node),
        "command": shell_arguments(cluster, line),
        "lasting": True,
        "program": person_arguments(cluster),
        "step": person,
        "python": cluster.get("python") or "",
        "by_hand": shell_words((*step(job, node), "true")),
        "join": {"step": beside, "home": home},
        "env": dict(held.get("env") or {}),
        "cpus": amounts.get("cpus") or None,
        "memory": amounts.get("memory") or None,
        "gpus": gpus,
    }


def step(job: str, node: str) -> list[str]:
    """The words of srun that run something on a node of a job, beside what it does there."""
    program, *options = join_command(node, None, ())
    return [program, f"--jobid={job}", *options]
