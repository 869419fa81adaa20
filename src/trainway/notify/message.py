"""What a target is told, as the literal request of HTTP. Pure."""

import json
from dataclasses import asdict, dataclass
from email.header import Header
from typing import Final

from trainway.json_types import Json
from trainway.notify.targets import Form, Occasion, Target

TEST: Final = "test"
"""The event of a message that somebody asked for to see whether it arrives."""
_AGENT: Final = "trainway"
_LONGEST: Final = 2000
"""The most characters of a text; ntfy makes a file of what is longer than 4,096 bytes."""
_TAGS: Final[dict[str, str]] = {
    Occasion.FAILED: "x",
    Occasion.HUNG: "hourglass",
    Occasion.SUCCEEDED: "white_check_mark",
    Occasion.IDLE_GPU: "zzz",
    Occasion.BUDGET: "money_with_wings",
}
_URGENT: Final = (Occasion.FAILED, Occasion.HUNG, Occasion.BUDGET)
_SLACK: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


@dataclass(frozen=True)
class Notice:
    """Something to be told."""

    event: str
    """The event, which is an `Occasion` or `test`."""
    time: str
    job: Json
    """The id, name, backend, phase and so on of the job; empty for a test."""
    detail: str = ""
    """What went wrong, in one line."""

    def to_json(self) -> Json:
        """For the database."""
        return asdict(self)

    @property
    def text(self) -> str:
        """The whole of it in one sentence."""
        name, backend = self.job.get("name"), self.job.get("backend")
        match self.event:
            case Occasion.STARTED:
                text = f"{name} started on {backend}"
            case Occasion.RECOVERED:
                restarts = int(self.job.get("restarts") or 0)
                after = f" after {restarts} {'restart' if restarts == 1 else 'restarts'}"
                text = f"{name} runs again on {backend}{after if restarts else ''}"
            case Occasion.SUCCEEDED:
                text = f"{name} succeeded on {backend}"
            case Occasion.FAILED:
                text = f"{name} failed on {backend}{': ' if self.detail else ''}{self.detail}"
            case Occasion.HUNG:
                outcome = (self.job.get("hang") or {}).get("outcome") or "was ended"
                text = f"{name} hung on {backend} and {outcome}: {self.detail}"
            case Occasion.IDLE_GPU:
                text = f"{name} leaves a GPU idle on {backend}: {self.detail}"
            case Occasion.BUDGET:
                text = f"{name} on {backend}: {self.detail}" if name else self.detail
            case _:
                text = "This is a test of the notifications of Trainway."
        return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


@dataclass(frozen=True)
class HttpRequest:
    """A POST."""

    url: str
    headers: dict[str, str]
    body: bytes


def request(target: Target, notice: Notice) -> HttpRequest:
    """What to send."""
    match target.form:
        case Form.NTFY:
            headers = {"Content-Type": "text/plain; charset=utf-8", **_ntfy(notice)}
            body = notice.text.encode(errors="replace")
        case Form.SLACK:
            headers = {"Content-Type": "application/json"}
            body = json.dumps({"text": notice.text.translate(_SLACK)}).encode()
        case Form.JSON:
            headers = {"Content-Type": "application/json"}
            body = json.dumps(
                {
                    "event": notice.event,
                    "time": notice.time,
                    "text": notice.text,
                    "job": notice.job or None,
                }
            ).encode()
    return HttpRequest(target.url, {"User-Agent": _AGENT, **headers, **target.headers}, body)


def _ntfy(notice: Notice) -> dict[str, str]:
    is_failure = notice.event in _URGENT
    title = " ".join(f"{notice.job.get('name') or 'Trainway'}: {notice.event}".split())
    is_plain = title.isascii() and title.isprintable()
    headers = {"Title": title if is_plain else Header(title, "utf-8", 10_000).encode()}
    headers["Priority"] = "high" if is_failure else "default"
    tag = _TAGS.get(notice.event)
    return headers | ({"Tags": tag} if tag else {})
