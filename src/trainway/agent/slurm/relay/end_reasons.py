"""Why a job has left Slurm's queue: a reason in one word, and a sentence. Pure."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

CANCELLED, LOST = "Cancelled", "Lost"
UNDELIVERED = "UNDELIVERED"
"""Not a state of Slurm: no file system shows the files of the job to its nodes, and they were not
sent."""
_ENDS = {
    "BOOT_FAIL": ("BootFail", "a node did not start"),
    "CANCELLED": (CANCELLED, "the job was cancelled"),
    "COMPLETED": ("NoResult", "its batch script ended without a result"),
    "DEADLINE": ("Deadline", "it could not end before its deadline"),
    "FAILED": ("BatchFailed", "its batch script failed"),
    "NODE_FAIL": ("NodeFail", "a node failed"),
    "OUT_OF_MEMORY": ("OutOfMemory", "it used more memory than it asked for"),
    "PREEMPTED": ("Preempted", "it was preempted, and must not be requeued"),
    "REVOKED": ("Revoked", "another cluster runs it"),
    "TIMEOUT": ("TimeLimit", "it ran longer than its time limit"),
    UNDELIVERED: ("FilesNotSent", "its nodes did not get its files"),
    "LOST": (LOST, "Slurm does not know the job any more, and it left no result"),
}


def reason_of(state: str) -> tuple[str, str]:
    """The reason for an end in that state, and the sentence."""
    return _ENDS.get(state, (LOST, f"it left the queue as {state}"))


def details(state: str, frame: Mapping[str, Any]) -> str:
    """What Slurm itself says of it: `job 7, FAILED, exit code 1`."""
    words = [f"job {frame['job']}"] if frame.get("job") else []
    words += [str(frame["reason"]) if state == UNDELIVERED else state]
    code, _, signal = str(frame.get("exit") or "").partition(":")
    if code not in ("", "0"):
        words.append(f"exit code {code}")
    if signal not in ("", "0"):
        words.append(f"signal {signal}")
    return ", ".join(words)
