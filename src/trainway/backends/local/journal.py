"""Reading the journal of a job: one JSON object per line, each with a number one higher.

The agent alone writes it, and appends only. A line that ends in the middle is one the agent was
killed over; it counts as not written.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

Record = Mapping[str, Any]

END = "end"


def parse(line: bytes) -> Record | None:
    """The record in a line; None if the line is no record."""
    try:
        record = json.loads(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) and isinstance(record.get("seq"), int) else None


def read(path: Path, after: int) -> Iterator[Record]:
    """The records with a number above `after`; none where there is no journal yet."""
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return
    with file:
        for line in file:
            record = parse(line) if line.endswith(b"\n") else None
            if record is not None and record["seq"] > after:
                yield record


def has_ended(path: Path) -> bool:
    """Whether the last word was written."""
    return any(record.get("type") == END for record in read(path, -1))


def exists(path: Path) -> bool:
    """Whether an agent ever wrote to it."""
    try:
        return path.stat().st_size > 0
    except FileNotFoundError:
        return False
