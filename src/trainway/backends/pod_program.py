"""Asks a pod of a job where its Python processes are, or ends it, by a program that is sent there.

The program is the text of `trainway.agent.kubelet.stack_dump`. It runs beside the processes of the
pod: as a process of this machine, through ssh or a step of Slurm, or as a command in the container
of a cluster. What it answers comes from where the job could have changed it, so it is checked.
"""

import asyncio
import inspect
import json
import shlex
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from typing import Any, Final

from trainway.agent.kubelet import stack_dump
from trainway.backends.agents.attachment import JOIN
from trainway.backends.base import Backend, Handle
from trainway.backends.login.ssh_process import PROGRAM as SSH
from trainway.backends.pod_access import EndsPods
from trainway.errors import UnavailableError
from trainway.json_types import Json

_PATIENCE_S: Final = 60.0
_LARGEST: Final = 4 << 20
_ERRORS: Final = 4096
_UNATTENDED: Final = ("-T", "-n", "-o", "BatchMode=yes", "-o", "ConnectTimeout=15")
_IN_CONTAINER: Final = (
    'p=$(command -v python3 || command -v python) || { echo "there is no Python in the image" >&2; '
    'exit 127; }; exec "$p" -I -c "$0" "$@"'
)


@cache
def source() -> str:
    """The text of the program."""
    return inspect.getsource(stack_dump)


def request(place: Json, *options: str) -> list[str]:
    """The command line that runs the program at a place. Pure."""
    container = str(place["container"])
    words = ["--beside", source(), *options]
    if place.get("remote"):
        program: Sequence[str] = place["program"]
        flags = _UNATTENDED if program[0] == SSH else ()
        line = f"{place['remote'][container]} {shlex.join(words)}"
        return [program[0], *flags, *program[1:], line]
    if place.get("processes"):
        process = str(place["processes"][container])
        return [sys.executable, "-I", "-c", JOIN, str(place["job"]), process, *words]
    found = [sys.executable, "-P", "-m", "trainway.kube.attach", "exec"]
    for path in place["kubeconfig"]:
        found += ["--kubeconfig", path]
    if place["context"]:
        found += ["--context", place["context"]]
    found += ["--namespace", place["namespace"], "--pod", place["pod"], "--container", container]
    return [*found, "--", "sh", "-c", _IN_CONTAINER, source(), "0", *options]


def answer_of(output: bytes) -> Json | None:
    """What the program has printed, among what else was printed; None: nothing of it. Pure."""
    marker = stack_dump.MARKER.encode()
    lines = [line for line in output.splitlines() if line.startswith(marker)]
    if not lines:
        return None
    try:
        answer = json.loads(lines[-1][len(marker) :])
    except (ValueError, RecursionError):
        return None
    return answer if isinstance(answer, dict) else None


async def ask(place: Json, *options: str, patience_s: float = _PATIENCE_S) -> Json:
    """Run the program at a place; raises UnavailableError where that cannot be done."""
    words = request(place, *options)
    process = await asyncio.create_subprocess_exec(
        *words,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(patience_s):
            output, errors = await asyncio.gather(
                _read(process.stdout, _LARGEST), _read(process.stderr, _ERRORS)
            )
            status = await process.wait()
    except TimeoutError:
        raise UnavailableError(f"it has not answered within {patience_s:g} s") from None
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    answer = answer_of(output)
    if answer is None:
        said = errors.decode("utf-8", "replace").strip().splitlines()
        raise UnavailableError(said[-1] if said else f"the program there exited with {status}")
    return answer


async def end(backend: Backend, handle: Handle, place: Json) -> None:
    """End the pod at a place; raises UnavailableError where that cannot be done."""
    if isinstance(backend, EndsPods):
        await backend.end_pod(handle, place)
    else:
        await ask(place, "--end")


async def _read(stream: Any, limit: int) -> bytes:
    """All that comes, of which only so much is kept."""
    kept = bytearray()
    while data := await stream.read(1 << 16):
        kept += data[: limit - len(kept)]
    return bytes(kept)
