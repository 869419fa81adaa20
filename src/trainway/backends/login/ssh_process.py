"""ssh as a process that is given something to read, and that has to end in time.

It runs as that of an agent does: from the root of the file system, and with nobody to ask.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

PROGRAM: Final = "ssh"


@dataclass(frozen=True)
class Ended:
    """How it ended, and what it left."""

    status: int | None
    """The exit status; None: it had to be ended."""
    out: bytes = b""
    said: bytes = b""
    """What it, or the host, complained of."""


async def run(
    words: Sequence[str], data: bytes, environ: Mapping[str, str], limit_s: float
) -> Ended:
    """Run it to its end; OSError where it cannot be started."""
    process = await asyncio.create_subprocess_exec(
        *words,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=environ,
        cwd="/",
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(limit_s):
            out, said = await process.communicate(data)
    except TimeoutError:
        process.kill()
        await process.wait()
        return Ended(None)
    return Ended(process.returncode, out, said)
