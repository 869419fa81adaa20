"""Jobs that may go on for a while after their JobSet has succeeded: those of a job group. Pure.

JobSet itself stops them at once. Here an annotation gives roles a delay, which counts from the
moment that the last Job was complete which the success needed. That moment is in the conditions of
the Jobs, so that the next agent ends the others at the same time.
"""

from __future__ import annotations

import json
from datetime import datetime

from trainway.agent.base.labels import TERMINATION_DELAYS
from trainway.agent.controllers.conditions import find

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from trainway.agent.controllers.job import Job
    from trainway.json_types import Json


def delays(metadata: Json) -> dict[str, float]:
    """The delays of roles, as the annotation of a JobSet has them; one that is none is ignored."""
    text = (metadata.get("annotations") or {}).get(TERMINATION_DELAYS)
    try:
        found: Json = json.loads(text) if text else {}
        return {str(role): float(delay) for role, delay in found.items()}
    except (ValueError, TypeError, AttributeError):
        return {}


def succeeded_at(jobs: Iterable[Job], targets: Iterable[str]) -> float:
    """When the last of the Jobs was complete that the success needed."""
    wanted = set(targets)
    ends = [find(job.conditions, "Complete") for job in jobs if job.role in wanted]
    return max((_moment(end["lastTransitionTime"]) for end in ends if end), default=0.0)


def lingering(jobs: Iterable[Job], since: float, allowed: Mapping[str, float]) -> dict[str, float]:
    """Until when each of the Jobs may go on, by name."""
    return {job.name: since + allowed.get(job.role, 0.0) for job in jobs}


def _moment(text: str) -> float:
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S%z").timestamp()
