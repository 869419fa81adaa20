import subprocess
from pathlib import Path

import pytest

from trainway.agent.kubelet.bindings import Binding
from trainway.agent.kubelet.container_tool import (
    Contained,
    ContainerRun,
    ContainerTool,
    inherited,
    start_error,
    tool_environment,
)

PODMAN = ContainerTool({"tool": "podman", "flags": ["--root", "/r"], "runFlags": ["--tty"]})
DOCKER = ContainerTool({"tool": "docker", "program": "/opt/docker"})


def full_run() -> ContainerRun:
    limits = {"cpu": "500m", "memory": "1Gi", "nvidia.com/gpu": 2}
    spec = {"image": "i:1", "imagePullPolicy": "IfNotPresent", "resources": {"limits": limits}}
    run = ContainerRun("c", spec, job_id="j", command=["sh", "-c"], args=["x", "-v"])
    run.env = {"TOKEN": "hidden", "PATH": "/opt/bin"}
    run.cwd = "/work"
    run.bindings = [Binding("/work", "/work"), Binding("/s", "/etc/s/", read_only=True)]
    run.gpus = {"CUDA_VISIBLE_DEVICES": "1,3"}
    return run


def test_podman_runs_a_container() -> None:
    assert PODMAN.run(full_run()) == [
        "podman", "--root", "/r", "run", "--rm", "--name", "c", "--label", "trainway.job=j",
        "--network", "host", "--ipc", "host", "--init", "--log-driver", "none",
        "--security-opt", "label=disable", "-w", "/work", "-v", "/work:/work", "-v", "/s:/etc/s:ro",
        "-e", "TOKEN", "-e", "PATH=/opt/bin",
        "--device", "nvidia.com/gpu=1", "--device", "nvidia.com/gpu=3",
        "--cpus", "0.500", "--memory", "1073741824b", "--pull", "missing", "--tty",
        "--entrypoint", "sh", "i:1", "-c", "x", "-v",
    ]  # fmt: skip


def test_docker_runs_the_entry_point_of_an_image() -> None:
    run = ContainerRun("c", {"image": "i"}, job_id="j", command=[], args=["x"])
    run.gpus = {"CUDA_VISIBLE_DEVICES": "1,3"}
    assert DOCKER.run(run) == [
        "/opt/docker", "run", "--rm", "--name", "c", "--label", "trainway.job=j",
        "--network", "host", "--ipc", "host", "--init", "--log-driver", "none",
        "--security-opt", "label=disable", "--gpus", '"device=1,3"', "i", "x",
    ]  # fmt: skip


def test_amd_gpus_are_devices_and_a_variable() -> None:
    run = ContainerRun("c", {"image": "i"}, job_id="j", command=[], args=[])
    run.gpus = {"ROCR_VISIBLE_DEVICES": "0"}
    assert DOCKER.run(run)[-7:-1] == [
        "--device", "/dev/kfd", "--device", "/dev/dri", "-e", "ROCR_VISIBLE_DEVICES=0",
    ]  # fmt: skip


def test_what_is_done_to_a_container() -> None:
    contained = Contained(PODMAN, "c")
    assert contained.execute(["ls", "/"]) == ["podman", "--root", "/r", "exec", "c", "ls", "/"]
    assert contained.remove() == [
        *("podman", "--root", "/r", "rm", "-f", "-t", "0", "--ignore", "c")
    ]
    assert Contained(DOCKER, "c").remove() == ["/opt/docker", "rm", "-f", "c"]


@pytest.mark.parametrize(("listed", "removed"), [("1 2\n3", "rm -f 1 2 3\n"), ("", "")])
def test_all_containers_of_a_job_are_removed(tmp_path: Path, listed: str, removed: str) -> None:
    tool = tmp_path / "it's docker"
    log = tmp_path / "log"
    tool.write_text(
        f'#!/bin/sh\nif [ $1 = ps ]; then echo "$4" > {log}.ps; printf "{listed}"; '
        f"else echo $* >> {log}; fi\n"
    )
    tool.chmod(0o755)
    log.touch()
    argv = ContainerTool({"tool": "docker", "program": str(tool)}).purge("j")
    subprocess.run(argv, check=True)
    assert log.read_text() == removed
    assert (tmp_path / "log.ps").read_text() == "label=trainway.job=j\n"


def test_a_hook_waits_until_the_container_runs(tmp_path: Path) -> None:
    tool = tmp_path / "docker"
    state = tmp_path / "state"
    tool.write_text(
        f"#!/bin/sh\nif [ $1 = exec ]; then shift; echo $*; exit; fi\n"
        f"cat {state} 2>/dev/null || {{ echo true > {state}; exit 1; }}\n"
    )
    tool.chmod(0o755)
    argv = ContainerTool({"tool": "docker", "program": str(tool)}).execute("c", ["ls"], wait=True)
    assert subprocess.run(argv, check=True, capture_output=True).stdout == b"c ls\n"


def test_values_reach_the_tool_unless_they_would_change_it() -> None:
    inside = {"TOKEN": "hidden", "HOME": "/root", "XDG_DATA_HOME": "/x"}
    env = tool_environment({"HOME": "/home/me", "PATH": "/bin"}, inside)
    assert env == {"HOME": "/home/me", "PATH": "/bin", "TOKEN": "hidden"}


def test_little_of_the_submitters_environment_reaches_a_container() -> None:
    env = {"PATH": "/bin", "KUBEFLOW_TRAINER_SERVER_URL": "u", "PYTHONUNBUFFERED": "1", "A": "b"}
    assert inherited(env) == {"KUBEFLOW_TRAINER_SERVER_URL": "u", "PYTHONUNBUFFERED": "1"}


@pytest.mark.parametrize(
    ("code", "errors", "said"),
    [
        (125, b"Trying to pull\nError: no such image\n", "no such image"),
        (127, b"docker: Error response from daemon: x", "Error response from daemon: x"),
        (127, b"sh: nope: not found", ""),
        (125, b"", ""),
        (1, b"Error: of the program", ""),
    ],
)
def test_a_failure_of_the_tool_is_told_apart(code: int, errors: bytes, said: str) -> None:
    assert start_error(code, errors) == said
