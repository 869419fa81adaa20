import json
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml
from click.shell_completion import ShellComplete
from click.testing import CliRunner, Result

from trainway.cli import completions
from trainway.cli.app import app
from trainway.cli.commands.jobs import listing
from trainway.sdk.testing import FakeServer


def invoke(*args: str) -> Result:
    return CliRunner().invoke(app, ["jobs", *args], prog_name="trainway")


def test_jobs_are_listed_newest_first(fake: FakeServer) -> None:
    fake.add_job("first", "Succeeded")
    fake.add_job("second", "Running", reason="Why")
    header, *rows = invoke("list").stdout.splitlines()
    assert header.split() == ["NAME", "ID", "KIND", "PHASE", "PROGRESS", "RESTARTS", "AGE"]
    assert [row.split()[:4] for row in rows] == [
        ["second", "id0001", "JobSet", "Running"],
        ["first", "id0000", "JobSet", "Succeeded"],
    ]
    assert "fields=summary" in fake.requests[-1][1]
    assert invoke("list", "-o", "wide").stdout.splitlines()[1].split()[-1] == "Why"
    assert invoke("list", "-o", "name").stdout == "id0001\nid0000\n"
    items = json.loads(invoke("list", "-o", "json").stdout)["items"]
    assert items == [fake.jobs["id0001"], fake.jobs["id0000"]]
    assert list(yaml.safe_load_all(invoke("list", "-o", "yaml").stdout)) == items


def test_jobs_are_picked(fake: FakeServer) -> None:
    fake.add_job("a", "Succeeded")
    fake.add_job("b", "Running")
    assert invoke("list", "-o", "name", "--active").stdout == "id0001\n"
    assert invoke("list", "-o", "name", "--phase", "succeeded").stdout == "id0000\n"
    assert invoke("list", "-o", "name", "--name", "a").stdout == "id0000\n"


def test_jobs_are_picked_by_label_age_and_metric(fake: FakeServer) -> None:
    fake.add_job("a", "Succeeded")["metadata"]["labels"] = {
        "team": "nlp",
        "trainway.dev/array": "x",
    }
    words = ["--label", "team=nlp", "--label", "x", "--since", "2026-11-15T05:10:00Z"]
    words += ["--metric", "loss<0.3", "--phase", "failed", "--phase", "Succeeded"]
    invoke("list", *words)
    query = parse_qs(urlsplit(fake.requests[-1][1]).query)
    assert query["label"] == ["team=nlp", "x"]
    assert (query["since"], query["metric"]) == (["2026-11-15T05:10:00Z"], ["loss<0.3"])
    assert query["phase"] == ["Failed,Succeeded"]
    assert "team=nlp" in invoke("list", "-o", "wide").stdout.splitlines()[1].split()
    shown = [line.split() for line in invoke("show", "a").stdout.splitlines()]
    assert ["Labels:", "team=nlp"] in shown
    assert invoke("list", "--since", "soon").exit_code == 2


def test_only_jobs_that_have_ended_are_pruned(fake: FakeServer) -> None:
    fake.add_job("old", "Failed", completionTime="2020-01-01T00:00:00Z")
    fake.add_job("running", "Running")
    fake.add_job("new", "Succeeded", completionTime="2999-01-01T00:00:00Z")
    before = dict(fake.jobs)
    dry = invoke("prune", "--dry-run")
    assert dry.stdout == "new id0002 Succeeded\nold id0000 Failed\n"
    assert (
        dry.stderr == "2 jobs would be deleted, which would free 4.0 KiB on the server's machine\n"
    )
    assert invoke("prune", "--phase", "Cancelled", "-y").stderr == "there are no jobs to delete\n"
    assert invoke("prune").exit_code == 2  # nobody can be asked
    assert fake.jobs == before
    done = invoke("prune", "--older-than", "30d", "--yes")
    assert (done.exit_code, done.stdout) == (0, "1 of 1 job deleted; their files took 2.0 KiB\n")
    assert list(fake.jobs) == ["id0001", "id0002"]


def test_what_o_name_prints_is_taken_by_the_other_commands(fake: FakeServer) -> None:
    for number in range(2):
        fake.add_job("same", "Succeeded", reason=str(number))
    for ref in invoke("list", "-o", "name").stdout.split():
        shown = json.loads(invoke("show", ref, "-o", "json").stdout)
        assert shown == fake.jobs[ref]


