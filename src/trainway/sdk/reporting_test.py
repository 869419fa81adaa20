import threading
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest

import trainway
from trainway.sdk import reporting
from trainway.sdk.reporting import TOKEN, URL, rank_of, status_of

NOW = datetime(2026, 11, 15, 5, tzinfo=UTC)


class Scalar:
    """As those of torch and numpy are."""

    def __float__(self) -> float:
        return 0.25


@dataclass(frozen=True)
class Case:
    id: str
    metrics: dict[str, Any]
    pairs: dict[str, str]
    step: Any = None
    epoch: float | None = None
    suffix: str = ""


@pytest.mark.parametrize(
    "case",
    [
        Case("all", {"loss": 0.5}, {"step": "3", "epoch": "0.5", "loss": "0.5"}, 3, 0.5),
        Case("numbers", {"a": 1, "b": Scalar(), "c": float("nan")},
             {"a": "1", "b": "0.25", "c": "nan"}),
        Case("what is no number", {"a": "x", "b": None, "c": [], "d": "1.5"}, {"d": "1.5"}),
        Case("another rank", {"a": 1.0, "b" * 70: 2.0}, {"a@3": "1.0", "b" * 62 + "@3": "2.0"},
             suffix="@3"),
    ],
    ids=lambda case: case.id,
)  # fmt: skip
def test_what_is_sent(case: Case) -> None:
    status = status_of(NOW, case.step, case.epoch, None, case.metrics, case.suffix)
    assert {pair["name"]: pair["value"] for pair in status["metrics"]} == case.pairs
    assert status["lastUpdatedTime"] == "2026-11-15T05:00:00+00:00"


@pytest.mark.parametrize(("progress", "sent"), [(-1, 0), (40.7, 40), (101, 100)])
def test_progress_is_a_percentage(progress: float, sent: int) -> None:
    status = status_of(NOW, None, None, progress, {})
    assert status == {"lastUpdatedTime": "2026-11-15T05:00:00+00:00", "progressPercentage": sent}


def test_a_report_is_no_larger_than_the_endpoint_takes() -> None:
    metrics = {f"m{number}": 1.0 for number in range(300)}
    assert len(status_of(NOW, 1, None, None, metrics)["metrics"]) == 256


def test_the_rank_is_the_first_that_is_named() -> None:
    assert rank_of({}) == rank_of({"RANK": "x", "TRAINWAY_RANK": "3"}) == 0
    assert rank_of({"RANK": "2", "TRAINWAY_RANK": "1"}) == 2
    assert rank_of({"RANK": "", "TRAINWAY_RANK": "1"}) == 1


def test_outside_of_a_job_nothing_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(URL, raising=False)
    before = threading.active_count()
    trainway.report(step=1, loss=0.5)
    assert threading.active_count() == before


def test_a_link_that_cannot_be_taken_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    trainway.link("wandb", "javascript:x")
    said = "trainway.link: the link wandb must begin with https:// or http://\n"
    assert capsys.readouterr().err == said


def test_how_long_the_rest_takes_is_sent_along(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[dict[str, Any]] = []
    monkeypatch.setenv(URL, "https://127.0.0.1:1/x")
    monkeypatch.setenv(TOKEN, "/nowhere")
    monkeypatch.delenv("RANK", raising=False)
    monkeypatch.setattr(reporting, "register_stacks", lambda: None)
    monkeypatch.setattr(reporting._sender, "put", sent.append)
    trainway.report(step=1, remaining_seconds=90.7, loss=0.5)
    trainway.report(step=2, loss=0.5)
    assert sent[0]["estimatedRemainingSeconds"] == 90
    assert "estimatedRemainingSeconds" not in sent[1]
