"""Which lines of a journal are records. Pure: whoever opens a journal reads it with this.

A line that was cut off when its writer died is no record, and neither is one that a full disk or a
job has spoiled. Agents, backends and the copies of both find the same records in the same bytes.
"""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainway.json_types import Json


NAME = "journal.jsonl"
END = "end"
"""The type of the last record."""


def object_in(line: bytes) -> Json | None:
    """The JSON object in a line; None: there is none."""
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def record_in(line: bytes) -> Json | None:
    """The record in a line: an object with a number; None: the line is no record."""
    found = object_in(line)
    return found if found is not None and isinstance(found.get("seq"), int) else None


def records_in(data: bytes) -> tuple[list[Json], int]:
    """The records in a part of a journal, and the length of what of it is whole lines."""
    end = data.rfind(b"\n") + 1
    found = (record_in(line) for line in data[:end].splitlines())
    return [record for record in found if record is not None], end
