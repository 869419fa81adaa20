"""The literal requests of notifications."""

import json
from dataclasses import dataclass

import pytest

from trainway.notify.message import TEST, HttpRequest, Notice, request
from trainway.notify.targets import Form, Target

JOB = {"id": "34zveh7qtspv", "name": "train", "backend": "ssh/lab", "restarts": 1}
FAILED = Notice("failed", "2026-11-15T05:00:00Z", JOB, "node-1 exited with 7 <&>")
HANG = {"node": "node-1", "since": "2026-11-15T04:30:00Z", "outcome": "was restarted"}
WHERE = "node-1, silent since 2026-11-15T04:30:00Z: it is in stuck (train.py:3)"
HUNG = Notice("hung", "2026-11-15T05:00:00Z", {**JOB, "hang": HANG}, WHERE)
URL = "https://example.org/hook"


@dataclass(frozen=True)
class Case:
    notice: Notice
    text: str


@pytest.mark.parametrize(
    "case",
    [
        Case(FAILED, "train failed on ssh/lab: node-1 exited with 7 <&>"),
        Case(Notice("failed", "", JOB), "train failed on ssh/lab"),
        Case(Notice("started", "", JOB), "train started on ssh/lab"),
        Case(Notice("recovered", "", JOB), "train runs again on ssh/lab after 1 restart"),
        Case(Notice("succeeded", "", JOB), "train succeeded on ssh/lab"),
        Case(HUNG, f"train hung on ssh/lab and was restarted: {WHERE}"),
        Case(Notice(TEST, "", {}), "This is a test of the notifications of Trainway."),
    ],
    ids=lambda case: case.notice.event,
)
def test_texts(case: Case) -> None:
    assert case.notice.text == case.text


def test_a_text_is_bounded() -> None:
    text = Notice("failed", "", JOB, "x" * 100_000).text
    assert len(text) == 2000
    assert text.endswith("x...")


def test_json() -> None:
    sent = request(Target("t", URL, Form.JSON, headers={"Authorization": "Bearer a"}), FAILED)
    assert sent.url == URL
    assert sent.headers == {
        "User-Agent": "trainway",
        "Content-Type": "application/json",
        "Authorization": "Bearer a",
    }
    assert json.loads(sent.body) == {
        "event": "failed",
        "time": "2026-11-15T05:00:00Z",
        "text": "train failed on ssh/lab: node-1 exited with 7 <&>",
        "job": JOB,
    }


def test_slack() -> None:
    sent = request(Target("t", URL, Form.SLACK), FAILED)
    text = "train failed on ssh/lab: node-1 exited with 7 &lt;&amp;&gt;"
    assert json.loads(sent.body) == {"text": text}


def test_ntfy() -> None:
    assert request(Target("t", URL, Form.NTFY), FAILED) == HttpRequest(
        URL,
        {
            "User-Agent": "trainway",
            "Content-Type": "text/plain; charset=utf-8",
            "Title": "train: failed",
            "Priority": "high",
            "Tags": "x",
        },
        b"train failed on ssh/lab: node-1 exited with 7 <&>",
    )


@pytest.mark.parametrize(
    ("form", "headers", "body"),
    [
        (
            Form.JSON,
            {"Content-Type": "application/json"},
            (
                b'{"event": "hung", "time": "2026-11-15T05:00:00Z", '
                b'"text": "train hung on ssh/lab and was restarted: node-1, silent since '
                b'2026-11-15T04:30:00Z: it is in stuck (train.py:3)", '
                b'"job": {"id": "34zveh7qtspv", "name": "train", "backend": "ssh/lab", '
                b'"restarts": 1, "hang": {"node": "node-1", "since": "2026-11-15T04:30:00Z", '
                b'"outcome": "was restarted"}}}'
            ),
        ),
        (
            Form.SLACK,
            {"Content-Type": "application/json"},
            (
                b'{"text": "train hung on ssh/lab and was restarted: node-1, silent since '
                b'2026-11-15T04:30:00Z: it is in stuck (train.py:3)"}'
            ),
        ),
        (
            Form.NTFY,
            {
                "Content-Type": "text/plain; charset=utf-8",
                "Title": "train: hung",
                "Priority": "high",
                "Tags": "hourglass",
            },
            (
                b"train hung on ssh/lab and was restarted: node-1, silent since "
                b"2026-11-15T04:30:00Z: it is in stuck (train.py:3)"
            ),
        ),
    ],
    ids=["json", "slack", "ntfy"],
)
def test_a_hang_is_told_in_every_form(form: Form, headers: dict[str, str], body: bytes) -> None:
    sent = request(Target("t", URL, form), HUNG)
    assert sent == HttpRequest(URL, {"User-Agent": "trainway", **headers}, body)


def test_a_title_of_ntfy_is_one_line_of_ascii() -> None:
    job = {**JOB, "name": "\u00fcben\nX-Evil: 1"}
    title = request(Target("t", URL, Form.NTFY), Notice("started", "", job)).headers["Title"]
    assert title.isascii()
    assert "\n" not in title
