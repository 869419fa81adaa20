from __future__ import annotations

from dataclasses import dataclass

import pytest

from trainway.agent.slurm import held_node as module
from trainway.agent.slurm.allocation import AllocationError
from trainway.agent.slurm.held_node import address, devices


@dataclass(frozen=True)
class Case:
    """What Slurm tells a task of its GPUs."""

    environ: dict[str, str]
    found: list[str]


@pytest.mark.parametrize(
    "case",
    [
        Case({}, []),
        Case({"CUDA_VISIBLE_DEVICES": ""}, []),
        Case({"CUDA_VISIBLE_DEVICES": "NoDevFiles"}, []),
        Case({"CUDA_VISIBLE_DEVICES": "1,3"}, ["1", "3"]),
        Case({"ROCR_VISIBLE_DEVICES": "0"}, ["0"]),
    ],
)
def test_a_node_has_the_gpus_that_slurm_gave_it(case: Case) -> None:
    assert devices(case.environ) == case.found


@pytest.mark.parametrize(
    ("told", "own", "found"),
    [
        ("10.0.0.7", ["10.0.0.7", "172.17.0.1"], "10.0.0.7"),
        ("127.0.0.1", ["10.0.0.7"], "10.0.0.7"),
        ("127.0.0.1", [], "127.0.0.1"),
        ("", ["10.0.0.7"], "10.0.0.7"),
        ("", [], ""),
    ],
)
def test_others_reach_it_where_slurm_says_unless_that_is_here(
    monkeypatch: pytest.MonkeyPatch, told: str, own: list[str], found: str
) -> None:
    def output(_words: object) -> str:
        if not told:
            raise AllocationError("scontrol: no answer")
        return f"NodeName=n1 Arch=x86_64 NodeAddr={told} NodeHostName=n1\n"

    monkeypatch.setattr(module, "own_addresses", lambda: own)
    assert address("n1", output) == found
