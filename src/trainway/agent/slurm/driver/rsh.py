"""`trainway-srun`: what an MPI launcher calls in the place of `ssh` to run a command in a pod.

    trainway-srun [options of ssh] POD COMMAND...

On this node the command joins the pod directly, else a small step of the same allocation does it
there. Neither keys nor sshd have a part in it.
"""

from __future__ import annotations

import os
import shlex

from trainway.agent.base.directory import Directory
from trainway.agent.host.rsh import EXECUTABLE, EXIT_ERROR, Call, RshError, find_pod
from trainway.agent.slurm.driver.join import join
from trainway.agent.slurm.driver.peers import read_peers
from trainway.agent.slurm.srun import NODE_VARIABLE, join_command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

NAME = "trainway-srun"


def install(home: Directory, program: Sequence[str], job_directory: str) -> None:
    """Write the command into `bin` of a pod's home; `program` runs an agent."""
    words = [*program, "slurm", "rsh", job_directory]
    text = "#!/bin/sh\nexec " + " ".join(shlex.quote(word) for word in words) + ' "$@"\n'
    home.make("bin")
    home.write(f"bin/{NAME}", text.encode("utf-8", "surrogateescape"), EXECUTABLE)


def main(arguments: Sequence[str]) -> int:
    """Run `slurm rsh JOBDIR ...`; the exit status is that of the command."""
    path, *words = arguments
    try:
        call = Call(words)
        directory = Directory(path)
        found = read_peers(directory)
        pod = find_pod(call.host, str(found["jobset"]), found["pods"])
    except (RshError, OSError, ValueError) as error:
        os.write(2, f"{NAME}: {error}\n".encode("utf-8", "surrogateescape"))
        return EXIT_ERROR
    peer = found["pods"][pod]
    if peer["host"] == os.environ.get(NODE_VARIABLE):
        return join(directory, pod, call.command)
    program = [*found["agent"], "slurm", "join", path, pod, call.command]
    line = join_command(str(peer["host"]), peer.get("group"), program)
    kept = {key: text for key, text in os.environ.items() if not key.startswith("SLURM_")}
    try:
        os.execvpe(line[0], line, {**kept, **found["environment"]})  # noqa: S606 - Slurm's own
    except OSError as error:
        os.write(2, f"{NAME}: {line[0]}: {error.strerror}\n".encode())
        return EXIT_ERROR
