"""The all-reduce by the torch of a job; a small package stands in for torch here."""

import os
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from trainway.agent.kubelet.health import program
from trainway.agent.kubelet.health.program import Questions
from trainway.agent.kubelet.health.torch_reduce import (
    GLOO,
    NCCL,
    Meeting,
    ReduceError,
    has_torch,
    python_of,
    reason_in,
    reduced,
)
from trainway.agent.kubelet.health.verdict import HEALTHY
from trainway.json_types import Json

TORCH = """
class Numbers:
    def __eq__(self, other): return self
    def all(self): return True
def full(*_, **__): return Numbers()
def device(*_): return None
class cuda:
    is_available = staticmethod(lambda: False)
"""
DISTRIBUTED = """
import sys
def is_nccl_available(): return True
def init_process_group(backend, init_method, **more):
    assert backend == "gloo" and init_method.startswith("tcp://127.0.0.1:"), init_method
    {extra}
def all_reduce(_numbers): pass
def destroy_process_group(): pass
"""


def with_torch(folder: Path, extra: str = "pass") -> dict[str, str]:
    """An environment in which Python finds something that is called torch."""
    package = folder / "torch"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(TORCH)
    (package / "distributed.py").write_text(DISTRIBUTED.format(extra=extra))
    return {"PYTHONPATH": str(folder), "PATH": os.defpath}


def answers(tmp_path: Path, *envs: Mapping[str, str]) -> list[tuple[int, str]]:
    """What nodes with these environments find together."""
    word = os.urandom(4).hex()
    peers = {f"node-0-{rank}": "127.0.0.1" for rank in range(len(envs))}
    folders = [tmp_path / f"node-{rank}" for rank in range(len(envs))]
    asked = [
        Questions(str(folder), [], env, peers, 20)
        for folder, env in zip(folders, envs, strict=True)
    ]
    for rank, each in enumerate(asked):
        folders[rank].mkdir()
        each.rank, each.word, each.wants_torch, each.python = rank, word, True, sys.executable
    with ThreadPoolExecutor(len(asked)) as pool:
        return list(pool.map(program._answer, asked))


def test_torch_takes_part_where_all_nodes_have_it(tmp_path: Path) -> None:
    env = with_torch(tmp_path / "a")
    found = answers(tmp_path, env, env)
    assert [code for code, _ in found] == [HEALTHY] * 2
    assert "network of 2 nodes (by torch with gloo): all well" in found[0][1]


def test_without_torch_everywhere_the_check_over_tcp_counts(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    bare = {"PYTHONPATH": str(empty), "PATH": os.defpath}
    if has_torch(sys.executable, bare):
        pytest.skip("the Python of the tests has torch")
    for code, said in answers(tmp_path, with_torch(tmp_path / "a"), bare):
        assert code == HEALTHY
        assert "(over TCP: not all of them have torch)" in said


def test_a_torch_that_cannot_speak_to_gpus_is_left_out(tmp_path: Path) -> None:
    meeting = Meeting(NCCL, 0, 1, "127.0.0.1", 1)
    assert not reduced(sys.executable, with_torch(tmp_path), meeting)


def test_what_goes_wrong_is_told(tmp_path: Path) -> None:
    env = with_torch(tmp_path, 'raise RuntimeError("no route")')
    meeting = Meeting(GLOO, 0, 1, "127.0.0.1", 1)
    with pytest.raises(ReduceError, match="by torch with gloo failed: RuntimeError: no route"):
        reduced(sys.executable, env, meeting)
    with pytest.raises(ReduceError, match="/nowhere/python cannot be started: No such file"):
        reduced("/nowhere/python", env, meeting)


def test_a_warning_is_not_the_reason() -> None:
    error = "[rank0]: Duplicate GPU detected : rank 0 and rank 1 both on CUDA device 60"
    warning = "[rank0]:[W1118 ProcessGroupNCCL.cpp:1575] Warning: it was not destroyed\n\n"
    assert reason_in(f"Traceback\n{error}\n{warning}") == error
    assert reason_in(warning).startswith("[rank0]:[W")
    assert reason_in("") == ""


@dataclass(frozen=True)
class Case:
    id: str
    container: Json
    python: str


CASES = [
    Case("its command", {"command": ["python3.11", "x.py"]}, "python3.11"),
    Case("that of a script", {"command": ["torchrun", "x.py"]}, "/opt/torch/bin/python"),
    Case("a shell", {"command": ["sh", "-c", "python x"]}, "python3"),
    Case("its arguments", {"args": ["python3.11"]}, "python3.11"),
    Case("a program that is not there", {"command": ["/nowhere/python"]}, "python3"),
    Case("no command", {}, "python3"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_the_python_of_a_container(case: Case, tmp_path: Path) -> None:
    for name in ("python3.11", "python3", "sh"):
        (tmp_path / name).touch(0o755)
    (tmp_path / "torchrun").write_text("#!/opt/torch/bin/python\n")
    (tmp_path / "torchrun").chmod(0o755)
    found = python_of(case.container, {"PATH": str(tmp_path)})
    assert found.removeprefix(f"{tmp_path}/") == case.python
