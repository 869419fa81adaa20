import json
import socketserver
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from trainway.agent.slurm.relay.queue_states import parse
from trainway.agent.slurm.relay.rest_query import UntoldError, lines, main
from trainway.json_types import Json

OLD: Json = {
    "job_id": 12,
    "array_job_id": 0,
    "array_task_id": None,
    "het_job_id": 0,
    "het_job_offset": 0,
    "job_state": "PENDING",
    "state_reason": "Resources",
    "partition": "main",
    "priority": 7,
    "nodes": "",
    "comment": "trainway:a1",
    "user_name": "me",
    "user_id": 1000,
}
NEW: Json = {
    **OLD,
    "array_job_id": {"set": True, "infinite": False, "number": 0},
    "array_task_id": {"set": False, "infinite": False, "number": 0},
    "het_job_id": {"set": True, "number": 0},
    "het_job_offset": {"set": True, "number": 0},
    "priority": {"set": True, "infinite": False, "number": 7},
    "job_state": ["PENDING"],
}


@pytest.mark.parametrize("job", [OLD, NEW], ids=["before 23.11", "from 23.11 on"])
def test_both_forms_say_the_same(job: Json) -> None:
    (state,) = parse("\n".join(lines({"jobs": [job]}, "me"))).values()
    assert (state.job, state.state, state.reason) == ("12", "PENDING", "Resources")
    assert (state.partition, state.priority, state.owner) == ("main", 7, "a1")


def test_jobs_of_others_are_left_out() -> None:
    assert lines({"jobs": [OLD]}, "you") == []
    assert len(lines({"jobs": [OLD]}, "1000")) == 1


def test_arrays_and_components_have_their_numbers() -> None:
    array = {**OLD, "array_job_id": 7, "array_task_id": 0}
    component = {**OLD, "het_job_id": 9, "het_job_offset": 1}
    completing = {**OLD, "job_state": ["COMPLETED", "COMPLETING"]}
    found = parse("\n".join(lines({"jobs": [array, component, completing]}, "me")))
    assert found["7_0"].bare == "12"
    assert {job: state.state for job, state in found.items()} == {
        "7_0": "PENDING",
        "9": "PENDING",
        "12": "COMPLETING",
    }


def waiting(ranks: str, **fields: Any) -> list[str]:
    """The numbers of an array that is told as one job."""
    job = {**OLD, "array_job_id": 7, "array_task_string": ranks, **fields}
    return list(parse("\n".join(lines({"jobs": [job]}, "me"))))


def test_jobs_of_an_array_that_wait_are_told_as_one() -> None:
    assert waiting("0-2,5%4") == ["7_0", "7_1", "7_2", "7_5"]
    with pytest.raises(UntoldError):
        waiting("0,2,4,...")
    assert waiting("0,2,4,...", comment="of somebody") == []


class Handler(BaseHTTPRequestHandler):
    """A slurmrestd of one answer."""

    def do_GET(self) -> None:
        known = self.headers["X-SLURM-USER-TOKEN"] == "secret"
        jobs = (
            {"jobs": [OLD]} if known else {"errors": [{"error": "Protocol authentication error"}]}
        )
        data = json.dumps(jobs).encode()
        self.send_response(200 if known else 500)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its parent's
        """Say nothing."""


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    path = str(tmp_path / "rest.sock")
    with socketserver.UnixStreamServer(path, Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield f"unix:{path}"
        server.shutdown()
        thread.join()


def test_the_queue_is_printed(
    url: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SLURM_JWT", "secret")
    assert main([url, "me"]) == 0
    assert list(parse(capfd.readouterr().out)) == ["12"]


def test_a_wrong_token_is_said(
    url: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SLURM_JWT", "wrong")
    assert main([url, "me"]) == 1
    assert "Protocol authentication error" in capfd.readouterr().err


def test_nobody_there(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main([f"unix:{tmp_path}/none", "me"]) == 1
    assert "No such file" in capfd.readouterr().err
