"""Names and addresses of nodes."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from trainway.agent.slurm.allocation import AllocationError
from trainway.agent.slurm.hosts import addresses, hostnames, node_addresses, run

SHOWN = """\
NodeName=n1 Arch=x86_64 CoresPerSocket=1 NodeAddr=10.0.0.1 NodeHostName=n1 Port=6818
NodeName=n2 CoresPerSocket=1 NodeAddr=10.0.0.2 NodeHostName=n2 Port=6818
"""
_SILENT_TWICE = """\
import sys
with open(sys.argv[1], "a+") as asked:
    asked.write("x")
    asked.seek(0)
    if len(asked.read()) < 3:
        sys.exit("slurm_load_node error: Unable to contact slurm controller (connect failure)")
print("n1")
"""


@pytest.mark.parametrize(
    ("listed", "wanted"),
    [
        ("a,b", ["a", "b"]),
        ("n[1-2]", ["n1", "n2"]),
        ("gpu-[0,3,9-11]", ["gpu-0", "gpu-3", "gpu-9", "gpu-10", "gpu-11"]),
        ("n[008-010]", ["n008", "n009", "n010"]),
    ],
)
def test_simple_lists_need_no_program(listed: str, wanted: list[str]) -> None:
    def none(_argv: Sequence[str]) -> str:
        raise AssertionError

    assert hostnames(listed, none) == wanted


def test_other_lists_are_for_scontrol() -> None:
    asked = []

    def output(argv: Sequence[str]) -> str:
        asked.append(list(argv))
        return "n1\nn2\nm1\n"

    assert hostnames("n[1-2],m1", output) == ["n1", "n2", "m1"]
    assert asked == [["scontrol", "show", "hostnames", "n[1-2],m1"]]


def test_addresses_as_slurm_has_them() -> None:
    assert node_addresses(SHOWN) == {"n1": "10.0.0.1", "n2": "10.0.0.2"}
    found = addresses(["n1", "n2", "n1"], "n1", lambda _argv: SHOWN)
    assert found == {"n1": "10.0.0.1", "n2": "10.0.0.2"}


def test_a_loopback_address_is_of_no_use_to_other_nodes() -> None:
    shown = SHOWN.replace("10.0.0.1", "127.0.1.1")
    found = addresses(["n1", "n2"], "n1", lambda _argv: shown)
    assert found["n2"] == "10.0.0.2"
    alone = addresses(["n1"], "n1", lambda _argv: shown)
    assert alone == {"n1": "127.0.1.1"}


def test_a_program_that_fails_says_why() -> None:
    output = run({})
    line = [sys.executable, "-c", "import sys; sys.exit('Invalid node')"]
    with pytest.raises(AllocationError, match="Invalid node"):
        output(line)
    with pytest.raises(AllocationError, match="no-such-program"):
        output(["/no-such-program"])


def test_a_controller_that_does_not_answer_is_asked_again(tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    line = [sys.executable, "-c", _SILENT_TWICE, str(asked)]
    pauses: list[float] = []
    assert run({}, pauses.append)(line) == "n1\n"
    assert len(pauses) == 2


def test_patience_with_a_silent_controller_has_an_end() -> None:
    times = iter([0.0, 1.0, 301.0])
    line = [sys.executable, "-c", "import sys; sys.exit('Unable to contact slurm controller')"]
    pauses: list[float] = []
    with pytest.raises(AllocationError, match="Unable to contact"):
        run({}, pauses.append, lambda: next(times))(line)
    assert len(pauses) == 1
