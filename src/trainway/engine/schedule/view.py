"""A schedule as the API shows it. Pure."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from trainway.backends.masking import masked_object
from trainway.engine.schedule.record import ScheduleRecord
from trainway.engine.times import time_text
from trainway.engine.view import API_VERSION
from trainway.json_types import Json

KIND: Final = "Schedule"


def schedule_view(
    record: ScheduleRecord,
    following: datetime | None,
    problem: str | None,
    active: Sequence[str],
    objects: Sequence[Json] | None = None,
) -> Json:
    """The schedule; with what it submits where that is given."""
    more = {} if objects is None else {"objects": [masked_object(obj) for obj in objects]}
    moments = record.moments
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {"id": record.id, "name": record.name, "creationTimestamp": record.created},
        "spec": {
            "cron": record.cron,
            "timezone": record.zone,
            "catchUp": record.catch_up,
            "overlap": record.overlap,
            "paused": record.is_paused,
            "backend": record.backend,
            "kind": record.kind,
            **more,
        },
        "status": {
            "next": None if following is None or record.is_paused else time_text(following),
            "last": json.loads(record.outcome) if record.outcome else None,
            "due": moments,
            "waiting": problem if moments or following is None else None,
            "activeJobs": list(active),
        },
    }
