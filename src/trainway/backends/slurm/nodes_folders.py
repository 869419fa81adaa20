"""Whether a Slurm cluster has the folders of volumes.

The login node is asked first, since most folders are shared. What it does not have may be on the
nodes alone: one of them is asked by a short job, if one is free at once. Where none is, nothing is
refused, and the job itself will say it.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

from trainway.backends.folders import Folder, answered, question, said
from trainway.backends.slurm.probing import placing
from trainway.backends.slurm.section import ConfiguredCluster

_WAIT_S: Final = 5
"""How long the job may wait for a node."""

Ask = Callable[[list[str]], Awaitable[Mapping[str, Any]]]
"""Has the login node run a command."""


async def nodes_folders(
    cluster: ConfiguredCluster, folders: Sequence[Folder], ask: Ask
) -> list[str]:
    """What is wrong with which folders on the nodes."""
    asked = question(folders)
    answer = await ask(asked)
    wanted = [each for each, _ in answered(folders, str(answer.get("stdout") or ""))]
    if not wanted:
        return []
    answer = await ask([*_job(cluster), *question(wanted)])
    if answer.get("status") != 0:
        return []
    return said({"the nodes": answered(wanted, str(answer.get("stdout") or ""))})


def _job(cluster: ConfiguredCluster) -> list[str]:
    name = "--job-name=trainway-volumes"
    words = ["srun", "--quiet", name, "--nodes=1", "--ntasks=1", "--time=1"]
    return [*words, *placing(cluster, _WAIT_S)]
