"""The agent with real processes: what it does when things go wrong."""

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from trainway.agent.base.launch import command, write_zip
from trainway.agent.base.testing import container, jobset, role
from trainway.agent.kubelet import process_tree
from trainway.agent.kubelet.pod import DEFAULT_GRACE
from trainway.agent.local.testing import AgentJob, agent_job, until_written

FOREVER = "while :; do sleep 0.1; done"
ESCAPE = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(600)
    os._exit(0)
"""
DEAF = (
    f"trap '' TERM; echo > {{here}}; {FOREVER}",
    f"trap '' TERM INT; echo > {{here}}; setsid -w sleep 600; {FOREVER}",
)


def pid_of(record: dict[str, Any]) -> int:
    return int(record["containers"][0]["pid"])


def events(job: AgentJob, reason: str) -> list[str]:
    return [r["message"] for r in job.records() if r["type"] == "event" and r["reason"] == reason]


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path


def until_here(out: Path, count: int = 1) -> None:
    """Wait until so many processes wrote to the pipe."""
    until_written(out / "here", count)


def test_killed_rank_restarts_the_gang() -> None:
    node = role("node", container("main", f'[ "$TRAINWAY_RESTART_ATTEMPT" = 1 ] || {FOREVER}'))
    node["template"]["spec"].update(parallelism=2, completions=2)
    with agent_job(jobset(node, failurePolicy={"maxRestarts": 1})) as job:
        victim = job.until_pod("Running", "node-0-1")
        job.until_pod("Running", "node-0-0")
        os.kill(pid_of(victim), signal.SIGKILL)
        dead = job.until_pod("Failed", "node-0-1")
        assert dead["containers"][0]["exitCode"] == 137
        assert dead["containers"][0]["signal"] == 9
        assert job.end()["succeeded"]
        assert job.status()["restarts"] == 1
        attempts = {(r["pod"], r["attempt"]) for r in job.records() if r["type"] == "pod"}
        assert attempts == {(f"node-0-{n}", attempt) for n in (0, 1) for attempt in (0, 1)}


def test_killed_rank_restarts_in_its_pod(out: Path) -> None:
    os.mkfifo(out / "here")
    script = f"[ -e {out}/once ] && exit 0; touch {out}/once; echo > {out}/here; {FOREVER}"
    pod = {"restartPolicy": "OnFailure"}
    with agent_job(jobset(role("node", container("main", script), pod=pod, backoffLimit=3))) as job:
        until_here(out)
        os.kill(pid_of(job.until_pod("Running")), signal.SIGKILL)
        assert job.end()["succeeded"]
        last = [r for r in job.records() if r["type"] == "pod"][-1]
        assert last["containers"][0]["restarts"] == 1
        assert last["containers"][0]["lastState"] == {"exitCode": 137, "reason": "Error"}
        assert last["phase"] == "Succeeded"


@pytest.mark.parametrize("policy", [{"maxRestarts": 1}, None], ids=["restarted", "failed"])
def test_killed_agent_is_recovered_by_policy(out: Path, policy: dict[str, Any] | None) -> None:
    script = f'echo "$TRAINWAY_RESTART_ATTEMPT $$" >> {out}/starts; {{ setsid sleep 600 & }};'
    script += f' [ "$TRAINWAY_RESTART_ATTEMPT" = 1 ] || {{ echo > {out}/here; {FOREVER}; }}'
    os.mkfifo(out / "here")
    node = role("node", container("main", script), parallelism=2, completions=2)
    with agent_job(jobset(node, failurePolicy=policy)) as job:
        until_here(out, 2)
        job.until_pod("Running", "node-0-0")
        job.until_pod("Running", "node-0-1")
        before = set(job.processes())
        job.kill_agent()
        job.start("--recover")
        assert not before & set(job.processes())
        assert job.end()["succeeded"] == bool(policy)
        assert job.processes() == []
        starts = [line.split()[0] for line in (out / "starts").read_text().splitlines()]
        assert sorted(starts) == (["0", "0", "1", "1"] if policy else ["0", "0"])
        lost = [r for r in job.records() if r["type"] == "pod" and r.get("reason") == "AgentLost"]
        assert len(lost) == 2
        assert [r["seq"] for r in job.records()] == list(range(len(job.records())))


@pytest.mark.parametrize("was_killed", [True, False], ids=["killed", "never started"])
def test_a_cancelled_job_only_comes_to_its_end(out: Path, was_killed: bool) -> None:
    script = f"echo x >> {out}/starts; echo > {out}/here; {{ setsid sleep 600 & }}; {FOREVER}"
    os.mkfifo(out / "here")
    spec = jobset(role("node", container("main", script)), failurePolicy={"maxRestarts": 3})
    job = AgentJob(out / "job", spec)
    try:
        if was_killed:
            job.start()
            until_here(out)
            job.until_pod("Running")
            job.kill_agent()
        job.start("--recover", "--cancel")
        end = job.end()
        assert (end["succeeded"], end["reason"]) == (False, "Cancelled")
        assert job.records()[-1] == end
        assert job.processes() == []
        assert job.status()["terminalState"] == "Failed"
        starts = out / "starts"
        assert (starts.read_text() if starts.exists() else "") == "x\n" * was_killed
    finally:
        job.stop()


def test_cancel_goes_with_recover() -> None:
    line = command("/nowhere", "--cancel")
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("usage: ")


def test_completed_indexes_survive_the_agent(out: Path) -> None:
    os.mkfifo(out / "here")
    script = f"echo $TRAINWAY_RANK >> {out}/starts; [ $TRAINWAY_RANK = 0 ] || [ -e {out}/go ]"
    script += f" || {{ echo > {out}/here; {FOREVER}; }}"
    node = role("node", container("main", script), parallelism=1, completions=2, backoffLimit=1)
    with agent_job(jobset(node)) as job:
        until_here(out)
        job.until_pod("Running", "node-0-1")
        job.kill_agent()
        (out / "go").touch()
        job.start("--recover")
        assert job.end()["succeeded"]
        assert (out / "starts").read_text().split() == ["0", "1", "1"]


def test_recovering_a_job_that_ended_changes_nothing() -> None:
    with agent_job(jobset(role("node", container("main", "exit 0")))) as job:
        with job.agent_going():
            assert job.end()["succeeded"]
        before = job.records()
        job.start("--recover")
        assert job.records() == before


def test_recover_drops_a_torn_line(out: Path) -> None:
    with agent_job(jobset(role("node", container("main", FOREVER)))) as job:
        job.until_pod("Running")
        job.kill_agent()
        with (job.path / "journal.jsonl").open("ab") as journal:
            journal.write(b'{"seq": 99, "type": "po')
        job.start("--recover")
        assert not job.end()["succeeded"]
        assert [r["seq"] for r in job.records()] == list(range(len(job.records())))


def test_terminated_agent_leaves_a_job_that_can_be_recovered() -> None:
    script = f'trap "exit 0" TERM; [ "$TRAINWAY_RESTART_ATTEMPT" = 1 ] || {FOREVER}'
    spec = jobset(role("node", container("main", script)), failurePolicy={"maxRestarts": 1})
    with agent_job(spec) as job:
        job.until_pod("Running")
        watcher = job.watch()
        next(watcher)  # so it is connected
        with job.agent_going():
            os.kill(job.pid, signal.SIGTERM)
        assert [r for r in watcher if r.get("event") == "stopping"]
        assert job.processes() == []
        assert job.records()[-1]["type"] != "end"
        job.start("--recover")
        assert job.end()["succeeded"]
        assert job.status()["restarts"] == 1


def test_there_is_one_agent_at_most() -> None:
    with agent_job(jobset(role("node", container("main", FOREVER)))) as job:
        line = command(str(job.path), "--recover")
        second = subprocess.run(line, capture_output=True, text=True, check=False)
        assert second.returncode == 1
        assert "an agent is already running here" in second.stderr
        job.kill_agent()
        again = subprocess.run(command(str(job.path)), capture_output=True, text=True, check=False)
        assert again.returncode == 1
        assert "use --recover" in again.stderr


@pytest.mark.parametrize("script", DEAF, ids=["alone", "with child"])
def test_deaf_rank_is_killed_after_its_grace(script: str, out: Path) -> None:
    os.mkfifo(out / "here")
    deaf = container("main", script.format(here=out / "here"))
    with agent_job(jobset(role("node", deaf))) as job:
        until_here(out)
        job.until_pod("Running")
        began = time.monotonic()
        answer = job.ask("cancel")
        assert answer["ok"]
        assert job.processes() == []
        assert 1.5 < time.monotonic() - began < DEFAULT_GRACE
        assert job.end() | {"seq": 0, "time": ""} == {
            "seq": 0,
            "time": "",
            "type": "end",
            "succeeded": False,
            "reason": "Cancelled",
            "message": "the job was cancelled",
        }
        last = [r for r in job.records() if r["type"] == "pod"][-1]
        assert last["containers"][0]["signal"] == 9


def test_cancel_can_hurry() -> None:
    pod = {"terminationGracePeriodSeconds": 600}
    deaf = role("node", container("main", f"trap '' TERM; {FOREVER}"), pod=pod)
    with agent_job(jobset(deaf)) as job:
        job.until_pod("Running")
        assert job.ask("cancel", grace=0)["ok"]
        assert job.end()["reason"] == "Cancelled"


def test_no_descendant_survives_a_cancel(out: Path) -> None:
    """Neither one that left its session, nor one that also lost its environment."""
    os.mkfifo(out / "nameless")
    escaped = f"env -i setsid sh -c 'echo $$$$ > {out}/nameless; exec sleep 600' &"
    script = f"python3 -c '{ESCAPE}'; {escaped} {FOREVER}"
    with agent_job(jobset(role("node", container("main", script)))) as job:
        nameless = int((out / "nameless").read_text())
        below = process_tree.descendants([job.pid])
        assert nameless in below
        assert nameless not in job.processes()
        assert len(job.processes()) >= 2
        assert job.ask("cancel")["ok"]
        assert [pid for pid in below if process_tree.is_alive(pid)] == []


def test_a_job_whose_directory_is_gone_ends() -> None:
    with agent_job(jobset(role("node", container("main", FOREVER)))) as job:
        job.until_pod("Running")
        with job.agent_going():
            shutil.rmtree(job.path)
        assert job.processes() == []


def test_what_a_container_leaves_behind_ends_with_it(out: Path) -> None:
    first = container("first", f"python3 -c '{ESCAPE}'; sleep 600 & exit 0")
    second = container("second", f"while [ ! -e {out}/go ]; do sleep 0.05; done")
    with agent_job(jobset(role("node", first, second))) as job:
        ended = job.until(
            lambda r: r["type"] == "pod" and r["containers"][0]["state"] == "terminated"
        )
        mark = f"{ended['uid']}/first"
        left = [p for p in job.processes() if process_tree.has_mark(p, "TRAINWAY_CONTAINER", mark)]
        assert left == []
        (out / "go").touch()
        assert job.end()["succeeded"]


@pytest.fixture
def tiny_logs(tmp_path: Path) -> Iterator[AgentJob]:
    """A job whose logs directory has room for almost nothing."""
    script = "yes full-disk | head -c 3000000; echo after >&2; sleep 0.2"
    job = AgentJob(tmp_path / "job", jobset(role("node", container("main", script))))
    logs = job.path / "logs"
    logs.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(logs)]
    done = subprocess.run(mount, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"a small file system cannot be mounted: {done.stderr.strip()}")
    yield job
    job.stop()
    subprocess.run(["umount", "-l", str(logs)], check=True)


def test_full_disk_for_logs_does_not_hurt_the_job(tiny_logs: AgentJob) -> None:
    tiny_logs.start()
    assert tiny_logs.end()["succeeded"]
    told = events(tiny_logs, "LogsDropped")
    assert len(told) == 1
    assert "No space left" in told[0]
    last = [r for r in tiny_logs.records() if r["type"] == "pod"][-1]
    assert last["containers"][0]["logBytesDropped"] > 2_000_000
    lines = (tiny_logs.path / "logs" / "node-0-0.main.0.log").read_bytes().split(b"\n")
    assert all(line.split(b" ", 2)[2] == b"full-disk" for line in lines[:-1])


def test_the_agent_fits_into_one_file(tmp_path: Path) -> None:
    write_zip(tmp_path / "agent.pyz")
    job = AgentJob(tmp_path / "job", jobset(role("node", container("main", "echo zipped"))))
    job.start(argv=[command("")[0], "-I", "-S", str(tmp_path / "agent.pyz"), str(job.path)])
    assert job.end()["succeeded"]
    assert job.log("node-0-0.main.0") == [b"o zipped"]
    assert json.loads((job.path / "agent.json").read_text())["boot_id"]
