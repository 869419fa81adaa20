"""The API of the server, with real jobs."""

import json
import os
import stat
import time
from pathlib import Path
from typing import Any

import pytest

from trainway.engine.testing import WAIT_FOR_FILE, jobset
from trainway.server.testing import LIMIT_S, RunningServer


def test_a_job_from_submit_to_delete(server: RunningServer) -> None:
    body = {"objects": [jobset("whole", "echo hello", pods=2)], "options": {"labels": {"a": "b"}}}
    answer = server.request("POST", "/jobs", body)
    assert answer.status == 201
    assert answer.body["warnings"] == [
        "runs with this machine's own programs: the image busybox is not used"
    ]
    job = server.wait(answer.body["job"]["metadata"]["id"])
    assert job["metadata"]["labels"] == {"a": "b"}
    assert job["spec"]["objects"] == body["objects"]
    status = job["status"]
    assert (status["phase"], status["exitCode"], status["reason"]) == (
        "Succeeded", 0, "AllJobsCompleted",
    )  # fmt: skip
    assert status["jobSet"]["replicatedJobsStatus"][0]["succeeded"] == 1
    assert [(node["rank"], node["phase"]) for node in status["nodes"]] == [
        (0, "Succeeded"), (1, "Succeeded"),
    ]  # fmt: skip
    assert status["startTime"] <= status["completionTime"]
    (attempt,) = status["usage"]["attempts"]
    assert attempt["attempt"] == 0
    assert server.lines("whole") == ["hello", "hello"]
    assert server.request("GET", "/jobs/whole/size").body["bytes"] > 0
    assert server.request("DELETE", "/jobs/whole").status == 200
    assert not Path(status["jobDir"]).exists()
    assert server.error("GET", "/jobs/whole")[0] == 404


def test_jobs_are_found_by_what_they_are(server: RunningServer) -> None:
    for name, labels in (("a", {"crew": "nlp"}), ("b", {"crew": "vision"}), ("c", {})):
        server.submit(jobset(name, "exit 1" if name == "b" else "true"), labels=labels)
    for name in "abc":
        server.wait(name)

    def found(query: str) -> list[str]:
        items = server.request("GET", f"/jobs?fields=summary&{query}").body["items"]
        return [item["metadata"]["name"] for item in items]

    assert found("label=crew") == ["b", "a"]
    assert found("label=crew%3Dnlp") == ["a"]
    assert found("label=crew&phase=failed,cancelled&since=1h") == ["b"]
    assert found("metric=unheard%3C0.3") == []
    assert found("since=2199-01-01") == []


