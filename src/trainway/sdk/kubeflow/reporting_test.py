import atexit
import time
from typing import Any

import pytest

from trainway.json_types import Json
from trainway.sdk.kubeflow import reporting


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[Json]:
    """What was sent, by a reporter of its own."""
    found: list[Json] = []
    reporter = reporting._Reporter()

    def send(status: Json) -> bool:
        reporter._last = time.monotonic()
        found.append({key: status[key] for key in status if key != "lastUpdatedTime"})
        return True

    monkeypatch.setattr(reporter, "_send", send)
    monkeypatch.setattr(reporting, "_reporter", reporter)
    monkeypatch.setattr(atexit, "register", at_exit.append)
    monkeypatch.setenv("KUBEFLOW_TRAINER_SERVER_URL", "https://localhost:1/x")
    monkeypatch.setenv("KUBEFLOW_TRAINER_SERVER_TOKEN", "/token")
    at_exit.clear()
    return found


at_exit: list[Any] = []


def end_process() -> None:
    for function in at_exit:
        function()


def test_what_was_held_back_last_is_sent_at_the_end(sent: list[Json]) -> None:
    assert reporting.update_trainjob_status(20)
    assert not reporting.update_trainjob_status(60)
    assert not reporting.update_trainjob_status(90, metrics={"loss": 0.5})
    assert sent == [{"progressPercentage": 20}]
    end_process()
    end_process()
    assert sent[1:] == [{"progressPercentage": 90, "metrics": [{"name": "loss", "value": "0.5"}]}]
    assert len(at_exit) == 1


def test_the_whole_is_sent_at_once_and_nothing_after_it(sent: list[Json]) -> None:
    reporting.update_trainjob_status(20)
    reporting.update_trainjob_status(60)
    assert reporting.update_trainjob_status(100)
    end_process()
    assert [status["progressPercentage"] for status in sent] == [20, 100]


def test_a_report_that_cannot_be_sent_at_the_end_hurts_nobody(
    sent: list[Json], monkeypatch: pytest.MonkeyPatch
) -> None:
    reporting.update_trainjob_status(20)
    reporting.update_trainjob_status(60)
    monkeypatch.setenv("KUBEFLOW_TRAINER_SERVER_TOKEN", "/no/such/file")
    monkeypatch.delattr(reporting._reporter, "_send")
    end_process()
    assert len(sent) == 1
