"""MPIJobs as tables and descriptions. Pure."""

import re
import shlex
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from trainway.cli.columns import Columns
from trainway.cli.times import parse_time, short
from trainway.jobset.status import conditions_of, find_true
from trainway.json_types import Json
from trainway.training.state import State, queue_of, status_of

if TYPE_CHECKING:
    from trainway.training.facts import Facts
    from trainway.training.members import Member

HEAD: Final = ("NAME", "STATE", "WORKERS", "AGE")
WIDE: Final = ("QUEUE", "MPI", "SLOTS", "IMAGE")
NONE: Final = "<none>"
_CONTROL: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")
_LABEL: Final = 13
_INDENT: Final = "  "


def header(*, wide: bool, all_namespaces: bool) -> tuple[str, ...]:
    """The names of the columns."""
    return (*(("NAMESPACE",) if all_namespaces else ()), *HEAD, *(WIDE if wide else ()))


def row(job: Json, now: datetime, *, wide: bool, all_namespaces: bool) -> list[str]:
    """A job as a row."""
    status, spec = status_of(job), job.get("spec") or {}
    cells = [status.namespace] if all_namespaces else []
    cells += [status.name, status.state, f"{status.active}/{status.workers}", age(job, now)]
    if wide:
        implementation = str(spec.get("mpiImplementation") or "OpenMPI")
        slots = str(spec.get("slotsPerWorker") or 1)
        image = str(_container(job, "Launcher").get("image") or NONE)
        cells += [queue_of(job) or NONE, implementation, slots, image]
    return [clean(cell) for cell in cells]


def age(obj: Json, now: datetime) -> str:
    """How long an object has been there."""
    created = obj["metadata"].get("creationTimestamp")
    return short((now - parse_time(created)).total_seconds()) if created else "<unknown>"


def clean(text: str) -> str:
    """A text that cannot steer a terminal."""
    return _CONTROL.sub(lambda match: ascii(match[0])[1:-1], text)


def description(facts: "Facts", now: datetime) -> str:
    """All that is known of a job."""
    lines = [
        *_head(facts, now),
        *_queue(facts),
        *_conditions(facts.job, now),
        *_replicas(facts.members),
        *_events(facts.events, now),
        *_last_lines(facts),
        *(_field("Not shown", each) for each in facts.refused),
        *_culprit(facts),
    ]
    return "".join(f"{clean(line)}\n" for line in lines)


def waiting(facts: "Facts") -> str:
    """Why a job waits in its queue, in words; empty: it does not."""
    queue = queue_of(facts.job)
    if not queue or status_of(facts.job).state not in (State.QUEUED, State.SUSPENDED):
        return ""
    if facts.workload is None:
        return f"waits in {queue}, but Kueue has not taken it; is there a queue of this name?"
    if (facts.workload.get("spec") or {}).get("active") is False:
        return f"suspended in {queue}; resume it to let it wait again"
    place = f"position {facts.position} in {queue}" if facts.position else f"waits in {queue}"
    told = find_true(conditions_of(facts.workload), "QuotaReserved")
    if told is not None:
        return f"{place}: quota is reserved"
    reasons = [
        str(each.get("message") or each.get("reason"))
        for each in conditions_of(facts.workload)
        if each.get("type") == "QuotaReserved"
    ]
    return ": ".join([place, *reasons])


