from dataclasses import dataclass
from pathlib import Path

import pytest

from trainway.agent.kubelet.health.xid import bus_name, kernel_records, xid_problem

GPUS = {"0000:3b:00": "0", "0000:5e:00": "1"}
UPTIME = 10_000.0


@dataclass(frozen=True)
class Case:
    id: str
    record: str
    problem: str = ""


def record(text: str, seconds: int = 9_000) -> str:
    return f"4,321,{seconds * 1_000_000},-;{text}\n"


FALLEN = "NVRM: Xid (PCI:0000:5e:00): 79, pid='<unknown>', GPU has fallen off the bus."
SAID = "GPU 1 had Xid error 79 within the last hour: it has fallen off the bus"
CASES = [
    Case("a lost GPU", record(FALLEN), SAID),
    Case("long ago", record(FALLEN, 100)),
    Case("not ours", record(FALLEN.replace("5e", "86"))),
    Case("of a program", record("NVRM: Xid (PCI:0000:5e:00): 13, Graphics Exception")),
    Case("something else", record("eth0: link up")),
    Case("no record", FALLEN),
    Case("no time", f"4,321,x,-;{FALLEN}"),
    Case("with a function", record(FALLEN.replace("5e:00", "5E:00.0")), SAID),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_what_the_kernel_says_of_gpus(case: Case) -> None:
    assert xid_problem([record("first"), case.record], UPTIME, GPUS) == case.problem


@pytest.mark.parametrize(
    ("text", "name"),
    [("00000000:3B:00.0", "0000:3b:00"), ("0000:3b:00", "0000:3b:00"), ("[N/A]", ""), ("", "")],
)
def test_an_address_has_one_form(text: str, name: str) -> None:
    assert bus_name(text) == name


def test_a_log_that_is_not_for_us(tmp_path: Path) -> None:
    assert kernel_records(str(tmp_path / "gone")) is None
    (tmp_path / "log").write_text("4,1,2,-;hello")
    assert kernel_records(str(tmp_path / "log")) == ["4,1,2,-;hello"]
