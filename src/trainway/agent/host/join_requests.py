"""What passes over `join.sock`, by which a command joins a pod. For type checkers only.

One JSON object a line each way, and one command for each connection: `host join` and `slurm join`
send the request together with their standard input, output and error, and wait for the answer.
When the connection is closed, the command ends. `docs/protocols.md` is made from this module.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypedDict

    class JoinRequest(TypedDict):
        """Asks for a command to be run in a pod; a pod that is not there yet is waited for."""

        job: str
        """The id of the job."""
        pod: str
        """The key of the pod: `<role>-<job>-<pod>`."""
        command: str
        """The command, which a shell reads."""

    class JoinAnswer(TypedDict, total=False):
        """How the command ended, or why it was never started."""

        exit: int
        """The exit status of the command."""
        error: str
        """Why there is no exit status."""