def _head(facts: "Facts", now: datetime) -> Iterator[str]:
    job = facts.job
    status, spec = status_of(job), job.get("spec") or {}
    yield _field("Name", status.name)
    yield _field("Namespace", status.namespace)
    reason = ": ".join(filter(None, (status.reason, status.message)))
    yield _field("State", f"{status.state}" + (f" ({reason})" if reason else ""))
    yield _field("Created", f"{job['metadata'].get('creationTimestamp')} ({age(job, now)} ago)")
    if status.started:
        yield _field("Started", status.started)
    if status.ended:
        yield _field("Ended", status.ended)
    slots = spec.get("slotsPerWorker") or 1
    mpi = spec.get("mpiImplementation") or "OpenMPI"
    each = "1 slot" if slots == 1 else f"{slots} slots"
    yield _field("Workers", f"{status.active} of {status.workers} run, with {each} each")
    yield _field("MPI", str(mpi))
    launcher, worker = _container(job, "Launcher"), _container(job, "Worker")
    yield _field("Image", str(launcher.get("image") or NONE))
    words = [*(launcher.get("command") or ()), *(launcher.get("args") or ())]
    yield _field("Command", shlex.join(map(str, words)) if words else "that of the image")
    requests = (worker.get("resources") or {}).get("requests") or {}
    amounts = ", ".join(f"{name} {amount}" for name, amount in requests.items())
    yield _field("Resources", f"{amounts} for each worker" if amounts else NONE)
    policy = spec.get("runPolicy") or {}
    told = [f"{name} {value}" for name, value in policy.items() if not isinstance(value, dict)]
    yield _field("Run policy", ", ".join(told) or NONE)


def _queue(facts: "Facts") -> Iterator[str]:
    queue = queue_of(facts.job)
    yield _field("Queue", waiting(facts) or queue or NONE)


def _conditions(job: Json, now: datetime) -> Iterator[str]:
    rows = [
        [
            str(each.get("type")),
            str(each.get("status")),
            _since(each.get("lastTransitionTime"), now),
            str(each.get("reason") or ""),
            _line(each.get("message")),
        ]
        for each in conditions_of(job)
    ]
    return _table("Conditions", ("TYPE", "STATUS", "SINCE", "REASON", "MESSAGE"), rows)


def _replicas(members: Sequence["Member"]) -> Iterator[str]:
    rows = [
        [
            each.title,
            each.name,
            each.phase,
            str(each.restarts),
            str((each.pod.get("spec") or {}).get("nodeName") or NONE),
            _line(each.problem),
        ]
        for each in members
    ]
    return _table("Replicas", ("REPLICA", "POD", "PHASE", "RESTARTS", "NODE", "PROBLEM"), rows)


def _events(events: Sequence[Json], now: datetime) -> Iterator[str]:
    rows = [
        [
            _since(each.get("lastTimestamp") or each.get("eventTime"), now),
            str(each.get("type") or ""),
            str(each.get("reason") or ""),
            f"{each['involvedObject'].get('kind')}/{each['involvedObject'].get('name')}",
            _line(each.get("message")),
        ]
        for each in events
    ]
    return _table("Events", ("AGE", "TYPE", "REASON", "OBJECT", "MESSAGE"), rows)


def _last_lines(facts: "Facts") -> Iterator[str]:
    if facts.spoke is not None and facts.lines:
        yield f"Last lines of the {facts.spoke.title}, {facts.spoke.name}:"
        yield from (_INDENT + line for line in facts.lines)


def _culprit(facts: "Facts") -> Iterator[str]:
    if facts.culprit is not None:
        yield _field("Culprit", f"the {facts.culprit.title}: {facts.culprit.problem}")


def _table(title: str, names: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    if not rows:
        yield _field(title, NONE)
        return
    yield f"{title}:"
    for line in Columns(names).table([[clean(cell) for cell in row] for row in rows]).splitlines():
        yield _INDENT + line


def _field(name: str, value: str) -> str:
    return f"{name + ':':<{_LABEL}} {_line(value)}"


def _line(value: object) -> str:
    return " ".join(str(value or "").split())


def _since(time: Any, now: datetime) -> str:
    return short((now - parse_time(str(time))).total_seconds()) if time else "<unknown>"


def _container(job: Json, role: str) -> Json:
    replicas = (job.get("spec") or {}).get("mpiReplicaSpecs") or {}
    spec = ((replicas.get(role) or {}).get("template") or {}).get("spec") or {}
    containers = spec.get("containers") or [{}]
    found: Json = containers[0]
    return found
