"""Which report of a training's progress is one. Pure.

The rules are those of a TrainJob's `status.trainerStatus`. The operator asks the schema of the CRD
for them (`operator/status_server.py`) and the server its API's models (`server/models.py`); agents
have neither and can import neither. A test gives the same reports to all three.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainway.json_types import Json


METRICS_LIMIT = 256
TEXT_LIMIT = 64
LINKS_LIMIT = 20
URL_LIMIT = 2000
_TIME = re.compile(
    r"\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})\Z", re.ASCII
)


def trainer_status(body: object) -> Json | None:
    """The status in the body of a report; None where it holds none. ValueError: it is not one."""
    if not isinstance(body, dict):
        raise ValueError("the body must be an object")
    status = body.get("trainerStatus")
    if status is None:
        return None
    if not isinstance(status, dict):
        raise ValueError("trainerStatus must be an object")
    checked: Json = {}
    for name, most in (("progressPercentage", 100), ("estimatedRemainingSeconds", 2**31 - 1)):
        if status.get(name) is not None:
            checked[name] = _integer(name, status[name], most)
    if status.get("metrics") is not None:
        checked["metrics"] = _metrics(status["metrics"])
    if not isinstance(status.get("lastUpdatedTime"), str):
        raise ValueError("lastUpdatedTime is required when trainerStatus is present")
    checked["lastUpdatedTime"] = _text("lastUpdatedTime", status["lastUpdatedTime"])
    if not _TIME.match(checked["lastUpdatedTime"]):
        raise ValueError("lastUpdatedTime must be a date and time as in RFC 3339")
    return checked


def links_in(body: object) -> dict[str, str] | None:
    """The links in the body of a report, web addresses by name; None where it holds none.

    What each may be is decided by the server; here it is only kept small.
    """
    links = body.get("links") if isinstance(body, dict) else None
    if links is None:
        return None
    if not isinstance(links, dict) or len(links) > LINKS_LIMIT:
        raise ValueError(f"links must be an object of at most {LINKS_LIMIT}")
    for name, url in links.items():
        if not isinstance(url, str) or len(name) > TEXT_LIMIT or len(url) > URL_LIMIT:
            raise ValueError(f"a link must be a text of at most {URL_LIMIT} characters")
        _text("a link", name + url)
    return links


def _text(name: str, text: str) -> str:
    """A text that everybody can write down again; half a surrogate pair is none."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{name} must be text") from None
    return text


def _integer(name: str, value: object, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
        raise ValueError(f"{name} must be a whole number from 0 to {most}")
    return value


def _metrics(metrics: object) -> list[Json]:
    if not isinstance(metrics, list) or len(metrics) > METRICS_LIMIT:
        raise ValueError(f"metrics must be a list of at most {METRICS_LIMIT}")
    checked = []
    for metric in metrics:
        if not isinstance(metric, dict):
            raise ValueError("a metric must be an object with name and value")
        pair = {name: metric.get(name) for name in ("name", "value")}
        for name, text in pair.items():
            if not isinstance(text, str) or not 1 <= len(text) <= TEXT_LIMIT:
                raise ValueError(
                    f"{name} of a metric must be a text of 1 to {TEXT_LIMIT} characters"
                )
            _text(f"{name} of a metric", text)
        checked.append(pair)
    return checked
