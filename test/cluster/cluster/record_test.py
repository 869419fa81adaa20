import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from cluster.processes import Identity, process_start
from cluster.record import Record, new_folder, records, this_process
from cluster.teardown import clear_leftovers

GONE = Identity(1, "never")


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Clusters of this machine are not this test's."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def test_a_record_can_be_read_by_others() -> None:
    record = Record(new_folder(), "node", True, GONE, [this_process()], "trainway3")
    record.write()
    assert list(records()) == [record]


@dataclass(frozen=True)
class Case:
    name: str
    stays: bool
    owner: Identity
    leftover: bool


CASES = [
    Case("its test runs", False, this_process(), False),
    Case("its test was killed", False, GONE, True),
    Case("a person wants it", True, GONE, False),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_only_what_nobody_owns_is_cleared(case: Case) -> None:
    with subprocess.Popen(["sleep", "600"]) as process:
        identity = Identity(process.pid, process_start(process.pid))
        record = Record(new_folder(), "api", case.stays, case.owner, [identity])
        record.write()
        clear_leftovers()
        assert identity.is_alive() is not case.leftover
        assert record.folder.exists() is not case.leftover
        process.kill()


def test_this_process_is_alive() -> None:
    assert this_process().pid == os.getpid()
    assert this_process().is_alive()
