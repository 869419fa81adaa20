"""Jobs as people read them: rows of a table, and all there is to say about one."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Final

from trainway.cli.advice import advice_for
from trainway.cli.colours import PHASES, painted
from trainway.cli.columns import Columns, Paint, unpainted
from trainway.cli.cost_text import cost_text
from trainway.cli.times import clock, parse_time, short
from trainway.cli.usage_text import node_usage
from trainway.jobset.labels import TRAINWAY_PREFIX, USER
from trainway.json_types import Json

HEADER: Final = ("NAME", "ID", "KIND", "PHASE", "PROGRESS", "RESTARTS", "AGE")
WIDE: Final = (*HEADER, "DURATION", "BACKEND", "QUEUE", "PRIORITY", "LABELS", "REASON", "MESSAGE")
EVENT_HEADER: Final = ("TIME", "TYPE", "REASON", "OBJECT", "MESSAGE")
ATTEMPT_HEADER: Final = ("ATTEMPT", "CAUSE", "COUNTS", "HOST", "MESSAGE")
NODE_HEADER: Final = ("NODE", "PHASE", "READY", "RESTARTS", "EXIT")

_SHOWN_EVENTS: Final = 10
_USUAL_QUEUE: Final = "default"
_SHOWN_ATTEMPTS: Final = 10
_FEW_HOURS: Final = 0.1


def painter(*, colourful: bool) -> Paint:
    """Puts phases in colour."""

    def paint(column: str, text: str) -> str:
        colour = PHASES.get(text.strip()) if column == "PHASE" else None
        return painted(text, colour) if colour else text

    return paint if colourful else unpainted


def row(job: Json, now: datetime, *, wide: bool) -> list[str]:
    """The cells of a job."""
    metadata, spec, status = job["metadata"], job["spec"], job["status"]
    cells = [
        metadata["name"],
        metadata["id"],
        spec.get("kind") or "",
        status["phase"],
        _percent(status),
        str(status.get("restarts") or 0),
        short((now - parse_time(metadata["creationTimestamp"])).total_seconds()),
    ]
    if wide:
        cells += [
            duration(status, now),
            spec.get("backend") or "",
            _queue(spec, status),
            str(spec.get("priority") or 0),
            _labels(metadata, ","),
            status.get("reason") or "",
            _line(status.get("message")),
        ]
    return cells


def description(job: Json, events: Sequence[Json], now: datetime, *, paint: Paint) -> str:
    """All there is to say about a job."""
    facts = [(name, value) for name, value in _facts(job, now, paint) if value]
    width = max(len(name) for name, _ in facts) + 2
    text = "".join(f"{name + ':':{width}}{value}\n" for name, value in facts)
    nodes = _nodes(job)
    if nodes:
        text += "\n" + _node_table(nodes, job["status"].get("failure") or {}, paint)
    ended = job["status"].get("endedAttempts") or ()
    if ended:
        text += "\n" + attempt_table(ended[-_SHOWN_ATTEMPTS:])
    if events:
        text += "\n" + event_table(events[-_SHOWN_EVENTS:])
    return text


def _nodes(job: Json) -> list[Json]:
    """Its nodes; those that a group has ended when its primary tasks were done have not failed."""
    nodes = job["status"].get("nodes") or ()
    header: Json = {}
    for item in job["spec"].get("objects") or ():
        header = item.get("spec", {}).get("header") or {} if item.get("kind") == "Task" else header
    primary = header.get("primary_tasks")
    if not primary or job["status"]["phase"] != "Succeeded":
        return list(nodes)
    return [
        {**node, "phase": "Ended"}
        if node.get("phase") == "Failed" and node.get("role") not in primary
        else node
        for node in nodes
    ]


def _node_table(nodes: Sequence[Json], failure: Json, paint: Paint) -> str:
    """A row per node, with what it uses, its host, reason and message where any has one."""
    rows = [_node_row(node, failure.get("node")) for node in nodes]
    header = list(NODE_HEADER)
    used = [node_usage(node) for node in nodes]
    more = {
        **{name: [cells[name] for cells in used] for name in used[0]},
        "HOST": [node.get("host") or "" for node in nodes],
        "REASON": [node_reason(node) for node in nodes],
        "MESSAGE": [_line(node.get("message")) for node in nodes],
    }
    for name, cells in more.items():
        if any(cells):
            header.append(name)
            rows = [[*row, cell] for row, cell in zip(rows, cells, strict=True)]
    return Columns(header, paint).table(rows)


def attempt_table(ended: Sequence[Json]) -> str:
    """A row per attempt that a failure has ended."""
    has_places = any(each.get("place") for each in ended)
    rows = [
        [
            str(each["attempt"] + 1),
            each.get("reason") or "",
            "" if each.get("counts") is None else "yes" if each["counts"] else "no",
            *([each.get("place") or ""] if has_places else []),
            each.get("host") or "",
            _line(each.get("cause")),
        ]
        for each in ended
    ]
    header = list(ATTEMPT_HEADER)
    if has_places:
        header.insert(header.index("HOST"), "PLACE")
    return Columns(header).table(rows)


def event_table(events: Sequence[Json]) -> str:
    """A row per event."""
    return Columns(EVENT_HEADER).table([event_row(event) for event in events])


def event_row(event: Json) -> list[str]:
    """The cells of an event."""
    time = parse_time(event["time"]).astimezone().strftime("%H:%M:%S")
    keys = ("type", "reason", "object", "message")
    return [time, *(_line(event.get(key)) for key in keys)]


def progress_text(status: Json) -> str:
    """How far the training is, if it says so: `45 %, 0:31 left, loss 0.12`."""
    progress = status.get("progress") or {}
    left = progress.get("estimatedRemainingSeconds")
    parts = [_percent(status)] if _percent(status) else []
    parts += [f"{clock(left)} left"] if left is not None else []
    parts += [f"{metric['name']} {metric['value']}" for metric in progress.get("metrics") or ()]
    return ", ".join(parts)


def node_reason(node: Json) -> str:
    """Why a node is as it is, or why its container was started again."""
    return str(node.get("reason") or node.get("lastReason") or "")


def node_exit(node: Json) -> str:
    """How its program ended: now, or before it was started again."""
    if node.get("exitCode") is not None:
        return str(node["exitCode"])
    return f"last {node['lastExitCode']}" if node.get("lastExitCode") else ""


def node_name(node: Json) -> str:
    """`role-rank`, as in front of log lines."""
    job = node.get("job") or 0
    return f"{node['role']}-{job}-{node['rank']}" if job else f"{node['role']}-{node['rank']}"


def _facts(job: Json, now: datetime, paint: Paint) -> Iterator[tuple[str, str]]:
    metadata, spec, status = job["metadata"], job["spec"], job["status"]
    yield "Name", metadata["name"]
    yield "Id", metadata["id"]
    yield "Kind", spec.get("kind") or ""
    yield "Backend", spec.get("backend") or ""
    yield "Worker", status.get("worker") or ""
    yield "Moving", _moving(status)
    yield "Then", _candidates(status)
    yield from _recovery(status, now)
    yield "Priority", str(spec.get("priority") or "")
    yield "User", (metadata.get("labels") or {}).get(USER) or ""
    yield "Labels", _labels(metadata, ", ")
    yield "Note", _line(metadata.get("note"))
    for name, url in (metadata.get("links") or {}).items():
        yield "Link", f"{name} {url}"
    yield "Phase", paint("PHASE", status["phase"])
    yield "Queue", _place(spec, status)
    failure = status.get("failure") or {}
    yield "Failure", failure.get("summary") or ""
    yield "Cause", status.get("cause") or ""
    yield "To do", advice_for(metadata["name"], status)
    yield "Reason", "" if failure else status.get("reason") or ""
    yield "Message", "" if failure else status.get("message") or ""
    yield "Progress", progress_text(status)
    yield "Restarts", str(status.get("restarts") or 0)
    yield "Created", _when(metadata["creationTimestamp"], now)
    yield "Started", _when(status.get("startTime"), now)
    yield "Ended", _when(status.get("completionTime"), now)
    yield "Duration", duration(status, now)
    yield "Usage", _usage(status, now)
    yield "Cost", cost_text(status, now)
    yield "Directory", spec.get("workdir") or ""
    yield "Output", status.get("outputDir") or ""
    yield "Export", export_text(status)


def export_text(status: Json) -> str:
    """Where the output of a job goes, and how far that is."""
    export = status.get("export")
    if not export:
        return ""
    why = f": {export['message']}" if export.get("message") else ""
    return f"{export['uri']} ({export['state'].lower()}{why})"


def _candidates(status: Json) -> str:
    """Where a job goes that waits for too long."""
    others = status.get("candidates")
    if not others:
        return ""
    wait = others.get("maxWaitSeconds")
    when = "if it is refused" if wait is None else f"after {wait:g} s of waiting"
    return f"{', '.join(others['places'])} ({when})"


def _recovery(status: Json, now: datetime) -> Iterator[tuple[str, str]]:
    """By which strategy a job goes on elsewhere, and which places it avoids."""
    found = status.get("recovery") or {}
    others = found.get("places") or ()
    where = f" ({', '.join(others)})" if len(others) > 1 else ""
    yield "Recovery", f"{found['strategy']}{where}" if found else ""
    yield "Deadline", _deadline(found.get("deadline"), now)
    for each in found.get("avoided") or ():
        until = each["until"]
        if until is None or parse_time(until) > now:
            time = "" if until is None else f" until {_clock_time(until)}"
            yield "Avoids", f"{each['place']}{time}: {_line(each['reason'])}"


def _deadline(found: Json | None, now: datetime) -> str:
    """When a job is to have ended, how far it is, and where it should be for that."""
    if not found:
        return ""
    left = short((parse_time(found["at"]) - now).total_seconds())
    done, work = (short(found[name]) for name in ("doneSeconds", "workSeconds"))
    where = {"cheap": "at a cheap place", "sure": "at the sure place"}
    aim = where.get(found["place"], "where it is, in time")
    slack = found["slackSeconds"]
    spare = f"{short(slack)} to spare" if slack >= 0 else f"{short(-slack)} too late"
    return f"in {left}: {done} of {work} done, {spare}; it should be {aim}"


def _clock_time(text: str) -> str:
    return parse_time(text).astimezone().strftime("%H:%M:%S")


def _moving(status: Json) -> str:
    """Where a job goes that changes its place."""
    move = status.get("move")
    if not move:
        return ""
    step = f"waits until {_clock_time(move['at'])}" if move.get("at") else move["step"]
    return f"from {move['from']} to {move['to']} ({step})"


def _node_row(node: Json, culprit: str | None) -> list[str]:
    ended = [node_exit(node)]
    ended += ["failed first"] if node_name(node) == culprit else []
    return [
        node_name(node),
        node.get("phase") or "",
        "yes" if node.get("ready") else "no",
        str(node.get("restarts") or 0),
        " ".join(ended).strip(),
    ]


def _line(text: object) -> str:
    return " ".join(str(text or "").split())


def _labels(metadata: Json, separator: str) -> str:
    """The labels that somebody gave, without our own."""
    given = metadata.get("labels") or {}
    ours = [key for key in given if key.startswith(TRAINWAY_PREFIX)]
    texts = [f"{key}={value}" for key, value in sorted(given.items()) if key not in ours]
    return separator.join(texts)


def hours(number: float) -> str:
    """Hours of GPUs or CPUs, with more digits where there are few."""
    return f"{number:.4f}" if 0 < number < _FEW_HOURS else f"{number:.2f}"


def hours_used(status: Json, now: datetime) -> dict[str, float]:
    """The hours of GPUs and CPUs until now."""
    used = status.get("usage") or {}
    since = used.get("runningSince")
    left = max((now - parse_time(since)).total_seconds(), 0) / 3600 if since else 0
    return {
        "GPU": (used.get("gpuHours") or 0) + left * (used.get("gpus") or 0),
        "CPU": (used.get("cpuHours") or 0) + left * (used.get("cpus") or 0),
    }


def _usage(status: Json, now: datetime) -> str:
    """What it has used until now, where it has requested anything."""
    used = hours_used(status, now).items()
    return ", ".join(f"{hours(number)} {kind}-hours" for kind, number in used if number)


def _percent(status: Json) -> str:
    percent = (status.get("progress") or {}).get("progressPercentage")
    return "" if percent is None else f"{percent:g} %"


def _place(spec: Json, status: Json) -> str:
    """Where it waits; of the queue where everybody is only the position is told."""
    position, queue = status.get("queuePosition"), spec.get("queue") or _USUAL_QUEUE
    told = [] if queue == _USUAL_QUEUE else [queue]
    return ", ".join([*told, *([] if position is None else [f"position {position}"])])


def _queue(spec: Json, status: Json) -> str:
    position, queue = status.get("queuePosition"), spec.get("queue") or _USUAL_QUEUE
    return queue if position is None else f"{queue} #{position}"


def duration(status: Json, now: datetime) -> str:
    """How long a job has run, or did."""
    if not status.get("startTime"):
        return ""
    end = parse_time(status["completionTime"]) if status.get("completionTime") else now
    return short((end - parse_time(status["startTime"])).total_seconds())


def _when(text: str | None, now: datetime) -> str:
    if not text:
        return ""
    time = parse_time(text)
    ago = short((now - time).total_seconds())
    return f"{time.astimezone().strftime('%Y-%m-%d %H:%M:%S')} ({ago} ago)"


def utc_now() -> datetime:
    """The time."""
    return datetime.now(UTC)


def ids(jobs: Iterable[Json]) -> str:
    """What `-o name` prints: ids, since a name can belong to several jobs."""
    return "".join(f"{job['metadata']['id']}\n" for job in jobs)


def ending(job: Json) -> str:
    """The last word on a job: how it ended, after how long, and where its output is."""
    status = job["status"]
    text = f"{job['metadata']['name']}: {status['phase']}"
    passed = duration(status, utc_now())
    if passed:
        text += f" after {passed}"
    if status.get("failure"):
        return f"{text}: {status['failure']['summary']}"
    reason, message = status.get("reason"), status.get("message")
    why = [str(part) for part in (reason, message) if part and part != status["phase"]]
    if why and status["phase"] != "Succeeded":
        text += f": {': '.join(why)}"
    return text
