"""What squeue says, as plain data. Pure.

One question is about all jobs of the user. A job of several components (`123+0`, `123+1`) is one
job here; the tasks of an array (`123_4`) are jobs of their own.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

SEPARATOR = "\x1f"
FORMAT = SEPARATOR.join(("%i", "%A", "%T", "%r", "%P", "%Q", "%N", "%k"))
"""The format of a line: job, its bare number, state, reason, partition, priority, nodes; then the
comment, which may be anything."""
FIELDS = 8
COMMENT = "trainway:"
FINAL = frozenset(
    {
        "BOOT_FAIL",
        "CANCELLED",
        "COMPLETED",
        "DEADLINE",
        "FAILED",
        "NODE_FAIL",
        "OUT_OF_MEMORY",
        "PREEMPTED",
        "REVOKED",
        "TIMEOUT",
    }
)
UNSURE = frozenset({"BOOT_FAIL", "NODE_FAIL", "PREEMPTED", "REVOKED"})
"""The ends that Slurm may follow up by a requeue."""
WAITING = frozenset(
    {"PENDING", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "RESV_DEL_HOLD", "SPECIAL_EXIT"}
)
HELD = frozenset({"JobHeldUser", "job_requeued_in_held_state"})
_ID = re.compile(r"(?P<job>\d+(_\d+)?)(\+(?P<component>\d+))?$")


class QueueState:
    """One job, as squeue shows it."""

    def __init__(  # noqa: PLR0913 - one for each field
        self,
        job: str,
        state: str,
        *,
        bare: str = "",
        reason: str = "",
        partition: str = "",
        priority: int = 0,
        nodes: str = "",
        comment: str = "",
    ) -> None:
        self.job = job
        self.state = state
        self.bare = bare or job
        """The number by which programs know it that know no arrays, once it runs."""
        self.reason = reason
        self.partition = partition
        self.priority = priority
        self.nodes = nodes
        self.comment = comment

    @property
    def is_final(self) -> bool:
        """Whether it has ended."""
        return self.state in FINAL

    @property
    def is_waiting(self) -> bool:
        """Whether it has no nodes."""
        return self.state in WAITING

    @property
    def is_held(self) -> bool:
        """Whether its user wants it to wait."""
        return self.is_waiting and self.reason.replace(" ", "_") in HELD

    @property
    def is_undivided(self) -> bool:
        """Whether it waits as a part of its array, which leaves no trace when it is cancelled."""
        array, is_in_array, _ = self.job.partition("_")
        return self.is_waiting and bool(is_in_array) and self.bare == array

    @property
    def owner(self) -> str:
        """Which job of ours it is, as its comment says; empty: it is none."""
        return owner_of(self.job, self.comment)


def owner_of(job: str, comment: str) -> str:
    """Which job of ours has that number and comment: its id, or `<array>_<rank>`; empty: none."""
    word = comment.split(" ", 1)[0]
    if not word.startswith(COMMENT):
        return ""
    _, is_in_array, rank = job.partition("_")
    return word[len(COMMENT) :] + (f"_{rank}" if is_in_array else "")


def query(user: str) -> list[str]:
    """The words that ask for all jobs of a user, also those that ended a while ago."""
    words = ["squeue", "--noheader", "--array", "--states=all"]
    return [*words, f"--user={user}", f"--format={FORMAT}"]


def parse(text: str) -> dict[str, QueueState]:
    """All jobs by their number."""
    jobs: dict[str, QueueState] = {}
    components: dict[str, int] = {}
    for line in text.splitlines():
        fields = line.split(SEPARATOR, FIELDS - 1)
        found = _ID.match(fields[0].strip())
        if len(fields) != FIELDS or found is None:
            continue
        job, component = found["job"], int(found["component"] or 0)
        state = _state(job, fields)
        known = jobs.get(job)
        if known is None or _speaks(state, component, known, components[job]):
            jobs[job], components[job] = state, component
    return jobs


def _state(job: str, fields: list[str]) -> QueueState:
    _, bare, state, reason, partition, priority, nodes, comment = fields
    return QueueState(
        job,
        state.strip(),
        bare=bare.strip(),
        reason="" if reason in ("None", "(null)") else reason,
        partition=partition,
        priority=int(priority) if priority.strip().isdigit() else 0,
        nodes=nodes,
        comment="" if comment == "(null)" else comment,
    )


def _speaks(state: QueueState, component: int, known: QueueState, of: int) -> bool:
    """Whether a component tells more of its job than another: that it lives, or is the first."""
    if state.is_final != known.is_final:
        return known.is_final
    return component < of


def owners(states: Mapping[str, QueueState]) -> dict[str, str]:
    """The numbers of our jobs, by owner; of two, the one that lives, then the later one."""
    found: dict[str, str] = {}
    for state in sorted(states.values(), key=lambda item: (not item.is_final, _order(item.job))):
        if state.owner:
            found[state.owner] = state.job
    return found


def positions(states: Iterable[QueueState]) -> dict[str, int]:
    """The places of jobs that wait, from 1 on, in the order in which Slurm looks at them."""
    waiting = [state for state in states if state.is_waiting and not state.is_held]
    waiting.sort(key=lambda state: (-state.priority, _order(state.job)))
    return {state.job: place for place, state in enumerate(waiting, start=1)}


def _order(job: str) -> list[int]:
    return [int(part) for part in job.split("_")]
