"""Whether the hosts of a pool can mount buckets: each is asked, by ssh, before a job is accepted.

A pool places a job on any of its hosts, so that all of them must be able to. One that does not
answer is no reason to refuse: the agent knows of it.
"""

import asyncio
import shlex
from collections.abc import Mapping, Sequence
from typing import Final

from trainway.agent.transfer.ssh_command import ssh_arguments
from trainway.backends.bucket_mounts import QUESTION, REMEDY
from trainway.backends.login import ssh_process
from trainway.json_types import Json

_LIMIT_S: Final = 15.0
_MARK: Final = "trainway: "
"""What our lines begin with; a host may greet us first."""


async def hosts_lacking(hosts: Sequence[Json], environ: Mapping[str, str]) -> str:
    """What is missing on which hosts; empty: nothing that anybody knows of."""
    found = await asyncio.gather(*(_lacking(host, environ) for host in hosts))
    return lacking_words([str(host["name"]) for host in hosts], found)


def lacking_words(names: Sequence[str], found: Sequence[Sequence[str]]) -> str:
    """One sentence of what each host lacks."""
    told: dict[str, list[str]] = {}
    for name, missing in zip(names, found, strict=True):
        for each in missing:
            told.setdefault(each, []).append(name)
    if not told:
        return ""
    parts = [f"{each} on {', '.join(hosts)}" for each, hosts in told.items()]
    return f"{'; '.join(parts)}; {REMEDY}"


async def _lacking(host: Json, environ: Mapping[str, str]) -> list[str]:
    question = f"sh -c {shlex.quote(QUESTION)} | sed 's/^/{_MARK}/'"
    try:
        ended = await ssh_process.run(ssh_arguments(host, question), b"", environ, _LIMIT_S)
    except OSError:
        return []
    lines = ended.out.decode(errors="replace").splitlines()
    return [line.removeprefix(_MARK) for line in lines if line.startswith(_MARK)]
