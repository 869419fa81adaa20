"""The events that a cluster records about the objects of a job, as the journal has them. Pure."""

from collections.abc import Collection
from typing import TYPE_CHECKING

from trainway.json_types import Json

if TYPE_CHECKING:
    from trainway.agent.base.records import EventRecord


def object_of(event: Json) -> tuple[str, str]:
    """Kind and name of what an event is about."""
    about = event.get("involvedObject") or event.get("regarding") or {}
    return str(about.get("kind") or ""), str(about.get("name") or "")


def time_of(event: Json) -> str:
    """When it happened last."""
    series = (event.get("series") or {}).get("lastObservedTime")
    fields = ("lastTimestamp", "eventTime", "firstTimestamp")
    times = [series, *(event.get(name) for name in fields)]
    times.append((event.get("metadata") or {}).get("creationTimestamp"))
    return str(next((time for time in times if time), ""))


def concerns(event: Json, names: Collection[tuple[str, str]]) -> bool:
    """Whether it is about one of these, by kind and name."""
    return object_of(event) in names


def record_of(event: Json) -> Json:
    """The journal record, without its number."""
    kind, name = object_of(event)
    record: EventRecord = {
        "type": "event",
        "time": time_of(event),
        "eventType": str(event.get("type") or "Normal"),
        "reason": str(event.get("reason") or ""),
        "message": " ".join(str(event.get("message") or event.get("note") or "").split()),
        "object": f"{kind}/{name}",
    }
    return dict(record)
