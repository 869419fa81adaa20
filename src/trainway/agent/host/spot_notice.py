"""What clouds tell a spot machine that they are about to take, and how it asks them. Pure.

Each cloud is a generator: it yields what is asked, and gets what was answered, or None where there
was no answer. What it returns is what was found out. Written from the clouds' public documentation:

- AWS, IMDSv2: `spot/instance-action` names the time, two minutes ahead; before that, a
  recommendation to leave may come (`events/recommendations/rebalance`), which takes nothing.
- Google Cloud: `instance/preempted` is TRUE half a minute before the end, and `maintenance-event`
  says that a machine which cannot move is ended.
- Azure: an event of the type `Preempt` among the scheduled ones, half a minute ahead.
"""

from __future__ import annotations

import json
import re
import time

from trainway.agent.host.metadata_request import Question

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from trainway.agent.host.metadata_request import Answer

    Inquiry = Generator[Question, "Answer | None", "Finding | None"]

ADDRESS = ("169.254.169.254", 80)
"""Where all of these clouds have the service."""
_OK = 200
_TOKEN = re.compile(r"[!-~]{1,1024}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
_WORD = re.compile(r"[\w-]{1,40}")


class Finding:
    """What a machine was told."""

    def __init__(self, why: str, at: str = "", *, is_certain: bool = True) -> None:
        self.why = why
        self.at = at
        """When it is taken, as an ISO 8601 time in UTC; empty: soon."""
        self.is_certain = is_certain
        """Whether it is taken; else it is only likely, and nothing has to be done."""


def aws(_machine: str) -> Inquiry:
    """What AWS says."""
    lifetime = {"X-aws-ec2-metadata-token-ttl-seconds": "60"}
    token = _text((yield Question("/latest/api/token", lifetime, "PUT")))
    if not _TOKEN.fullmatch(token):
        return None
    known, root = {"X-aws-ec2-metadata-token": token}, "/latest/meta-data"
    told = _object(_text((yield Question(f"{root}/spot/instance-action", known))))
    if told.get("action"):
        return Finding(f"instance-action {_word(told['action'])}", _time(told.get("time")))
    path = f"{root}/events/recommendations/rebalance"
    advice = _object(_text((yield Question(path, known))))
    if advice:
        since = _time(advice.get("noticeTime"))
        why = "AWS says that the machine is at an elevated risk"
        return Finding(f"{why}, since {since}" if since else why, is_certain=False)
    return None


def gcp(_machine: str) -> Inquiry:
    """What Google Cloud says."""
    flavor, root = {"Metadata-Flavor": "Google"}, "/computeMetadata/v1/instance"
    if _of_google((yield Question(f"{root}/preempted", flavor))) == "TRUE":
        return Finding("preempted")
    event = _of_google((yield Question(f"{root}/maintenance-event", flavor)))
    if event == "TERMINATE_ON_HOST_MAINTENANCE":
        return Finding("maintenance-event TERMINATE_ON_HOST_MAINTENANCE")
    return None


def azure(machine: str) -> Inquiry:
    """What Azure says; of a machine by its name, since others may be told of in the same answer."""
    path = "/metadata/scheduledevents?api-version=2020-07-01"
    told = _object(_text((yield Question(path, {"Metadata": "true"}))))
    events = told.get("Events")
    for event in events if isinstance(events, list) else []:
        concerned = [str(name).lower() for name in event.get("Resources") or []]
        if event.get("EventType") == "Preempt" and machine.lower() in concerned:
            return Finding("Preempt", _http_time(event.get("NotBefore")))
    return None


SOURCES: dict[str, Callable[[str], Inquiry]] = {"aws": aws, "gcp": gcp, "azure": azure}
"""The clouds whose machines are told, and can ask."""


def _text(answer: Answer | None) -> str:
    return answer.body.strip() if answer is not None and answer.status == _OK else ""


def _of_google(answer: Answer | None) -> str:
    """What is said by a service that is really Google's: all of its answers have this header."""
    if answer is None or answer.headers.get("metadata-flavor") != "Google":
        return ""
    return _text(answer)


def _object(text: str) -> dict[str, object]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _word(value: object) -> str:
    found = _WORD.match(str(value))
    return found.group() if found else "unknown"


def _time(value: object) -> str:
    return str(value) if _TIME.fullmatch(str(value)) else ""


def _http_time(value: object) -> str:
    """The time of `Mon, 19 Sep 2026 18:29:47 GMT`; empty: it is none, or the event has begun."""
    try:
        parsed = time.strptime(str(value), "%a, %d %b %Y %H:%M:%S GMT")
    except ValueError:
        return ""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", parsed)
