"""Why Slurm began a job anew, as those wrote it down who saw it.

Slurm does not tell an attempt what ended the one before: its job just runs again. A driver whose
nodes are taken while all of them are well writes down that it was preempted; the relay does so of a
driver that somebody killed. Where nobody wrote anything, a node was lost with all that ran there.
"""

from __future__ import annotations

import re

from trainway.agent.slurm.fencing import Token
from trainway.agent.supervisor.recovery import AGENT_LOST, ALLOCATION_LOST

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainway.agent.base.directory import Directory
    from trainway.agent.slurm.fencing import DriverLease

PREEMPTED = "Preempted"
_FILES = {PREEMPTED: "preempted", AGENT_LOST: "driver-lost"}
"""Each has the token of the attempt that ended so."""
_WORDS = {
    PREEMPTED: "Slurm took its nodes for another job, or was told to begin it anew",
    AGENT_LOST: "the process that ran it in the allocation was killed",
    ALLOCATION_LOST: "Slurm started the job again",
}
_STATE = re.compile(r"\bState=(\S+)")
_SICK = ("DOWN", "FAIL", "NOT_RESPONDING", "POWER", "*")


def note_end(directory: Directory, reason: str, token: Token) -> None:
    """Write down what ended an attempt."""
    directory.replace(_FILES[reason], str(token).encode(), durable=True)


def begun_anew(lease: DriverLease) -> tuple[str, str]:
    """The reason for which the attempt before this one ended, and a sentence."""
    found = (reason for reason in _FILES if _is_noted(lease, reason))
    reason = next(found, ALLOCATION_LOST)
    return reason, f"{_WORDS[reason]}: this is attempt {lease.token}"


def _is_noted(lease: DriverLease, reason: str) -> bool:
    try:
        text = lease.directory.read(_FILES[reason]).decode("ascii", "replace")
    except OSError:
        return False
    return lease.previous != Token() and Token.parse(text) == lease.previous


def are_well(nodes: str, count: int) -> bool:
    """Whether Slurm has all of its nodes, by what `scontrol --oneliner show node` prints."""
    states = _STATE.findall(nodes)
    return len(states) == count and not any(sign in state for state in states for sign in _SICK)