def test_hours_are_added_up(server: RunningServer) -> None:
    before = server.request("GET", "/usage").body["total"]
    for name, team in (("one", "nlp"), ("two", "nlp"), ("three", "vision")):
        job = jobset(name, "sleep 0.3")
        pod = job["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
        pod["containers"][0]["resources"] = {"requests": {"cpu": "100m"}}
        server.submit(job, labels={"squad": team})
    hours = [server.wait(name)["status"]["usage"]["cpuHours"] for name in ("one", "two", "three")]
    assert min(hours) > 0
    found = server.request("GET", "/usage?by=label&key=squad").body
    told = {item["name"]: (item["jobs"], item["cpuHours"]) for item in found["items"]}
    assert told.keys() - {""} == {"nlp", "vision"}
    assert told["nlp"] == (2, pytest.approx(hours[0] + hours[1], abs=1e-7))
    assert found["total"]["jobs"] == before["jobs"] + 3
    assert found["total"]["gpuHours"] == before["gpuHours"]
    assert server.request("GET", "/usage?since=2199-01-01").body["total"]["jobs"] == 0
    for query, field in (("by=moon", "by"), ("by=label", "key"), ("key=squad", "key")):
        assert server.error("GET", f"/usage?{query}")[1]["field"] == field


def test_a_job_that_fails_says_how(server: RunningServer) -> None:
    server.submit(jobset("bad", "exit 7"))
    status = server.wait("bad")["status"]
    assert (status["phase"], status["exitCode"]) == ("Failed", 7)
    assert status["reason"] == "FailedJobs"


def test_every_way_to_be_refused(server: RunningServer) -> None:
    invalid = jobset("Bad_Name")
    status, error = server.error("POST", "/jobs", {"objects": [invalid]})
    assert (status, error["code"]) == (422, "invalid")
    lines = server.request("POST", "/jobs", {"objects": [invalid]}).body["errors"]
    assert lines
    assert all(line.startswith("JobSet/Bad_Name: ") for line in lines)
    assert server.error("POST", "/jobs", {"objects": []})[1]["message"] == (
        "there is no job among the objects, only nothing"
    )
    two = {"objects": [jobset("a"), jobset("b")]}
    assert "JobSet/a, JobSet/b" in server.error("POST", "/jobs", two)[1]["message"]
    where = {"objects": [jobset("a")], "options": {"workdir": "/no/such/place"}}
    assert server.error("POST", "/jobs", where)[1]["field"] == "options.workdir"
    moon = {"objects": [jobset("a")], "options": {"backend": "moon"}}
    assert server.error("POST", "/jobs", moon)[0] == 404
    typo = {"objects": [jobset("a")], "options": {"prioritty": 1}}
    assert server.error("POST", "/jobs", typo)[1]["field"] == "options.prioritty"
    assert server.error("POST", "/jobs", "nonsense")[0] == 422
    for number in (0, -1, 1_001, "many"):
        several = {"objects": [jobset()], "options": {"num_jobs": number}}
        assert server.error("POST", "/jobs", several)[1]["field"] == "options.num_jobs"
    assert server.error("GET", "/no/such/path")[0] == 404
    assert server.error("PUT", "/jobs")[0] == 405
    assert server.error("GET", "/jobs?phase=Happy")[1]["field"] == "phase"
    assert server.error("GET", "/jobs?label=a&label=no%20label")[1]["field"] == "label"
    assert server.error("GET", "/jobs?metric=loss")[1]["field"] == "metric"
    assert server.error("GET", "/jobs?since=soon")[1]["field"] == "since"
    labels = {"objects": [jobset("a")], "options": {"labels": {"team": "n l p"}}}
    assert server.error("POST", "/jobs", labels)[1]["field"] == "options.labels"
    assert server.error("GET", "/jobs/none/logs")[0] == 404
    assert server.error("GET", "/jobs/none/watch")[0] == 404


def test_the_value_of_a_function_can_be_asked_for(server: RunningServer) -> None:
    value = '{"encoding": "json", "value": [1, null]}'
    write = f"cd $TRAINWAY_OUTPUT_DIR; mkdir .trainway; echo '{value}' > .trainway/result.json"
    for name, command in (("valued", write), ("plain", "true")):
        server.request("POST", "/jobs", {"objects": [jobset(name, command)]})
        server.wait(name)
    answer = server.request("GET", "/jobs/valued/result")
    assert (answer.status, answer.body) == (200, {"encoding": "json", "value": [1, None]})
    status, error = server.error("GET", "/jobs/plain/result")
    assert (status, error["message"]) == (404, "plain did not leave the value of a function")


def _runs(node: dict[str, Any]) -> bool:
    return bool(node["phase"] == "Running")


def test_where_a_process_of_a_job_is(server: RunningServer, tmp_path: Path) -> None:
    go = tmp_path / "go"
    server.submit(jobset("placed", WAIT_FOR_FILE.format(go), pods=2))
    server.wait("placed", lambda job: all(_runs(node) for node in job["status"]["nodes"]))
    place = server.request("GET", "/jobs/placed/pod?rank=1").body
    assert (place["pod"], place["containers"]) == ("node-0-1", ["main"])
    environ = environ_of(place["processes"]["main"])
    assert b"TRAINWAY_RANK=1" in environ
    assert f"TRAINWAY_JOB_ID={place['job']}".encode() in environ
    assert server.request("GET", "/jobs/placed/pod?rank=1&verb=shell").body == place
    assert server.error("GET", "/jobs/placed/pod?role=x")[0] == 409
    go.touch()
    server.wait("placed")
    assert server.error("GET", "/jobs/placed/pod")[1]["message"] == "placed has ended"
    assert server.error("GET", "/jobs/none/pod")[0] == 404


def environ_of(pid: int) -> list[bytes]:
    """The variables of a process; the kernel shows none while it replaces the program."""
    deadline = time.monotonic() + LIMIT_S
    while not (environ := Path(f"/proc/{pid}/environ").read_bytes()):
        assert time.monotonic() < deadline, "it has no variables"
        time.sleep(0.01)
    return environ.split(b"\0")


def test_values_of_secrets_are_not_shown(server: RunningServer) -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}}
    secret |= {"stringData": {"token": "hidden-value"}}
    reader = jobset("reader", "echo $TOKEN > $TRAINWAY_OUTPUT_DIR/seen")
    pod = reader["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    pod["containers"][0]["env"] = [
        {"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "s", "key": "token"}}}
    ]
    server.submit(secret, reader, environ={"PATH": os.environ["PATH"], "MINE": "hidden-value"})
    job = server.wait("reader")
    assert Path(job["status"]["outputDir"], "seen").read_text() == "hidden-value\n"
    assert "hidden-value" not in json.dumps(job)
    events = server.request("GET", "/jobs/reader/events").body
    assert "hidden-value" not in json.dumps(events)
    assert "hidden-value" not in (server.home / "server.log").read_text()


def test_several_jobs_are_one_request(server: RunningServer) -> None:
    body = {"objects": [jobset("many", "echo $TRAINWAY_JOB_RANK")], "options": {"num_jobs": 3}}
    key = {"Idempotency-Key": "several"}
    first, again = (server.request("POST", "/jobs", body, key).body for _ in range(2))
    ids = [job["metadata"]["id"] for job in first["jobs"]]
    assert [job["metadata"]["id"] for job in again["jobs"]] == ids
    assert first["job"]["metadata"]["id"] == ids[0]
    assert [job["metadata"]["name"] for job in first["jobs"]] == ["many-0", "many-1", "many-2"]
    for job_id in ids:
        assert server.wait(job_id)["status"]["phase"] == "Succeeded"


def test_what_would_be_done_is_told_and_not_done(server: RunningServer) -> None:
    answer = server.request("POST", "/plans", {"objects": [jobset("planned")]})
    assert answer.status == 200, answer.body
    assert json.loads(answer.body["request"])["name"] == "planned"
    assert "planned" not in [job["metadata"]["name"] for job in server.jobs()]


def test_a_job_can_be_run_again(server: RunningServer) -> None:
    first = server.submit(jobset("again", "echo once"), priority=3)
    server.wait("again")
    second = server.request("POST", "/jobs/again/rerun").body
    assert second["metadata"]["id"] != first["metadata"]["id"]
    assert (second["metadata"]["name"], second["spec"]["priority"]) == ("again", 3)
    assert server.wait(second["metadata"]["id"])["status"]["phase"] == "Succeeded"
    assert server.get("again")["metadata"]["id"] == second["metadata"]["id"]


def test_events_are_a_list_or_a_stream_that_resumes(server: RunningServer) -> None:
    server.submit(jobset("eventful"))
    streamed = list(server.stream("/jobs/eventful/events"))
    assert streamed[-1].event == "end"
    listed = server.request("GET", "/jobs/eventful/events").body["items"]
    assert [event.data for event in streamed[:-1]] == listed
    assert [item["seq"] for item in listed] == list(range(1, len(listed) + 1))
    assert {"Created", "Starting", "Succeeded"} <= {item["reason"] for item in listed}
    rest = list(server.stream("/jobs/eventful/events", last_id=streamed[1].id))
    assert [event.data for event in rest[:-1]] == listed[2:]
    after = server.request("GET", "/jobs/eventful/events?after=2").body["items"]
    assert after == listed[2:]


def test_a_stream_of_logs_resumes_behind_every_line(server: RunningServer, tmp_path: Path) -> None:
    go = tmp_path / "go"
    command = f"for i in 1 2 3; do echo $JOB_COMPLETION_INDEX.$i; {WAIT_FOR_FILE.format(go)}; done"
    server.submit(jobset("chatty", command, pods=2))
    seen, last = [], ""
    for event in server.stream("/jobs/chatty/logs?follow=true"):
        seen.append(event.data["text"])
        last = event.id
        if len(seen) == 2:
            break
    go.touch()
    rest = server.stream("/jobs/chatty/logs?follow=true", last_id=last)
    seen += [event.data["text"] for event in rest if event.event == "log"]
    assert sorted(seen) == [f"{pod}.{line}" for pod in (0, 1) for line in (1, 2, 3)]
    assert len(server.lines("chatty", "?tail=3")) == 3
    assert server.lines("chatty", "?role=node&rank=1") == ["1.1", "1.2", "1.3"]
    assert server.lines("chatty", "?since=1h") == server.lines("chatty")
    assert server.lines("chatty", "?since=2100-01-01T00:00:00Z") == []
    assert server.error("GET", "/jobs/chatty/logs?since=soon")[1]["field"] == "since"


def test_a_stream_goes_on_behind_a_cursor_and_nothing_else(server: RunningServer) -> None:
    server.submit(jobset("whence", "echo hello"))
    server.wait("whence")
    for last in ("abc", "x", "-1", "9999", "9" * 99, "hello there"):
        headers = {"Accept": "text/event-stream", "Last-Event-ID": last}
        for path, message in (
            ("logs", f"not a position in a log: {last[:40]!r}"),
            ("events", f"whence has no such event: {last[:40]!r}"),
        ):
            status, error = server.error("GET", f"/jobs/whence/{path}", headers=headers)
            assert (status, error["code"], error["field"]) == (400, "usage", "Last-Event-ID")
            assert error["message"] == message
    assert server.error("GET", f"/jobs/whence/events?after={2**31}")[0] == 422


def test_odd_bytes_in_logs_are_escaped(server: RunningServer) -> None:
    server.submit(jobset("odd", r"printf 'gr\303\274n\n\377\376\n'; printf 'no newline'"))
    server.wait("odd")
    assert server.lines("odd") == ["grün", r"\xff\xfe", "no newline"]


def test_only_the_newest_attempt_is_shown_unless_all_are_asked_for(server: RunningServer) -> None:
    restarts = {"failurePolicy": {"maxRestarts": 1}}
    server.submit(jobset("retry", "echo $TRAINWAY_RESTART_ATTEMPT; exit 1", spec=restarts))
    status = server.wait("retry")["status"]
    assert (status["phase"], status["restarts"], status["attempt"]) == ("Failed", 1, 1)
    assert server.lines("retry") == ["1"]
    assert server.lines("retry", "?all_attempts=true") == ["0", "1"]


def test_pages_and_filters(server: RunningServer) -> None:
    for _ in range(3):
        server.submit(jobset("paged"))
    server.wait("paged")
    first = server.request("GET", "/jobs?name=paged&limit=2").body
    rest = server.request("GET", f"/jobs?name=paged&limit=2&cursor={first['cursor']}").body
    ids = [job["metadata"]["id"] for job in (*first["items"], *rest["items"])]
    assert ids == sorted(ids, reverse=True)
    assert len(ids) == 3
    assert rest["cursor"] is None
    assert "objects" in first["items"][0]["spec"]
    summary = server.request("GET", "/jobs?name=paged&fields=summary").body["items"][0]
    assert "objects" not in summary["spec"]
    assert summary["status"]["phase"] in ("Succeeded", "Running", "Starting")
    phases = {
        job["status"]["phase"] for job in server.request("GET", "/jobs?active=false").body["items"]
    }
    assert phases <= {"Succeeded", "Failed", "Cancelled"}


def test_progress_can_be_reported_and_read(server: RunningServer, tmp_path: Path) -> None:
    go = tmp_path / "go"
    server.submit(jobset("slow", WAIT_FOR_FILE.format(go)))
    assert server.request("GET", "/jobs/slow/progress").body == {"trainerStatus": None}
    told = {
        "progressPercentage": 45,
        "metrics": [{"name": "loss", "value": "0.15"}],
        "lastUpdatedTime": "2026-01-01T00:00:00Z",
    }
    body = {"trainerStatus": told}
    assert server.request("POST", "/jobs/slow/progress", body).body == body
    assert server.request("GET", "/jobs/slow/progress").body == body
    assert server.get("slow")["status"]["progress"] == told
    wrong = {"trainerStatus": {"progressPercentage": 101}}
    assert server.error("POST", "/jobs/slow/progress", wrong)[0] == 422
    go.touch()
    server.wait("slow")


def test_what_the_server_says_about_itself(server: RunningServer) -> None:
    about = server.request("GET", "/server").body
    assert server.process is not None
    assert about["pid"] == server.process.pid
    assert about["socket"] == str(server.home / "server.sock")
    assert set(about["jobs"]) == {"active", "total"}
    names = [item["metadata"]["name"] for item in server.request("GET", "/runtimes").body["items"]]
    assert "torch-distributed" in names
    one = server.request("GET", "/runtimes/torch-distributed").body
    assert one["kind"] == "ClusterTrainingRuntime"
    assert server.error("GET", "/runtimes/none")[0] == 404
    assert server.request("GET", "/backends").body["items"] == [{"name": "local"}]
    (local,) = server.request("POST", "/backends/check", {}).body["items"]
    assert local["name"] == "local"
    assert {check["name"] for check in local["checks"]} == {
        "python",
        "disk",
        "volumes",
        "gpus",
        "containers",
    }
    paths = server.request("GET", "/openapi.json").body["paths"]
    assert "/api/v1/jobs/{ref}/logs" in paths


def test_everything_in_the_home_directory_is_private(server: RunningServer) -> None:
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in server.home.iterdir()}
    assert modes.pop("jobs", 0o700) == 0o700
    assert set(modes.values()) == {0o600}
    assert {"server.sock", "server.json", "server.log", "trainway.db"} <= set(modes)
