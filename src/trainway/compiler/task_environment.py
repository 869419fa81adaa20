"""The variables that a node of a task starts with: the task's own, and SkyPilot's.

What only the node itself knows, `task_script` completes; it also makes the `TRAINWAY_*` twins.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from trainway.api.task.task import Task
from trainway.api.task.task_file import PARALLEL
from trainway.api.task.task_object import TaskJob
from trainway.compiler.host_list import host_indexes
from trainway.compiler.network import Network
from trainway.compiler.task_group import address_variables
from trainway.compiler.task_script import JOB
from trainway.jobset.labels import COMPLETION_INDEX, JOBSET_UID
from trainway.jobset.literal_text import literal
from trainway.json_types import Json

_INDEX: Final = f"metadata.annotations['{COMPLETION_INDEX}']"
_UID: Final = f"metadata.labels['{JOBSET_UID}']"


@dataclass(frozen=True)
class Node:
    """One task of a job, and where its nodes will be."""

    job: TaskJob
    roles: Sequence[str]
    index: int
    network: Network

    @property
    def task(self) -> Task:
        """The task."""
        return self.job.file.tasks[self.index]

    def addresses(self) -> str:
        """Those of all nodes, by rank, one on each line."""
        role = self.roles[self.index]
        ranks = host_indexes(role, self.task.num_nodes)
        return "\n".join(self.network.host(role, rank) for rank in ranks)

    def task_ids(self) -> list[str]:
        """Those of all tasks of the job."""
        tasks, time = self.job.file.tasks, self.job.origin.at
        if self.job.origin.cluster:
            return [f"sky-{time}_{self.job.origin.cluster}_{JOB}" for _ in tasks]
        head = f"sky-managed-{time}_{self.job.name}" if time else f"sky-managed_{self.job.name}"
        several = len(tasks) > 1
        return [
            f"{head}{f'_{role}' if several else ''}_{JOB}-{index}"
            for index, role in enumerate(self.roles)
        ]


def environment(node: Node, secrets: Mapping[str, str]) -> list[Json]:
    """The variables of a container; `secrets` are keys of the job's Secret, by variable."""
    told = {**_told(node), **_from_pod()}
    own = {
        name: {"name": name, "value": literal(value)}
        for name, value in node.task.envs.items()
        if name not in told and name not in secrets
    }
    hidden = {
        name: {
            "name": name,
            "valueFrom": {"secretKeyRef": {"name": node.job.secret_name, "key": key}},
        }
        for name, key in secrets.items()
        if name not in told
    }
    return [*own.values(), *hidden.values(), *told.values()]


def _told(node: Node) -> dict[str, Json]:
    accelerator = node.task.resources.first.accelerator
    ids = node.task_ids()
    values = {
        "SKYPILOT_NODE_IPS": node.addresses(),
        "SKYPILOT_NUM_NODES": str(node.task.num_nodes),
        "SKYPILOT_NUM_GPUS_PER_NODE": str(accelerator.devices if accelerator else 0),
        "SKYPILOT_TASK_ID": ids[node.index],
        "SKYPILOT_TASK_IDS": "\n".join(ids),
        "SKYPILOT_CLUSTER_INFO": _cluster_info(node),
        "SKYPILOT_USER": node.job.origin.by,
    }
    if node.job.file.execution == PARALLEL:
        values["SKYPILOT_JOBGROUP_NAME"] = node.job.file.name
        values |= address_variables(node.job.file, node.roles, node.network)
    return {name: {"name": name, "value": literal(value)} for name, value in values.items()}


def _cluster_info(node: Node) -> str:
    where = node.network.cloud
    name = node.job.origin.cluster or node.job.name
    info = {"cluster_name": name, "cloud": where, "region": None, "zone": None}
    return json.dumps(info)


def _from_pod() -> dict[str, Json]:
    sources = {"SKYPILOT_NODE_RANK": _INDEX, "SKYPILOT_INTERNAL_JOB_ID": _UID}
    return {
        name: {"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}}
        for name, path in sources.items()
    }
