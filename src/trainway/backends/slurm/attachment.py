"""How a command gets beside the processes of a pod on a node: by a step of the same job. Pure.

The login node runs `srun --overlap` on the node of the pod, and there a few lines of Python take
over the environment, folder and mounts of the pod, as on hosts of a pool.
"""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from trainway.agent.pool.ssh_command import shell_path
from trainway.backends.local.attachment import attachment as local_attachment
from trainway.backends.slurm.clusters import Cluster
from trainway.backends.ssh.attachment import JOIN
from trainway.errors import ConflictError

Json = dict[str, Any]

_STEP: Final = (
    "exec srun $(test -t 0 && echo --pty) --quiet --overlap --nodes=1 --ntasks=1 "
    "--cpus-per-task=1 --mem=0"
)
"""What every step beside a pod begins with; it has a terminal if its caller has one."""


def attachment(
    handle: Mapping[str, Any],
    records: Sequence[Mapping[str, Any]],
    role: str | None = None,
    rank: int | None = None,
) -> Json:
    """The pod of that role and rank, or the first one, and the command that leads to it."""
    place = local_attachment(handle, records, role, rank)
    cluster = Cluster.from_dict(handle["cluster"])
    job, node = _placed(records, place["pod"])
    if not node:
        raise ConflictError("nobody knows on which node the pod is")
    processes = place.pop("processes")
    python = shell_path(cluster.python)
    step = f"{_STEP} --jobid={job} --nodelist={shlex.quote(node)} {python}"
    remote = {
        container: f"{step} {shlex.join(['-c', JOIN, str(handle['id']), str(process)])}"
        for container, process in processes.items()
    }
    return {**place, "host": node, "program": _login(cluster), "remote": remote}


def _login(cluster: Cluster) -> list[str]:
    """What runs a line of a shell on the login node."""
    if not cluster.login:
        return ["sh", "-c"]
    identity = ["-i", cluster.identity] if cluster.identity else []
    port = ["-p", str(cluster.port)] if cluster.port else []
    return ["ssh", *cluster.ssh_options, *identity, *port, cluster.login]


def _placed(records: Iterable[Mapping[str, Any]], pod: str) -> tuple[str, str]:
    """The Slurm job and the node of a pod, as the last placement says."""
    job = node = ""
    for record in records:
        if record.get("type") == "placement":
            job = str(record.get("token") or "").partition(".")[0]
            node = str((record.get("hosts") or {}).get(pod) or "")
    return job, node
