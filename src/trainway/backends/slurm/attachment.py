"""How a command gets beside the processes of a pod on a node: by a step of the same job. Pure.

The login node runs `srun --overlap` on the node of the pod, and there a few lines of Python take
over the environment, folder and mounts of the pod, as on hosts of a pool.
"""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from trainway.agent.slurm.relay.login import STEP, exports, person_arguments
from trainway.agent.transfer.ssh_command import in_sh, shell_path
from trainway.backends.agents.attachment import JOIN
from trainway.backends.agents.attachment import attachment as local_attachment
from trainway.errors import ConflictError
from trainway.json_types import Json


def attachment(
    handle: Mapping[str, Any],
    records: Sequence[Mapping[str, Any]],
    role: str | None = None,
    rank: int | None = None,
) -> Json:
    """The pod of that role and rank, or the first one, and the command that leads to it."""
    place = local_attachment(handle, records, role, rank)
    cluster: Json = handle["cluster"]
    node, words = _placed(records, place["pod"])
    if not node:
        raise ConflictError("it is not known on which node the pod runs")
    processes = place.pop("processes")
    python = shell_path(str(cluster["python"]))
    step = f"{exports(cluster['env'])}{STEP} {shlex.join(words)} {python}"
    remote = {
        container: in_sh(f"{step} {shlex.join(['-c', JOIN, str(handle['id']), str(process)])}")
        for container, process in processes.items()
    }
    return {**place, "host": node, "program": person_arguments(cluster), "remote": remote}


def _placed(records: Iterable[Mapping[str, Any]], pod: str) -> tuple[str, list[str]]:
    """The node of a pod, and what srun is told to get there, as the last placement says."""
    placement: Mapping[str, Any] = {}
    for record in records:
        if record.get("type") == "placement":
            placement = record
    node = str((placement.get("hosts") or {}).get(pod) or "")
    job = (placement.get("jobs") or {}).get(node) or placement.get("job")
    words = [f"--jobid={job}", f"--nodelist={node}"]
    group = (placement.get("groups") or {}).get(node)
    return node, words if group is None else [*words, f"--het-group={group}"]
