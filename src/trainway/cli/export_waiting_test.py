from typing import Any, cast

import pytest

from trainway.cli.export_waiting import FAILED, wait_for_export
from trainway.json_types import Json
from trainway.sdk.rest import Rest

URI = "s3://b/run"


def job(state: str, **more: Any) -> Json:
    export = {"uri": URI, "state": state, **more}
    return {"metadata": {"id": "1"}, "status": {"outputDir": "/out", "export": export}}


class Server:
    """Gives the job as it is next."""

    def __init__(self, *jobs: Json) -> None:
        self.jobs = list(jobs)

    def get(self, _ref: str) -> Json:
        return self.jobs.pop(0)


def waited(*jobs: Json) -> int:
    rest = cast("Rest", Server(*jobs[1:]))
    return wait_for_export(rest, jobs[0], lambda _seconds: None)


def test_an_export_that_is_done_ends_well(capsys: pytest.CaptureFixture[str]) -> None:
    found = waited(
        job("Waiting"), job("Uploading"), job("Waiting", message="busy"), job("Done", files=1)
    )

    assert found == 0
    assert capsys.readouterr().err.splitlines() == [
        f"the output is being sent to {URI}",
        f"the output is being sent to {URI}: busy; trying again",
        f"1 file of the output is in {URI}",
    ]


def test_an_export_that_failed_is_told_apart_from_the_job(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert waited(job("Uploading"), job("Failed", message="denied")) == FAILED
    said = capsys.readouterr().err
    assert f"error: the output is not in {URI}: denied" in said
    assert "the job succeeded" in said


def test_a_job_without_one_is_not_waited_for() -> None:
    assert waited({"metadata": {"id": "1"}, "status": {}}) == 0
