from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from trainway.cli.columns import unpainted
from trainway.cli.job_text import description, ending, hours, painter, progress_text, row
from trainway.json_types import Json

NOW = datetime(2026, 11, 15, 5, 15, tzinfo=UTC)


def job(phase: str = "Running", **status: Any) -> Json:
    return {
        "metadata": {"id": "i1", "name": "a", "creationTimestamp": "2026-11-15T05:10:00Z"},
        "spec": {"kind": "TrainJob", "backend": "local", "priority": 5, "workdir": "/w"},
        "status": {"phase": phase, "startTime": "2026-11-15T05:11:00Z", **status},
    }


def test_what_a_job_has_used_is_told_up_to_now() -> None:
    used = {"gpuHours": 1.5, "cpuHours": 0.0, "runningSince": NOW.isoformat(), "gpus": 4, "cpus": 2}
    later = NOW + timedelta(minutes=30)
    text = description(job(usage=used), [], later, paint=unpainted)
    assert ["Usage:", "3.50", "GPU-hours,", "1.00", "CPU-hours"] in map(
        str.split, text.splitlines()
    )
    assert (hours(0), hours(0.0123), hours(12.345)) == ("0.00", "0.0123", "12.35")


def test_a_row_says_how_it_stands() -> None:
    progress = {"progressPercentage": 45}
    cells = row(job(progress=progress, restarts=2, reason="Why", message="m\nn"), NOW, wide=True)
    assert cells == [
        "a", "i1", "TrainJob", "Running", "45 %", "2", "5m", "4m", "local", "default", "5", "",
        "Why", "m n",
    ]  # fmt: skip
    assert row(job(), NOW, wide=False) == ["a", "i1", "TrainJob", "Running", "", "0", "5m"]
    assert row(job("Queued", startTime=None), NOW, wide=True)[7] == ""


def test_a_description_says_all() -> None:
    nodes = [
        {"role": "node", "job": 0, "rank": 0, "phase": "Running", "ready": True},
        {"role": "node", "job": 1, "rank": 0, "phase": "Failed", "restarts": 3, "exitCode": 1},
    ]
    metrics = [{"name": "loss", "value": "0.5"}]
    progress = {"progressPercentage": 45, "estimatedRemainingSeconds": 31, "metrics": metrics}
    shown = job(
        "Failed", reason="R", message="M", nodes=nodes, progress=progress, queuePosition=3,
        completionTime="2026-11-15T05:12:30Z", outputDir="/o",
    )  # fmt: skip
    events = [
        {"time": "2026-11-15T05:10:00Z", "type": "Normal", "reason": f"E{n}", "message": "x\ny"}
        for n in range(12)
    ]
    text = description(shown, events, NOW, paint=unpainted)
    assert [line.split() for line in text.splitlines() if not line.startswith(("Cre", "St", "En"))][
        :12
    ] == [
        ["Name:", "a"],
        ["Id:", "i1"],
        ["Kind:", "TrainJob"],
        ["Backend:", "local"],
        ["Priority:", "5"],
        ["Phase:", "Failed"],
        ["Queue:", "position", "3"],
        ["Reason:", "R"],
        ["Message:", "M"],
        ["Progress:", "45", "%,", "0:31", "left,", "loss", "0.5"],
        ["Restarts:", "0"],
        ["Duration:", "1m30s"],
    ]
    assert "NODE      PHASE    READY  RESTARTS  EXIT\n" in text
    assert "node-0    Running  yes    0\n" in text
    assert "node-1-0  Failed   no     3         1\n" in text
    assert "(3m50s ago)" not in text
    assert "(2m30s ago)" in text
    assert " E1 " not in text
    assert " E11 " in text
    assert "x y" in text


def test_hosts_are_shown_where_there_are_several() -> None:
    nodes = [
        {"role": "node", "job": 0, "rank": 0, "phase": "Running", "ready": True, "host": "h0"},
        {"role": "node", "job": 0, "rank": 1, "phase": "Pending"},
    ]
    text = description(job("Running", nodes=nodes), [], NOW, paint=unpainted)
    assert "NODE    PHASE    READY  RESTARTS  EXIT  HOST\n" in text
    assert "node-0  Running  yes    0               h0\n" in text
    assert "node-1  Pending  no     0\n" in text


def test_what_a_node_suffers_is_shown_while_it_suffers() -> None:
    nodes = [
        {"role": "node", "job": 0, "rank": 0, "phase": "Running", "ready": True, "restarts": 1}
        | {"lastExitCode": 137, "lastReason": "OOMKilled"},
        {"role": "node", "job": 0, "rank": 1, "phase": "Pending"}
        | {"reason": "ImagePullBackOff", "message": "no such\nimage"},
    ]
    text = description(job("Running", nodes=nodes), [], NOW, paint=unpainted)
    assert "NODE    PHASE    READY  RESTARTS  EXIT      REASON            MESSAGE\n" in text
    assert "node-0  Running  yes    1         last 137  OOMKilled\n" in text
    assert "node-1  Pending  no     0                   ImagePullBackOff  no such image\n" in text


