"""`slurm annex JOBDIR TOKEN`: be the batch script of a node that an elastic job got later.

Slurm cannot make an allocation larger, so a job that has room to grow gets a second one, of one
node. This script only holds it: it writes down where it is, for the driver, which starts a pod
there as a step. It goes when the driver wants it no more, has left, or has not been heard for a
minute, and when another attempt of the job counts: so nothing is held for a job that is gone.
A signal does not end it, or the pod would have no grace period where Slurm takes the node away.
"""

from __future__ import annotations

import os
import signal
import time

from trainway.agent.slurm.fencing import HEARTBEAT, LEFT, TOKEN, Token
from trainway.agent.slurm.files.job_files import ANNEXES
from trainway.agent.slurm.srun import NODE_VARIABLE
from trainway.agent.transfer.job_place import opened

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from trainway.agent.base.directory import Directory

NODE = ".node"
"""What the name of the file ends with that says where an annex is."""
LOOK_SECONDS = 1.0
SILENT_SECONDS = 60.0
EXIT_USAGE = 2
ARGUMENTS = 2


def main(arguments: Sequence[str]) -> int:
    """Hold the node for as long as it is wanted; the exit status."""
    if len(arguments) != ARGUMENTS:
        os.write(2, b"usage: slurm annex JOBDIR TOKEN\n")
        return EXIT_USAGE
    path, token = arguments
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    try:
        why = hold(opened(path), Token.parse(token), os.environ)
    except OSError as error:
        why = f"the directory of the job is not there any more: {error}"
    os.write(2, f"this node is given back: {why}\n".encode())
    return 0


def hold(
    directory: Directory,
    token: Token,
    environ: Mapping[str, str],
    sleep: Callable[[float], None] = time.sleep,
    now: Callable[[], float] = time.monotonic,
) -> str:
    """Say where this is, and stay; why it is over."""
    name = f"{ANNEXES}/{environ.get('SLURM_JOB_ID', '')}{NODE}"
    why = over(directory, token)
    if why:
        return why
    directory.replace(name, environ.get(NODE_VARIABLE, "").encode())
    heard, since = _heartbeat(directory), now()
    while not why:
        sleep(LOOK_SECONDS)
        last = _heartbeat(directory)
        if last != heard:
            heard, since = last, now()
        if now() - since > SILENT_SECONDS:
            why = "the driver of the job is not heard any more"
        elif not os.path.exists(directory.join(name)):
            why = "the job does not need it any more"
        else:
            why = over(directory, token)
    directory.remove(name)
    return why


def over(directory: Directory, token: Token) -> str:
    """Why the attempt that asked for an annex needs it no more; empty: it does."""
    if _read(directory, TOKEN) != token:
        return "another attempt of the job counts"
    if _read(directory, LEFT) == token:
        return "the attempt of the job is over"
    return ""


def _read(directory: Directory, name: str) -> Token:
    try:
        return Token.parse(directory.read(name).decode("ascii", "replace"))
    except FileNotFoundError:
        return Token()


def _heartbeat(directory: Directory) -> float:
    try:
        return os.stat(HEARTBEAT, dir_fd=directory.fd).st_mtime
    except OSError:
        return 0.0
