"""Schedules as people read them: times are those of the schedule's own zone. Pure."""

from datetime import UTC, datetime, tzinfo
from typing import Final

from trainway.errors import UsageError
from trainway.json_types import Json

HEADER: Final = ("NAME", "SCHEDULE", "ZONE", "NEXT", "LAST", "RESULT")
_NOTHING: Final = "-"


def row(schedule: Json) -> list[str]:
    """One line of the table."""
    spec, last = schedule["spec"], schedule["status"]["last"] or {}
    return [
        schedule["metadata"]["name"],
        spec["cron"],
        spec["timezone"],
        "paused" if spec["paused"] else _time(schedule, schedule["status"]["next"]),
        _time(schedule, last.get("time")),
        last.get("result", _NOTHING),
    ]


def lines(schedule: Json) -> list[str]:
    """All of it."""
    spec, status = schedule["spec"], schedule["status"]
    last = status["last"]
    told = [
        ("Name", schedule["metadata"]["name"]),
        ("Schedule", f"{spec['cron']} ({spec['timezone']})"),
        ("Next", "paused" if spec["paused"] else _time(schedule, status["next"])),
        ("Job", f"{spec['kind']} on {spec['backend']}"),
        ("Catch-up", spec["catchUp"]),
        ("Overlap", spec["overlap"]),
        ("Last", _NOTHING if last is None else _last(schedule, last)),
    ]
    if status["due"]:
        due = ", ".join(_time(schedule, moment) for moment in status["due"])
        told.append(("Due", f"{due}: {status['waiting'] or 'a former job has to end first'}"))
    elif status["waiting"]:
        told.append(("Problem", status["waiting"]))
    if status["activeJobs"]:
        told.append(("Running", ", ".join(status["activeJobs"])))
    return [f"{f'{name}:':10} {value}" for name, value in told]


def created_line(schedule: Json) -> str:
    """What is said of a new one."""
    name, spec = schedule["metadata"]["name"], schedule["spec"]
    if spec["paused"]:
        return f"{name} is paused. To start it: trainway schedule resume {name}"
    return f"{name} runs next at {_time(schedule, schedule['status']['next'])} {spec['timezone']}"


def _last(schedule: Json, last: Json) -> str:
    made = f", run {last['run']}" if last["run"] else f", job {last['job']}" if last["job"] else ""
    said = f": {last['message']}" if last["message"] else ""
    return f"{_time(schedule, last['time'])} {last['result']}{made}{said}"


def _time(schedule: Json, moment: str | None) -> str:
    if moment is None:
        return _NOTHING
    zone = _zone(schedule["spec"]["timezone"])
    return datetime.fromisoformat(moment).astimezone(zone).strftime("%Y-%m-%d %H:%M")


def _zone(name: str) -> tzinfo:
    from trainway.schedule.moments import zone_of  # noqa: PLC0415 - slow, and for times only

    try:
        return zone_of(name)
    except UsageError:  # the server's machine knows more zones than this one
        return UTC
