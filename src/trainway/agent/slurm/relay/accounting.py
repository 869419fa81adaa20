"""What a cluster remembers of jobs that left its queue: in a database, a text file, or not. Pure.

How it is, is in the controller's configuration. The database may lag behind the queue. The text
file has a line for each time that a job was requeued, of which the last counts. It knows no arrays:
each of their jobs is there under its bare number.
"""

from __future__ import annotations

from trainway.agent.slurm.relay.queue_states import FINAL, owner_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

DATABASE, TEXT, NONE = "slurmdbd", "text", "none"
CONFIGURATION = ["scontrol", "show", "config"]


class Ended:
    """How a job ended."""

    def __init__(self, state: str, exit_code: str = "", by: str = "") -> None:
        self.state = state
        self.exit_code = exit_code
        """The `CODE:SIGNAL` of the batch script; empty: it is not known."""
        self.by = by
        """The number of the user who cancelled it; empty: that is not known, or nobody did."""


def settings(text: str) -> dict[str, str]:
    """The controller's configuration."""
    pairs = (line.partition("=") for line in text.splitlines())
    return {name.strip(): value.strip() for name, is_pair, value in pairs if is_pair}


def kind_of(configuration: dict[str, str]) -> str:
    """What there is to ask."""
    if configuration.get("AccountingStorageType", "").endswith(("/slurmdbd", "/mysql")):
        return DATABASE
    if configuration.get("JobCompType", "").endswith("/filetxt"):
        return TEXT
    return NONE


def query(kind: str, jobs: Iterable[str]) -> list[str]:
    """The words that ask about jobs; there must be something to ask."""
    fields = "JobID,State" if kind == TEXT else "JobID,State,ExitCode"
    mode = ["--completion"] if kind == TEXT else ["--allocations"]
    asked = ",".join(sorted({job.split("_")[0] for job in jobs}, key=int))
    words = ["sacct", *mode, "--noheader", "--parsable2"]
    return [*words, f"--jobs={asked}", f"--format={fields}"]


def parse(text: str) -> dict[str, Ended]:
    """How jobs ended, by their number; those that have not are left out."""
    found: dict[str, Ended] = {}
    for line in text.splitlines():
        job, *fields = line.split("|")
        if "." in job or not fields:
            continue
        job, _, component = job.partition("+")
        words = fields[0].split() or [""]
        state = words[0].rstrip("+")
        if state not in FINAL:
            found.pop(job, None)
            continue
        if component not in ("", "0") and job in found:
            continue
        by = words[2] if words[1:2] == ["by"] and len(words) > 2 else ""
        found[job] = Ended(state, fields[1] if len(fields) > 1 else "", by)
    return found


def comment_query(user: str) -> list[str]:
    """The words that ask for the comments of a user's jobs of the last days."""
    words = ["sacct", "--allocations", "--noheader", "--parsable2", f"--user={user}"]
    return [*words, "--starttime=now-7days", "--format=JobID,Comment"]


def owners(text: str) -> dict[str, str]:
    """The numbers of our jobs, by owner; of two, the later one."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        job, _, comment = line.partition("|")
        number = job.partition("+")[0]
        owner = owner_of(number, comment)
        if owner:
            found[owner] = number
    return found
