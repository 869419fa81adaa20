"""What to do about a job that failed: the table of docs/failed.md, for `jobs show`. Pure."""

from collections.abc import Mapping
from typing import Final

from trainway.json_types import Json

_BY_EXIT_CODE: Final[Mapping[int, str]] = {
    126: "the program is not executable: check its permissions and its first line",
    127: "a program was not found: check the command and its PATH",
    **dict.fromkeys(
        (132, 135, 139),  # SIGILL, SIGBUS, SIGSEGV
        "native code crashed: run it again with --env PYTHONFAULTHANDLER=1, which says where",
    ),
}
_BY_CAUSE: Final[Mapping[str, str]] = {
    "OutOfMemory": "ask for more with --memory, or use smaller batches",
    "Timeout": "give it more time with --timeout, or let it go on from a checkpoint",
    "Budget": "give it a larger budget: trainway budgets shows what is spent",
    "Refused": "change what its message names, and submit it again",
    "Preempted": "trainway jobs rerun {name}; without --recovery-strategy none it starts again",
    "NodeLost": "it was not the program: trainway jobs rerun {name}",
    "AgentLost": "it was not the program, unless that took all memory: trainway jobs rerun {name}",
}


def advice_for(name: str, status: Json) -> str:
    """A hint for a job that failed; empty for all others, and where nothing is known."""
    cause, failure = status.get("cause") or "", status.get("failure") or {}
    if cause == "ExitCode" and failure:
        return _BY_EXIT_CODE.get(failure.get("exitCode") or 0) or _logs(name, failure)
    if cause == "Hang" and failure:
        return f"trainway jobs stacks {name} --attempt {failure['attempt'] + 1} shows where it was"
    return _BY_CAUSE.get(cause, "").format(name=name)


def _logs(name: str, failure: Json) -> str:
    """The command that prints what the node wrote that failed first."""
    attempts = " --all-attempts" if failure["attempt"] else ""
    where = f"--role {failure['role']} --rank {failure['rank']}"
    return f"trainway jobs logs {name} {where} --tail 50{attempts} shows what it wrote"
