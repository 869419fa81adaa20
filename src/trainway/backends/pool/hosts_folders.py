"""Whether the hosts of a pool have the folders of volumes: each is asked, by ssh.

A pool places a job on any of its hosts, so that all of them must have them. One that does not
answer is no reason to refuse: the agent knows of it.
"""

import asyncio
import shlex
from collections.abc import Mapping, Sequence
from typing import Final

from trainway.agent.transfer.ssh_command import ssh_arguments
from trainway.backends.folders import Folder, Lack, answered, question, said
from trainway.backends.login import ssh_process
from trainway.json_types import Json

_LIMIT_S: Final = 15.0


async def hosts_folders(
    hosts: Sequence[Json], folders: Sequence[Folder], environ: Mapping[str, str]
) -> list[str]:
    """What is wrong with which folders on which hosts."""
    found = await asyncio.gather(*(_lacking(host, folders, environ) for host in hosts))
    return said({str(host["name"]): lacks for host, lacks in zip(hosts, found, strict=True)})


async def _lacking(host: Json, folders: Sequence[Folder], environ: Mapping[str, str]) -> list[Lack]:
    command = shlex.join(question(folders))
    try:
        ended = await ssh_process.run(ssh_arguments(host, command), b"", environ, _LIMIT_S)
    except OSError:
        return []
    return answered(folders, ended.out.decode(errors="replace"))
