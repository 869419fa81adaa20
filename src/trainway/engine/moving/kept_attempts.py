"""The attempts of a job that begins anew elsewhere: they are counted on from where they were.

A place that goes on with a job reads in its journal how often it was restarted. The journal of a
job that begins anew says nothing but that.
"""

import json
from pathlib import Path

from trainway.backends.agents.jobdir import PRIVATE_DIR, JobDir, write_private
from trainway.engine.observation import JOBSET
from trainway.engine.record import JobRecord
from trainway.json_types import Json


def attempts_so_far(record: JobRecord) -> Json:
    """What the status of a JobSet says of them; nothing where none ran."""
    if not record.started:
        return {}
    known = record.observed_data.get(JOBSET) or {}
    counted = int(known.get("restartsCountTowardsMax") or 0)
    restarts = max(record.attempt + 1, record.restarts)
    return {"restarts": restarts, "restartsCountTowardsMax": counted}


def keep_attempts(directory: Path, status: Json, time: str) -> None:
    """Have the next place count on; the directory of the job has nothing else but output."""
    if not status or not directory.parent.is_dir():
        return
    directory.mkdir(mode=PRIVATE_DIR, exist_ok=True)
    records: list[Json] = [
        {"type": "status", "jobset": status, "suspend": False, "before": True},
        {"type": "agent", "event": "left"},
    ]
    lines = [json.dumps({"seq": seq, "time": time, **each}) for seq, each in enumerate(records)]
    text = "".join(f"{line}\n" for line in lines)
    write_private(JobDir(directory).journal, text.encode(), is_durable=True)