def test_phases_have_colours_on_a_terminal() -> None:
    assert painter(colourful=True)("PHASE", "Failed ") == "\x1b[31mFailed \x1b[0m"
    assert painter(colourful=True)("NAME", "Failed") == "Failed"
    assert painter(colourful=False)("PHASE", "Failed") == "Failed"


@pytest.mark.parametrize(
    ("progress", "text"),
    [
        (None, ""),
        ({"progressPercentage": 0}, "0 %"),
        ({"estimatedRemainingSeconds": 0}, "0:00 left"),
        ({"metrics": [{"name": "a", "value": "1"}]}, "a 1"),
    ],
)
def test_progress_is_what_was_reported(progress: Json | None, text: str) -> None:
    assert progress_text({"progress": progress}) == text


END = {"completionTime": "2026-11-15T05:12:30Z"}


@pytest.mark.parametrize(
    ("ended", "text"),
    [
        (job("Succeeded", message="m", **END), "a: Succeeded after 1m30s"),
        (job("Failed", reason="R", message="m", **END), "a: Failed after 1m30s: R: m"),
        (job("Cancelled", reason="Cancelled", message="m", startTime=None), "a: Cancelled: m"),
        (
            job("Failed", reason="R", failure={"summary": "node-1 exited with 3"}, startTime=None),
            "a: Failed: node-1 exited with 3",
        ),
    ],
)
def test_the_last_word(ended: Json, text: str) -> None:
    assert ending(ended) == text


def test_a_description_has_the_cause_of_each_attempt() -> None:
    ended = [
        {
            "attempt": 0,
            "reason": "NodeLost",
            "counts": False,
            "host": "h1",
            "cause": "h1\nwas lost",
        },
        {"attempt": 1, "reason": None, "counts": None, "host": None, "cause": "nobody knows"},
    ]
    text = description(
        job("Failed", cause="ExitCode", endedAttempts=ended), [], NOW, paint=unpainted
    )
    assert [line.split() for line in text.splitlines() if line.startswith("Cause:")] == [
        ["Cause:", "ExitCode"]
    ]
    assert (
        "ATTEMPT  CAUSE     COUNTS  HOST  MESSAGE\n1        NodeLost  no      h1    h1 was lost\n"
        in text
    )
    assert "2                                nobody knows\n" in text


def test_a_job_says_where_it_goes_on_and_what_it_avoids() -> None:
    avoided = [
        {"place": "ssh/lab", "until": "2026-11-15T05:16:00Z", "reason": "h1 was lost"},
        {"place": "slurm/hpc", "until": None, "reason": "it refuses"},
        {"place": "k8s/a", "until": "2026-11-15T05:14:00Z", "reason": "it is forgiven"},
    ]
    due = {
        "at": "2026-11-15T08:15:00Z", "workSeconds": 7200, "doneSeconds": 3600,
        "slackSeconds": 1800, "place": "sure",
    }  # fmt: skip
    found: Json = {"strategy": "failover", "places": ["ssh/lab", "local"], "avoided": avoided}
    found["deadline"] = due
    move = {"from": "ssh/lab", "to": "local", "step": "leaving", "at": "2026-11-15T05:16:00Z"}
    ended = [{"attempt": 0, "reason": "NodeLost", "place": "ssh/lab", "cause": "h1 was lost"}]
    shown = job(recovery=found, move=move, endedAttempts=ended)
    lines = [
        " ".join(line.split()) for line in description(shown, [], NOW, paint=unpainted).splitlines()
    ]
    assert "Recovery: failover (ssh/lab, local)" in lines
    assert any(line.startswith("Avoids: ssh/lab until") for line in lines)
    assert "Avoids: slurm/hpc: it refuses" in lines
    said = "in 3h: 1h of 2h done, 30m to spare; it should be at the sure place"
    assert f"Deadline: {said}" in lines
    assert not any("k8s/a" in line for line in lines)
    assert any("from ssh/lab to local (waits until" in line for line in lines)
    assert "ATTEMPT CAUSE COUNTS PLACE HOST MESSAGE" in lines


@pytest.mark.parametrize(("phase", "shown"), [("Succeeded", "Ended"), ("Failed", "Failed")])
def test_an_auxiliary_task_is_ended_with_a_group_that_succeeded(phase: str, shown: str) -> None:
    header = {"execution": "parallel", "primary_tasks": ["trainer"]}
    nodes = [
        {"role": "trainer", "job": 0, "rank": 0, "phase": phase},
        {"role": "replay", "job": 0, "rank": 0, "phase": "Failed", "exitCode": 143},
    ]
    job: Json = {
        "metadata": {"name": "rl", "id": "i1", "creationTimestamp": "2026-11-15T05:00:00Z"},
        "spec": {
            "kind": "Task",
            "backend": "local",
            "priority": 0,
            "objects": [{"kind": "Task", "spec": {"header": header}}],
        },
        "status": {"phase": phase, "restarts": 0, "nodes": nodes},
    }
    text = description(job, [], NOW, paint=unpainted)
    rows = [line.split()[:2] for line in text.splitlines() if line.startswith(("trainer", "repl"))]
    assert rows == [["trainer-0", phase], ["replay-0", shown]]
