"""The literal calls of srun."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from trainway.agent.slurm.srun import Call, Line, ScriptError, command, join_command, lines

POD = ["python3", "agent.pyz", "slurm", "pod", "/jobs/j"]
NODE = ["srun", "--ntasks=4", "--gpus-per-task=a100:2", "--mem-per-cpu=512M", "--exact"]

ONE_POD = [
    "--job-name=node-0-1",
    "--ntasks=1",
    "--nodes=1",
    "--nodelist=b",
    "--mpi=none",
    "--wait=0",
    *POD,
]


@dataclass(frozen=True)
class Case:
    id: str
    line: Line
    call: Call
    expected: list[str]


@pytest.mark.parametrize(
    "case",
    [
        Case(
            "all pods of a Job",
            Line(NODE),
            Call("node-0", ["a", "b", "a", "b"]),
            [
                *NODE,
                "--job-name=node-0",
                "--ntasks=4",
                "--nodes=2",
                "--distribution=arbitrary",
                "--mpi=none",
                "--wait=0",
                *POD,
            ],
        ),
        Case(
            "a single pod",
            Line(NODE),
            Call("node-0-1", ["b"]),
            [
                *NODE,
                *ONE_POD,
            ],
        ),
        Case(
            "a pod in the place of another one sees all GPUs of the job on its node",
            Line(NODE),
            Call("node-0-1", ["b"], shares=True, gpus=4),
            [
                "srun",
                "--ntasks=4",
                "--exact",
                "--gres=gpu:a100:4",
                "--mem=0",
                "--overlap",
                *ONE_POD,
            ],
        ),
        Case(
            "in an image",
            Line(["srun", "--het-group=1"], ["apptainer", "exec", "image.sif"]),
            Call("node-0-0", ["a"]),
            [
                "srun",
                "--het-group=1",
                "--job-name=node-0-0",
                "--ntasks=1",
                "--nodes=1",
                "--nodelist=a",
                "--mpi=none",
                "--wait=0",
                "apptainer",
                "exec",
                "image.sif",
                *POD,
            ],
        ),
    ],
    ids=lambda case: case.id,
)
def test_command(case: Case) -> None:
    assert command(case.line, case.call, POD) == case.expected


def test_command_in_another_pod() -> None:
    assert join_command("b", 1, ["join"]) == [
        "srun",
        "--het-group=1",
        "--nodes=1",
        "--ntasks=1",
        "--nodelist=b",
        "--overlap",
        "--mem=0",
        "--cpus-per-task=1",
        "--gres=none",
        "--mpi=none",
        "--quiet",
        "join",
    ]
    assert "--het-group=1" not in join_command("b", None, ["join"])


def test_lines_of_a_script() -> None:
    words = ["--role", "launcher", "srun", "--overlap"]
    words += ["--role", "node", *NODE, "--within", "apptainer", "exec", "i"]
    found = lines(words)
    assert found["launcher"].words == ["srun", "--overlap"]
    assert found["launcher"].within == []
    assert found["launcher"].gpus == 0
    assert found["node"].words == NODE
    assert found["node"].within == ["apptainer", "exec", "i"]
    assert found["node"].gpus == 2


@pytest.mark.parametrize("words", [["srun"], ["--role"], ["--role", "node"]])
def test_lines_that_make_no_sense(words: list[str]) -> None:
    with pytest.raises(ScriptError):
        lines(words)


@pytest.mark.parametrize(
    ("words", "is_contained"),
    [
        (["srun", "--ntasks=2"], False),
        (["srun", "--container-image=python:3.12"], True),
        (["srun", "--within", "apptainer", "exec", "x.sif"], True),
    ],
)
def test_pods_in_images_use_the_python_of_the_image(words: list[str], is_contained: bool) -> None:
    assert lines(["--role", "node", *words])["node"].is_contained is is_contained
