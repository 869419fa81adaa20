"""`trainway queues` and `trainway jobs set`, with a server that writes down what it is asked."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from trainway.cli.app import app
from trainway.cli.commands import queues
from trainway.cli.commands.jobs import setting
from trainway.errors import UsageError
from trainway.json_types import Json
from trainway.sdk.queue_rest import QueueRest
from trainway.sdk.queues import Queues
from trainway.sdk.transport_testing import AskedTransport

_WAITING = {
    "id": "i1", "name": "big", "position": 1, "priority": 5, "user": "ada", "backend": "local",
    "phase": "Queued", "reason": "QuotaReached", "message": "Queue team uses 8 of its 8 GPUs.",
    "creationTimestamp": "2026-11-17T00:00:00Z",
}  # fmt: skip


class _Transport(AskedTransport):
    """Answers with the one queue there is."""

    def answer(self, path: str) -> Json:
        one: Json = {
            "metadata": {"name": "team", "creationTimestamp": "2026-11-17T00:00:00Z"},
            "spec": {"quota": {"gpu": 8, "jobs": 2}, "cohort": "lab", "gpuHoursPerMonth": 100},
            "status": {
                "state": "Paused", "running": 1, "waiting": 1, "gpuHoursUsed": 12.5,
                "used": {"cpu": "4", "gpu": 8, "jobs": 1, "memory": "1Gi"}, "jobs": [_WAITING],
            },
        }  # fmt: skip
        if path == "/managed-queues":
            return {"items": [one]}
        if path.startswith("/jobs"):
            return {"metadata": {"name": "big"}, "spec": {"priority": 7, "queue": "team"}}
        return one


@pytest.fixture
def transport(monkeypatch: pytest.MonkeyPatch) -> _Transport:
    made = _Transport()
    rest = QueueRest(made)
    monkeypatch.setattr(queues, "_connected", lambda: rest)
    monkeypatch.setattr(setting, "connect", lambda: rest)
    return made


def invoke(*words: str) -> Result:
    return CliRunner().invoke(app, list(words), prog_name="trainway")


def test_list_and_show_tell_how_queues_stand(transport: _Transport) -> None:
    lines = [line.split() for line in invoke("queues", "list").output.splitlines()]
    assert lines[1] == ["team", "Paused", "1/2", "1", "4", "1Gi", "8/8", "lab"]
    assert invoke("queues", "list", "-o", "name").output == "team\n"
    shown = invoke("queues", "show", "team").output
    assert "GPU-hours:    12.5 this month of 100\n" in shown
    assert "QuotaReached: Queue team uses 8 of its 8 GPUs." in shown
    assert shown.splitlines()[-1].split()[:5] == ["1", "big", "i1", "5", "ada"]
    assert transport.asked[-1] == ("GET", "/queues/team")


@pytest.mark.parametrize("option", [["-f"], []])
def test_apply_sends_each_queue_of_a_file(
    transport: _Transport, tmp_path: Path, option: list[str]
) -> None:
    file = tmp_path / "q.yaml"
    file.write_text(
        "apiVersion: trainway.dev/v1\nkind: Queue\nmetadata: {name: team}\n"
        "---\napiVersion: trainway.dev/v1\nkind: Queue\nmetadata: {name: other}\n"
    )
    result = invoke("queues", "apply", *option, str(file))
    assert result.output == "team changed\nteam changed\n"  # what the server says it is called
    assert transport.asked[-2:] == [("PUT", "/queues/team"), ("PUT", "/queues/other")]
    assert transport.body["metadata"] == {"name": "other"}


def test_a_file_that_is_no_queue_is_named(
    transport: _Transport, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def refuse(rest: QueueRest, queue: Json) -> Json:
        raise UsageError("it is missing", field="metadata")

    monkeypatch.setattr(QueueRest, "apply_queue", refuse)
    file = tmp_path / "pod.yaml"
    file.write_text("kind: Pod\n")
    result = invoke("queues", "apply", "-f", str(file))
    assert (result.exit_code, result.stderr) == (2, f"{file}: metadata: it is missing\n")


@pytest.mark.parametrize(
    ("verb", "asked", "said"),
    [
        ("pause", ("POST", "/queues/team/pause"), "team paused\n"),
        ("resume", ("POST", "/queues/team/resume"), "team resumed\n"),
        ("drain", ("POST", "/queues/team/drain"), "team takes in no more jobs\n"),
        ("delete", ("DELETE", "/queues/team"), "team deleted\n"),
    ],
)
def test_what_can_be_done_with_a_queue(
    transport: _Transport, verb: str, asked: tuple[str, str], said: str
) -> None:
    assert invoke("queues", verb, "team").output == said
    assert transport.asked == [asked]


def test_a_job_is_set(transport: _Transport) -> None:
    result = invoke("jobs", "set", "big", "--priority", "7", "--queue", "team")
    assert result.output == "big has priority 7 in queue team\n"
    assert transport.body == {"priority": 7, "queue": "team"}
    assert invoke("jobs", "set", "big").exit_code == 2
    assert invoke("jobs", "set", "big", "--priority", "1001").exit_code == 2


def test_a_program_has_the_same(transport: _Transport) -> None:
    rest = QueueRest(transport)
    found = Queues(rest)
    (queue,) = found.list()
    assert (queue.name, queue.state, queue.used["gpu"]) == ("team", "Paused", 8)
    found.apply("team", quota={"gpu": 8})
    assert transport.body["spec"] == {"quota": {"gpu": 8}}
    for change in (queue.pause, queue.resume, queue.drain, queue.delete, queue.refresh):
        change()
    assert [path for _, path in transport.asked[-5:]] == [
        "/queues/team/pause", "/queues/team/resume", "/queues/team/drain", "/queues/team",
        "/queues/team",
    ]  # fmt: skip
    found.set_job("big", priority=1)
    assert transport.body == {"priority": 1}
