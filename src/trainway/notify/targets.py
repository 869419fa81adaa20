"""Who is told what happens to jobs: the section `notify` of `config.yaml`, and `--notify`. Pure.

notify:
  team:
    url: https://hooks.slack.com/services/...
    events: [failed, recovered]

The path of such a URL often is a secret, so nothing here ever shows one.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final
from urllib.parse import urlsplit

from trainway.json_types import Json
from trainway.schema.field import ErrorType, FieldError, Path, key_step
from trainway.schema.shape import TEXT, Items, Record, Table, Word


class Occasion(StrEnum):
    """What happens to a job that somebody may want to hear of."""

    STARTED = "started"
    RECOVERED = "recovered"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    HUNG = "hung"
    IDLE_GPU = "idle-GPU"
    BUDGET = "budget"


class Form(StrEnum):
    """What a target understands."""

    JSON = "json"
    SLACK = "slack"
    NTFY = "ntfy"


ALL: Final = frozenset(Occasion)
_HOSTS: Final = {"hooks.slack.com": Form.SLACK, "ntfy.sh": Form.NTFY}
"""The hosts whose form is known."""
_PREFIX: Final = re.compile(rf"({'|'.join(Form)})\+(?=https?://)")
"""Says the form of a URL on any other host: `ntfy+https://ntfy.example.org/jobs`."""
_URL: Final = re.compile(r"https?://[!-~]{1,2000}")
_HEADER: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}")
_HEADER_VALUE: Final = re.compile(r"[ -~]{0,2000}")
NAME: Final = r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?"
SHAPE: Final = Table(
    Record(
        {
            "url": TEXT,
            "format": Word(tuple(Form), any_case=False),
            "events": Items(Word(tuple(Occasion), any_case=False)),
            "headers": Table(TEXT),
        },
        needs=("url",),
    ),
    key=NAME,
)


@dataclass(frozen=True)
class Target:
    """Where notifications go."""

    name: str
    """The name by which the settings know it; for one that a job brings along, its URL."""
    url: str
    form: Form
    occasions: frozenset[Occasion] = ALL
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def shown(self) -> str:
        """How people are told of it."""
        return self.name if self.name != self.url else urlsplit(self.url).netloc


def errors(section: Mapping[str, Any], path: Path) -> Iterator[FieldError]:
    """What is wrong with a section of the right shape."""
    for name, data in section.items():
        place = (*path, key_step(name))
        wrong = url_error(data["url"])
        if wrong:
            yield FieldError((*place, "url"), ErrorType.FORBIDDEN, wrong)
        for header, value in (data.get("headers") or {}).items():
            if not _HEADER.fullmatch(header) or not _HEADER_VALUE.fullmatch(value):
                said = "is not a header of HTTP in plain ASCII"
                where = (*place, "headers", key_step(header))
                yield FieldError(where, ErrorType.FORBIDDEN, said)


def targets_of(section: Mapping[str, Any]) -> list[Target]:
    """The targets of a section in which nothing is wrong."""
    return [_target(name, data) for name, data in section.items()]


def _target(name: str, data: Json) -> Target:
    own = target_of(data["url"])
    occasions = data.get("events")
    return Target(
        name,
        own.url,
        Form(data["format"]) if data.get("format") else own.form,
        ALL if occasions is None else frozenset(map(Occasion, occasions)),
        data.get("headers") or {},
    )


def is_url(text: str) -> bool:
    """Whether somebody means a URL, right or wrong, and not the name of a target."""
    return "://" in text


def target_of(text: str) -> Target:
    """The target that a URL in which nothing is wrong stands for."""
    found = _PREFIX.match(text)
    url = text[found.end() :] if found else text
    usual = _HOSTS.get(urlsplit(url).hostname or "", Form.JSON)
    return Target(url, url, Form(found[1]) if found else usual)


def url_error(text: str) -> str:
    """What is wrong with the URL of a target; empty: nothing."""
    url = _PREFIX.sub("", text, count=1)
    if not _URL.fullmatch(url):
        return "must be a URL that begins with https:// or http://, in plain ASCII"
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        is_right = bool(host) and parts.port != 0
        host.encode("ascii" if ":" in host else "idna")  # as whoever connects does
    except ValueError:
        is_right = False
    if not is_right:
        return "must have the name of a host, and a port only if it is a number"
    if "@" in parts.netloc:
        return "must not have a user or a password in it; use headers"
    return ""
