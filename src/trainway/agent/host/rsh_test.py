import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from trainway.agent.host import rsh
from trainway.agent.host.rsh import Call, RshError, find_pod, ssh_command, step_command


@dataclass(frozen=True)
class Case:
    words: str
    host: str
    command: str
    flags: tuple[str, ...] = ()


@pytest.mark.parametrize(
    "case",
    [
        Case("w orted", "w", "orted"),
        Case("-x w orted -mca a b", "w", "orted -mca a b"),
        Case("-x -q -n w true", "w", "true", ("-n",)),
        Case("-xqnT w true", "w", "true", ("-n",)),
        Case("-l me -p 2222 w true", "w", "true"),
        Case("-lme -p2222 w true", "w", "true"),
        Case("-xl me w true", "w", "true"),
        Case("-o ConnectionAttempts=10 -oBatchMode=yes w true", "w", "true"),
        Case("-x -o ConnectionAttempts=10 me@w.job.svc true", "w.job.svc", "true"),
        Case("-- w true", "w", "true"),
        Case("w -l true", "w", "-l true"),
        Case("w - x", "w", "- x"),
    ],
    ids=lambda case: case.words,
)
def test_the_words_of_a_call(case: Case) -> None:
    call = Call(case.words.split())
    assert (call.host, call.command, tuple(call.flags)) == (case.host, case.command, case.flags)


@pytest.mark.parametrize("words", ["", "w", "-x w", "-l me w", "-l", "--"])
def test_a_call_without_a_command(words: str) -> None:
    with pytest.raises(RshError, match="usage: trainway-rsh"):
        Call(words.split())


PODS = {
    "launcher-0-0": {"address": "10.1.0.1"},
    "worker-0-1": {"address": "10.1.0.2"},
    "worker-0-11": {"address": "10.1.0.2"},
}


@pytest.mark.parametrize(
    ("host", "pod"),
    [
        ("allreduce-worker-0-1", "worker-0-1"),
        ("allreduce-worker-0-11.allreduce", "worker-0-11"),
        ("allreduce-worker-0-11.allreduce.default.svc", "worker-0-11"),
        ("allreduce-launcher-0-0.allreduce.default.svc.cluster.local", "launcher-0-0"),
        ("10.1.0.2", "worker-0-1"),
    ],
)
def test_a_pod_is_found_by_any_of_its_names(host: str, pod: str) -> None:
    assert find_pod(host, "allreduce", PODS) == pod


@pytest.mark.parametrize("host", ["worker-0-1", "allreduce-worker-0-2", "10.1.0.3", "example.com"])
def test_others_are_no_pods(host: str) -> None:
    with pytest.raises(RshError, match="is not a pod of this job"):
        find_pod(host, "allreduce", PODS)


def test_the_call_of_ssh() -> None:
    peer = {"host": "a2", "address": "10.1.0.2", "port": 2222, "user": "me"}
    line = ssh_command(Call(["-x", "-n", "w", "a", "b"]), "worker-0-1", peer, "/h me/50%/job")
    assert line == [
        *("ssh", "-F", "none", "-T", "-x", "-n"),
        *("-o", "BatchMode=yes"),
        *("-o", "ConnectTimeout=10"),
        *("-o", "ConnectionAttempts=10"),
        *("-o", "GlobalKnownHostsFile=/dev/null"),
        *("-o", "IdentitiesOnly=yes"),
        *("-o", "IdentityAgent=none"),
        *("-o", "LogLevel=ERROR"),
        *("-o", "StrictHostKeyChecking=yes"),
        *("-o", "HostKeyAlias=trainway-worker-0-1"),
        *("-o", 'UserKnownHostsFile="/h me/50%%/job/mpi/known_hosts"'),
        *("-o", 'IdentityFile="/h me/50%%/job/mpi/key"'),
        *("-l", "me", "-p", "2222", "--", "10.1.0.2"),
        "trainway-pod=worker-0-1 a b",
    ]


def test_the_installed_command_passes_its_words_on(tmp_path: Path) -> None:
    home = tmp_path / "a home"
    home.mkdir()
    echo = tmp_path / "echo.py"
    echo.write_text("import sys; print(*sys.argv[1:], sep='|')")
    for _ in range(2):
        rsh.install(str(home), sys.executable, str(echo))
    line = [str(home / "bin" / "trainway-rsh"), "-x", "w", "a  b"]
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    assert done.stdout == f"host|rsh|{home}|-x|w|a  b\n"
    assert [item.name for item in (home / "bin").iterdir()] == ["trainway-rsh"]


def test_a_job_of_one_host_has_nobody_to_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TRAINWAY_JOB_ID", "job-1")
    assert rsh.main([str(tmp_path), "w", "true"]) == 255
    assert capfd.readouterr().err.startswith(
        "trainway-rsh: the other hosts of job 'job-1' are not known"
    )


def test_a_node_of_slurm_is_reached_by_a_step() -> None:
    line = step_command({"step": ["srun", "--jobid=7"], "home": "/nodes/n1"}, "job-1")
    assert line[:2] == ["srun", "--jobid=7"]
    assert line[-4:] == ["host", "join", "/nodes/n1", "job-1"]
