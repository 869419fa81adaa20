"""Who is told: what is right and wrong in the settings, and what a URL means."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from trainway.notify.targets import (
    ALL,
    SHAPE,
    Form,
    Occasion,
    Target,
    errors,
    target_of,
    targets_of,
    url_error,
)
from trainway.schema.shape import check

SLACK = "https://hooks.slack.com/services/T0/B0/secret"


@dataclass(frozen=True)
class Case:
    id: str
    section: Any
    wrong: list[str] = field(default_factory=list)


CASES = [
    Case("nothing", {}),
    Case(
        "all", {"a": {"url": SLACK, "format": "json", "events": ["failed"], "headers": {"A": "b"}}}
    ),
    Case("no url", {"a": {"format": "json"}}, ["notify.a.url: Required value"]),
    Case(
        "unknown event",
        {"a": {"url": SLACK, "events": ["died"]}},
        [
            (
                'notify.a.events[0]: Unsupported value: "died": '
                'supported values: "started", "recovered", "succeeded", "failed", "hung", '
                '"idle-GPU", "budget"'
            ),
        ],
    ),
    Case(
        "misspelt",
        {"a": {"url": SLACK, "event": []}},
        ['notify.a.event: Unknown field: did you mean "events"?'],
    ),
    Case(
        "a file",
        {"a": {"url": "file:///etc/passwd"}},
        [
            (
                "notify.a.url: Forbidden: must be a URL that begins with https:// or http://, "
                "in plain ASCII"
            ),
        ],
    ),
    Case(
        "header",
        {"a": {"url": SLACK, "headers": {"A": "b\r\nC: d"}}},
        ["notify.a.headers.A: Forbidden: is not a header of HTTP in plain ASCII"],
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_what_is_wrong_with_the_settings(case: Case) -> None:
    path = ("notify",)
    found = list(check(SHAPE, case.section, path)) or list(errors(case.section, path))
    assert [str(error) for error in found] == case.wrong


def test_no_error_shows_a_url() -> None:
    section = {"a": {"url": "https://user:secret@example.org/secret"}}
    (error,) = errors(section, ("notify",))
    assert "secret" not in str(error)


@pytest.mark.parametrize(
    "url",
    [
        "https://",
        "https:///path",
        "https://a b",
        "https://h:port/",
        "https://h:99999/",
        "https://h:0/",
        "ftp://h/",
        "https://h/\u00e4",
        "https://h/\n",
        "x+https://h/",
        "https://u:p@h/",
        "https://" + "h" * 3000,
        "https://a..b/",
        "https://.h/",
        "https://" + "h" * 64 + ".org/",
        "",
    ],
)
def test_wrong_urls(url: str) -> None:
    assert url_error(url) != ""


@dataclass(frozen=True)
class Meaning:
    text: str
    url: str
    form: Form


@pytest.mark.parametrize(
    "case",
    [
        Meaning(SLACK, SLACK, Form.SLACK),
        Meaning("https://ntfy.sh/jobs", "https://ntfy.sh/jobs", Form.NTFY),
        Meaning("http://127.0.0.1:8080/hook", "http://127.0.0.1:8080/hook", Form.JSON),
        Meaning("ntfy+https://n.example.org/x", "https://n.example.org/x", Form.NTFY),
        Meaning("json+" + SLACK, SLACK, Form.JSON),
    ],
    ids=lambda case: case.text,
)
def test_what_a_url_means(case: Meaning) -> None:
    assert url_error(case.text) == ""
    target = target_of(case.text)
    assert (target.url, target.form) == (case.url, case.form)


def test_the_targets_of_the_settings() -> None:
    section = {
        "team": {"url": SLACK, "events": ["failed"]},
        "own": {"url": "https://example.org/", "format": "ntfy", "headers": {"X": "y"}},
    }
    assert targets_of(section) == [
        Target("team", SLACK, Form.SLACK, frozenset({Occasion.FAILED})),
        Target("own", "https://example.org/", Form.NTFY, ALL, {"X": "y"}),
    ]


def test_people_are_never_shown_the_path() -> None:
    assert target_of(SLACK).shown == "hooks.slack.com"
    assert targets_of({"team": {"url": SLACK}})[0].shown == "team"
