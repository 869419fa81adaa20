from dataclasses import dataclass
from pathlib import Path

import pytest

from trainway.agent.kubelet.health import gpu_query
from trainway.agent.kubelet.health.gpu_query import addresses_in, fault_in, gpu_problem

TABLE = "0, GPU-aa11, 0\n1, GPU-bb22, 3\n2, GPU-cc33, [N/A]\n"


@dataclass(frozen=True)
class Case:
    wanted: tuple[str, ...]
    fault: str = ""


CASES = [
    Case(("0",)),
    Case(("0", "2")),
    Case(("GPU-aa11",)),
    Case(("GPU-cc",)),
    Case(("MIG-77",)),
    Case(("0", "1"), "GPU 1 has 3 uncorrectable memory errors"),
    Case(("0", "7"), "1 of the 2 GPUs of the job are there (0, 7 were assigned)"),
    Case(("GPU-dd",), "0 of the 1 GPUs of the job are there (GPU-dd were assigned)"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: ",".join(case.wanted))
def test_what_the_table_says_of_gpus(case: Case) -> None:
    assert fault_in(TABLE, case.wanted) == case.fault


def test_an_answer_that_is_no_table_has_no_gpus() -> None:
    assert fault_in("NVIDIA-SMI 550, and nothing else", ["0"]).startswith("0 of the 1 GPUs")


def test_where_gpus_are() -> None:
    table = "0, GPU-aa, 0, 00000000:3B:00.0\n1, GPU-bb, 0, 00000000:5E:00.0\n2, GPU-cc, 0\n"
    assert fault_in(table, ["0", "GPU-bb"]) == ""
    assert addresses_in(table, ["GPU-b", "2", "MIG-1"]) == {"0000:5e:00": "1"}


def test_a_gpu_of_which_the_kernel_has_told_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "nvidia-smi"
    program.write_text("#!/bin/sh\necho '0, GPU-aa, 0, 00000000:3B:00.0'\n")
    program.chmod(0o755)
    lost = "4,1,0,-;NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus."
    monkeypatch.setattr(gpu_query, "uptime_seconds", lambda: 60.0)
    env = {"PATH": str(tmp_path)}
    for records, said in ((None, ""), ([], ""), ([lost], "GPU 0 had Xid error 79")):
        monkeypatch.setattr(gpu_query, "kernel_records", lambda records=records: records)
        assert gpu_problem(["0"], env).startswith(said)


def test_the_program_of_the_pod_is_asked(tmp_path: Path) -> None:
    program, env = tmp_path / "nvidia-smi", {"PATH": f"/nowhere:{tmp_path}"}
    assert gpu_problem([], env) == ""
    program.write_text("#!/bin/sh\necho '0, GPU-aa, 0'\n")
    program.chmod(0o755)
    assert gpu_problem(["0"], env) == ""
    program.write_text("#!/bin/sh\necho 'Unable to determine the device handle'\nexit 15\n")
    said = "nvidia-smi exited with 15: Unable to determine the device handle"
    assert gpu_problem(["0"], env) == said
