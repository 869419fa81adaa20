"""What an observation changes of a job's record: its phase, why it waits, and how it ended.

Pure: from the record as it is stored and from what its journal says.
"""

from typing import Any, Final

from trainway.api.timeout import past_timeout
from trainway.engine.attempt_runs import seconds_of
from trainway.engine.failure import failure_view, is_retried
from trainway.engine.observation import RUNS, Observation
from trainway.engine.phases import LIVE, WAITING, Phase
from trainway.engine.queue_entry import demand_of
from trainway.engine.queues.making_room import has_left, is_leaving, left
from trainway.engine.queues.node_limit import given_up
from trainway.engine.record import AT_ONCE, JobRecord
from trainway.engine.recovery.cause import cause_of_end
from trainway.engine.trouble import trouble_of
from trainway.engine.wishes import (
    BUDGET,
    DEADLINE,
    DELETE,
    ENDING,
    LOST,
    PRUNED,
    RESUME,
    is_explained,
)
from trainway.jobset.job_remarks import merged_links
from trainway.jobset.status import moment

_MAY_WAIT: Final = (Phase.STARTING, Phase.QUEUED, Phase.INADMISSIBLE, Phase.RESTARTING)
"""Phases in which a backend that schedules may say why nothing runs yet."""

_SAID_BEFORE: Final = (
    (BUDGET, Phase.CANCELLED),
    (LOST, Phase.CANCELLED),
    (LOST, Phase.FAILED),  # what it ran on may go before it has ended
)
"""Ends of which the reason was known when they were asked for."""

_CRASHES: Final = "CrashLoopBackOff"
"""The reason of a pod that a node, named with its exit status, tells better."""


def observed_columns(
    record: JobRecord, observed: Observation, *, schedules: bool, now: str
) -> dict[str, Any]:
    """The columns that follow, for a backend that schedules by itself or not."""
    links = merged_links(record.link_map, observed.links)
    linked = {"links": links} if links != record.link_map else {}
    if observed.end is None:
        if record.node_limit:
            linked |= given_up(record, demand_of(record.demand), observed)
        return linked | _phase_columns(record, observed, schedules=schedules)
    return linked | _end_columns(record, observed, now)


def finished_columns(record: JobRecord, time: str, wish: str = "") -> dict[str, Any]:
    """What an end brings with it; a job that is to be forgotten is cleaned up at once."""
    ran_seconds = sum(seconds_of(run, time) for run in record.observed_data.get(RUNS) or ())
    if DELETE in (wish, record.wanted):
        return {"finished": time, "expires": AT_ONCE, "wanted": DELETE, "ran_seconds": ran_seconds}
    ttl = record.ttl_seconds
    expires = None if ttl is None else moment(time).timestamp() + ttl
    return {"finished": time, "expires": expires, "wanted": "", "ran_seconds": ran_seconds}


def overdue_message(record: JobRecord) -> str:
    """What is said of a job that ran past its deadline."""
    return past_timeout(record.deadline_seconds)


def wished_end(record: JobRecord, cancelled: str) -> tuple[Phase, str, str]:
    """The phase, reason and message of a job that ends as is wanted while no agent has it."""
    if record.wanted == DEADLINE:
        return Phase.FAILED, "DeadlineExceeded", overdue_message(record)
    if is_explained(record):
        return Phase.FAILED, record.reason, record.message
    return Phase.CANCELLED, "Cancelled", cancelled


def _phase_columns(record: JobRecord, observed: Observation, *, schedules: bool) -> dict[str, Any]:
    wanted, phase = record.wanted, observed.phase
    columns: dict[str, Any] = {}
    if observed.is_suspended and is_leaving(record):
        # On a machine of ours its room is free when its processes are gone, and not before.
        return {} if observed.has_processes and not schedules else left(record)
    if wanted in ENDING:
        phase = Phase.STOPPING
    elif wanted == RESUME and observed.is_suspended:
        if has_left(record) and record.phase in WAITING:
            return {}  # what it is told is the queue's to say
        phase = record.phase
    elif wanted == RESUME or (wanted and observed.is_suspended):
        columns["wanted"] = ""
    elif record.phase not in (*LIVE, Phase.PAUSED) and not schedules:
        phase = record.phase  # waits for its resources, with an agent that idles
    said = _why(observed, phase)
    if phase != record.phase:
        columns |= {"phase": phase, **said}
    elif phase == Phase.RUNNING or (schedules and phase in _MAY_WAIT):
        columns |= {name: text for name, text in said.items() if text != getattr(record, name)}
    return columns


def _end_columns(record: JobRecord, observed: Observation, now: str) -> dict[str, Any]:
    end = observed.end or {}
    columns: dict[str, Any] = {
        "phase": observed.phase,
        "reason": str(end.get("reason") or ""),
        "message": str(end.get("message") or ""),
        "exit_code": observed.exit_code,
    }
    if record.wanted == DEADLINE and observed.phase == Phase.CANCELLED:
        columns |= {
            "phase": Phase.FAILED,
            "reason": "DeadlineExceeded",
            "message": overdue_message(record),
        }
    elif (record.wanted, observed.phase) in _SAID_BEFORE:
        columns |= {"phase": Phase.FAILED, "reason": record.reason, "message": record.message}
    elif record.reason == PRUNED and observed.phase == Phase.CANCELLED:
        columns |= {"reason": PRUNED, "message": record.message}
    elif observed.phase == Phase.FAILED and _was_overdue(record, observed, now):
        columns |= {"reason": "DeadlineExceeded", "message": overdue_message(record)}
    elif observed.phase == Phase.FAILED and cause_of_end(columns["reason"], {}) is None:
        columns["message"] = _first_failure(observed) or columns["message"]
    time = str(end.get("time") or now)
    ran_seconds = sum(seconds_of(run, time) for run in observed.runs)
    return columns | finished_columns(record, time) | {"ran_seconds": ran_seconds}


def _first_failure(observed: Observation) -> str:
    """Who failed first, and how; empty: nobody did. JobSet itself only counts Jobs that failed."""
    if not observed.culprit:
        return ""
    nodes = observed.nodes.values()
    return str(failure_view(observed.culprit, nodes, observed.attempts)["summary"])


def _was_overdue(record: JobRecord, observed: Observation, now: str) -> bool:
    """Whether its backend ended it for the time that it took: then no node failed by itself.

    Backends begin to count before its first process runs, but not before there is a job.
    """
    end, limit = observed.end or {}, record.deadline_seconds
    if end.get("reason") == "DeadlineExceeded":
        return True
    if limit is None or (observed.culprit and not is_retried(observed.culprit)):
        return False
    ended = moment(str(end.get("time") or now))
    return (ended - moment(record.created)).total_seconds() >= limit


def _why(observed: Observation, phase: Phase) -> dict[str, str]:
    """What a job says for itself while nothing of it runs, or while one of its nodes suffers."""
    if phase == Phase.RUNNING and observed.waiting.get("reason") in (None, _CRASHES):
        return trouble_of(observed.nodes.values())
    waiting = observed.waiting if phase in (*_MAY_WAIT, Phase.RUNNING) else {}
    return {name: str(waiting.get(name) or "") for name in ("reason", "message")}
