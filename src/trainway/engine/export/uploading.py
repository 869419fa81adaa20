"""The process that uploads an output: with the job's own credentials, ended with the server.

It is a process of its own, since it may take hours, and nothing else can be ended in the middle.
"""

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_CREDENTIALS: Final = ("AWS_", "AZURE_", "GOOGLE_", "R2_")
"""How the names of variables begin that say who may write to a bucket."""
_LONGEST: Final = 1000


@dataclass(frozen=True)
class Uploaded:
    """How it went."""

    files: int = 0
    size: int = 0
    error: str = ""
    is_final: bool = False
    """Whether another attempt would end alike."""


def environment(own: Mapping[str, str], job: Mapping[str, str]) -> dict[str, str]:
    """The server's variables, and in place of its credentials those of the job's submitter."""
    given = {name: value for name, value in job.items() if name.startswith(_CREDENTIALS)}
    if not given:
        return dict(own)
    kept = {name: value for name, value in own.items() if not name.startswith(_CREDENTIALS)}
    return {**kept, **given}


async def upload(folder: Path, uri: str, variables: Mapping[str, str]) -> Uploaded:
    """Send all files of a folder; ending this ends it, and what is there already stays."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", "trainway.data.exporter", str(folder), uri),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=environment(os.environ, variables),
        cwd="/",
    )
    try:
        printed, _ = await process.communicate()
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    return answer(printed, process.returncode or 0)


def answer(printed: bytes, status: int) -> Uploaded:
    """What the process says of how it went."""
    try:
        said = json.loads(printed.splitlines()[-1])
        if "error" in said:
            return Uploaded(error=str(said["error"])[:_LONGEST], is_final=bool(said["final"]))
        return Uploaded(int(said["files"]), int(said["bytes"]))
    except (ValueError, KeyError, IndexError, TypeError):
        return Uploaded(error=f"the upload ended with {status}")
