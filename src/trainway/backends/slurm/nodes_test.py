"""Nodes as scontrol of Slurm 22 and 24 prints them."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from trainway.backends.nodes import Gpu, Node
from trainway.backends.slurm.backend_test import Setup
from trainway.backends.slurm.nodes import nodes_of
from trainway.backends.slurm.queue_listing import QUEUE
from trainway.errors import UnavailableError
from trainway.jobset.quantity import Quantity
from trainway.json_types import Json

Q = Quantity.parse
N0 = (
    "NodeName=n0 Arch=x86_64 CPUAlloc=2 CPUTot=8 CPULoad=0.13 Gres=gpu:a100:4(S:0-1) "
    "GresDrain=N/A GresUsed=gpu:a100:3(IDX:0,2-3) OS=Linux 5.10 #1 SMP RealMemory=16000 "
    "AllocMem=4000 FreeMem=100 State=MIXED Partitions=main,big Comment=none"
)
DRAINED = (
    "NodeName=n1 CPUAlloc=0 CPUTot=8 Gres=(null) GresUsed=gpu:0 RealMemory=16000 AllocMem=0 "
    "State=IDLE+DRAIN Partitions=main BootTime=None Reason=bad fan in row 4 [root@2026-11-17T09:00]"
)
DOWN = (
    "NodeName=n2 CPUAlloc=0 CPUTot=8 Gres=gpu:2 GresUsed=gpu:1 RealMemory=1 AllocMem=0 "
    "State=DOWN* Partitions=big Reason=Not responding [slurm@2026-11-17T09:00:00] Comment=x"
)


def test_nodes_with_what_is_free_and_why_some_take_no_jobs() -> None:
    first, second, third = nodes_of(f"{DOWN}\n{DRAINED}\n{N0}")
    assert first == Node(
        "n0", "MIXED", "", "main, big", Q(8), Q(6), Q("16000Mi"), Q("12000Mi"), 4, 1,
        (Gpu("0", True), Gpu("1", False), Gpu("2", True), Gpu("3", True)),
    )  # fmt: skip
    assert (second.state, second.free_cpus) == ("IDLE+DRAIN", Q(8))
    assert second.problem == "it is IDLE+DRAIN: bad fan in row 4"
    assert third.problem == "it is DOWN*: Not responding"
    assert (third.gpus, third.free_gpus, third.devices) == (2, 1, ())


def test_a_partition_has_its_own_nodes() -> None:
    text = f"{N0}\n{DRAINED}\n{DOWN}"
    assert [node.name for node in nodes_of(text, "big")] == ["n0", "n2"]
    assert nodes_of("", "big") == []
    assert nodes_of("slurm_load_node error: Unable to contact slurm controller") == []


def test_the_login_node_is_asked_for_what_slurm_prints(tmp_path: Path) -> None:
    def answer(operation: str, fields: Mapping[str, Any]) -> Json:
        if operation == "facts":
            return {"partitions": [{"name": "main", "state": "up"}]}
        return {"status": 0, "stdout": N0 if fields["argv"][0] == "scontrol" else ""}

    setup = Setup(tmp_path, answer=answer)
    (node,) = asyncio.run(setup.backend.nodes())
    assert node.name == "n0"
    (state,) = asyncio.run(setup.backend.queue_states())
    assert (state.queue.name, state.waiting) == ("main", ())
    show = ["scontrol", "--oneliner", "--details", "show", "node"]
    assert setup.relay.asked == [
        ("command", {"argv": show}), ("facts", {}), ("command", {"argv": QUEUE}),
    ]  # fmt: skip


def test_a_controller_that_is_away_is_told_as_such(tmp_path: Path) -> None:
    said = "slurm_load_node error: Unable to contact slurm controller (connect failure)"

    def answer(*_: Any) -> Json:
        return {"status": 1, "stdout": "", "stderr": said}

    backend = Setup(tmp_path, answer=answer).backend
    with pytest.raises(UnavailableError, match="Slurm does not answer") as caught:
        asyncio.run(backend.nodes())
    assert caught.value.hint == "ask it by hand: scontrol ping"