def test_a_long_list_is_cut_and_says_so(fake: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(7):
        fake.add_job(f"j{number}")
    cut = invoke("list", "--limit", "3", "-o", "name")
    assert cut.stdout == "id0006\nid0005\nid0004\n"
    assert cut.stderr == "the newest 3 are shown; --limit N or --all shows more\n"
    monkeypatch.setattr(listing, "_PAGE", 3)
    for args in (["--all"], ["--limit", "7"]):
        result = invoke("list", "-o", "name", *args)
        assert (result.stdout.count("\n"), result.stderr) == (7, "")


def test_no_jobs_are_no_table(fake: FakeServer) -> None:
    result = invoke("list")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "there are no jobs\n")
    assert invoke("list", "-o", "json").stdout.count("items") == 1


@pytest.mark.parametrize(
    ("form", "more"),
    [("table", "Succeeded"), ("name", "id0000\nid0000"), ("json", "{"), ("yaml", "---")],
)
def test_a_list_goes_on_with_what_changes(
    fake: FakeServer, monkeypatch: pytest.MonkeyPatch, form: str, more: str
) -> None:
    job = fake.add_job("a", "Running")
    looks = iter([None, lambda: fake.update(job, "Succeeded")])

    def sleep(_seconds: float) -> None:
        try:
            change = next(looks)
        except StopIteration:
            raise KeyboardInterrupt from None
        if change:
            change()

    monkeypatch.setattr(listing, "sleep", sleep)
    result = invoke("list", "-w", "-o", form)
    assert result.exit_code == 130
    assert more in result.stdout


def test_a_job_is_shown(fake: FakeServer) -> None:
    job = fake.add_job("a", "Running", jobSet={"restarts": 1})
    fake.event(job, "Created", "it was")
    text = invoke("show", "a").stdout
    assert "Name:     a\n" in text
    assert "Created" in text.splitlines()[-1]
    shown = json.loads(invoke("show", "a", "-o", "json").stdout)
    assert shown["status"]["jobSet"] == {"restarts": 1}
    assert yaml.safe_load(invoke("show", "id0000", "-o", "yaml").stdout) == shown
    assert invoke("show", "a", "-o", "name").stdout == "id0000\n"


def test_several_jobs_are_shown(fake: FakeServer) -> None:
    fake.add_job("a")
    fake.add_job("b")
    assert len(json.loads(invoke("show", "a", "b", "-o", "json").stdout)["items"]) == 2
    assert invoke("show", "a", "b").stdout.count("Name:") == 2


def test_a_job_is_shown_again_when_it_changes(fake: FakeServer) -> None:
    fake.add_job("a", "Succeeded")
    assert invoke("show", "-w", "a", "-o", "name").stdout == "id0000\n"
    assert invoke("show", "-w", "a", "b").exit_code == 2


def test_logs_are_merged(fake: FakeServer) -> None:
    job = fake.add_job("a", "Succeeded")
    for number in range(3):
        fake.log(job, f"line {number}", rank=number % 2)
    assert invoke("logs", "a").stdout == "node-0 | line 0\nnode-1 | line 1\nnode-0 | line 2\n"
    assert invoke("logs", "-f", "a", "--raw").stdout == "line 0\nline 1\nline 2\n"
    assert invoke("logs", "a", "--rank", "1").stdout == "node-1 | line 1\n"
    assert invoke("logs", "a", "--tail", "1").stdout == "node-0 | line 2\n"
    assert invoke("logs", "a", "--role", "x").stdout == ""
    invoke("logs", "a", "--since", "2026-11-15T05:10:00Z", "--all-attempts")
    assert "since=2026-11-15T05%3A10%3A00Z&all_attempts=true" in fake.requests[-1][1]


def test_events_are_printed(fake: FakeServer) -> None:
    job = fake.add_job("a", "Succeeded")
    assert invoke("events", "a").stderr == "nothing has happened yet\n"
    fake.event(job, "Created", "it was")
    fake.event(job, "Started")
    for args in ([], ["-w"]):
        header, first, second = invoke("events", "a", *args).stdout.splitlines()
        assert header.split() == ["TIME", "TYPE", "REASON", "OBJECT", "MESSAGE"]
        assert first.split()[1:] == ["Normal", "Created", "it", "was"]
        assert second.split()[1:] == ["Normal", "Started"]
    assert len(json.loads(invoke("events", "a", "-o", "json").stdout)["items"]) == 2
    assert len(list(yaml.safe_load_all(invoke("events", "a", "-o", "yaml").stdout))) == 2
    assert len(list(yaml.safe_load_all(invoke("events", "-w", "a", "-o", "yaml").stdout))) == 2
    assert invoke("events", "-w", "a", "-o", "json").stdout.count('"seq"') == 2


