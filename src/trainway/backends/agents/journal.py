"""Reading the journal of a job: one JSON object per line, each with a number one higher.

The agent alone writes it, and appends only. A line that ends in the middle is one the agent was
killed over; it counts as not written.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from trainway.agent.base.journal_reader import END, record_in
from trainway.backends import job_file

Record = Mapping[str, Any]

_LONGEST = 1 << 24
"""How many bytes a line may have that is a record."""


def read(path: Path, after: int) -> Iterator[Record]:
    """The records with a number above `after`; none where there is no journal yet."""
    try:
        file = job_file.reader(path.parent, path)
    except FileNotFoundError:
        return
    except job_file.RefusedFileError as error:
        job_file.warn(error)
        return
    with file:
        while line := file.readline(_LONGEST):
            record = record_in(line) if line.endswith(b"\n") else None
            if record is not None and record["seq"] > after:
                yield record


def has_ended(path: Path) -> bool:
    """Whether the last word was written."""
    return any(record.get("type") == END for record in read(path, -1))


def exists(path: Path) -> bool:
    """Whether an agent ever wrote to it."""
    return job_file.size(path.parent, path) > 0