@pytest.mark.parametrize(
    ("phases", "status"),
    [(["Succeeded"], 0), (["Succeeded", "Failed"], 4), (["Cancelled"], 4)],
)
def test_waiting_ends_as_the_jobs_end(fake: FakeServer, phases: list[str], status: int) -> None:
    names = [f"j{number}" for number in range(len(phases))]
    for name, phase in zip(names, phases, strict=True):
        fake.add_job(name, phase)
    result = invoke("wait", *names)
    lines = [f"{name}: {phase}" for name, phase in zip(names, phases, strict=True)]
    assert (result.exit_code, result.stdout.splitlines()) == (status, lines)


def test_waiting_may_take_too_long(fake: FakeServer) -> None:
    fake.add_job("a", "Running")
    result = invoke("wait", "a", "--timeout", "0.05s")
    assert (result.exit_code, result.stderr) == (5, "error: a is Running after 0.05s\n")
    assert invoke("wait", "a", "--timeout", "soon").exit_code == 2


@pytest.mark.parametrize(
    ("verb", "stdout", "phase"),
    [
        ("suspend", "a suspended\nb suspended\n", "Paused"),
        ("resume", "a resumed\nb resumed\n", "Running"),
        ("cancel", "a cancelled\nb cancelled\n", "Cancelled"),
        ("delete", "a deleted\nb deleted\n", None),
        ("rerun", "a id0002\nb id0003\n", "Running"),
    ],
)
def test_several_jobs_are_changed(
    fake: FakeServer, verb: str, stdout: str, phase: str | None
) -> None:
    for name in ("a", "b"):
        fake.add_job(name, "Running")
    result = invoke(verb, "a", "b")
    assert (result.exit_code, result.stdout) == (0, stdout)
    assert (fake.jobs.get("id0000") or {"status": {"phase": None}})["status"]["phase"] == phase


def test_a_job_that_waits_is_scaled(fake: FakeServer) -> None:
    fake.add_job("a", "Queued")
    result = invoke("scale", "a", "1")
    assert (result.exit_code, result.stdout) == (0, "a scaled to 1 node\n")
    assert invoke("scale", "a", "0").exit_code == 2
    assert invoke("scale", "nobody", "2").exit_code == 3


def test_what_may_be_left_of_a_job_deleted_by_force_is_said(fake: FakeServer) -> None:
    for name in ("a", "b"):
        fake.add_job(name, "Running")
    fake.remains = {"id0001": "look there"}
    result = invoke("delete", "--force", "a", "b")
    assert (result.exit_code, result.stdout) == (0, "a deleted\nb deleted\n")
    assert result.stderr == "warning: b: look there\n"


@pytest.mark.parametrize(
    "verb",
    ["show", "logs", "events", "wait", "suspend", "resume", "cancel", "delete", "rerun"],
)
def test_a_wrong_name_changes_nothing_and_ends_with_3(fake: FakeServer, verb: str) -> None:
    fake.add_job("a", "Running")
    names = ["nobody"] if verb in ("logs", "events") else ["a", "nobody"]
    result = invoke(verb, *names)
    assert (result.exit_code, result.stdout) == (3, "")
    assert result.stderr == 'error: no job "nobody"\nhint: trainway jobs list shows all\n'
    assert [method for method, *_ in fake.requests if method != "GET"] == []


def complete(*args: str) -> list[Any]:
    completion = ShellComplete(app, {}, "trainway", "_TRAINWAY_COMPLETE")
    return [item.value for item in completion.get_completions(list(args[:-1]), args[-1])]


def test_names_are_completed_while_a_server_runs(
    fake: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(completions, "_PATIENCE_S", 60)  # this machine may be busy
    for name in ("train", "train", "other"):
        fake.add_job(name)
    assert complete("jobs", "show", "tr") == ["train"]
    fake.close()
    assert complete("jobs", "show", "tr") == []


def test_a_log_that_may_not_be_read_says_so(fake: FakeServer) -> None:
    id_ = fake.add_job("silent", "Running")["metadata"]["id"]
    assert invoke("logs", "silent").stderr == ""
    why = "its logs cannot be read: you may not get pods/log in namespace team"
    fake.events[id_].append({"seq": 9, "reason": "LogsForbidden", "message": why})
    assert invoke("logs", "silent").stderr == f"warning: {why}\n"
