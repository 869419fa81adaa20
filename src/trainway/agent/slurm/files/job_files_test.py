import hashlib
import json
import os
from binascii import b2a_base64
from pathlib import Path

import pytest

from trainway.agent.base.directory import Directory
from trainway.agent.slurm.files.job_files import RUN, SUSPEND, JobFiles, JobFilesError
from trainway.agent.transfer.blobs import Blobs, resolved
from trainway.agent.transfer.file_names import STOPPED
from trainway.json_types import Json

VALUE = b"x" * 5000
DIGEST = hashlib.sha256(VALUE).hexdigest()
PLAN: Json = {
    "id": "job-1",
    "slurm": {"grace": 7},
    "objects": [{"kind": "ConfigMap", "data": {"large": {"$blob": DIGEST}, "small": "s"}}],
}


@pytest.fixture
def home(tmp_path: Path) -> Directory:
    (tmp_path / "agent.pyz").write_bytes(b"program")
    return Directory(str(tmp_path))


@pytest.fixture
def files(home: Directory) -> JobFiles:
    blobs = Blobs(home)
    data = b2a_base64(VALUE, newline=False).decode()
    blobs.receive(DIGEST, "sender", {"data": data, "offset": 0, "last": True})
    found = JobFiles(home, "job-1", make=True)
    found.put(PLAN, "#!/bin/sh\n", blobs, home.join("agent.pyz"))
    return found


def test_all_that_a_job_consists_of_is_there(files: JobFiles) -> None:
    names = set(os.listdir(files.directory.path))
    assert {"plan.json", "script.sbatch", "agent.pyz", "wish", "logs", "output", "pods"} <= names
    plan = json.loads(files.directory.read("plan.json"))
    assert resolved(plan["objects"], files.directory)[0]["data"]["large"] == VALUE.decode()
    assert files.directory.read("wish") == b"run"
    assert files.directory.read("agent.pyz") == b"program"
    assert (files.grace, files.brings_output, files.number) == (7.0, True, "")


def test_a_submission_leaves_its_mark_until_the_number_is_known(files: JobFiles) -> None:
    marks = [files.may_be_submitted]
    files.begin_submission()
    marks.append(files.may_be_submitted)
    files.set_number("12")
    marks.append(files.may_be_submitted)
    assert marks == [False, True, False]
    assert files.number == "12"


def test_the_token_of_a_driver_tells_the_number_too(files: JobFiles) -> None:
    files.directory.write("token", b"4711.2\n")
    assert files.number == "4711"


@pytest.fixture
def members(home: Directory) -> list[JobFiles]:
    """The jobs of an array."""
    found = [JobFiles(home, f"job-{rank}", make=True) for rank in range(2)]
    for rank, files in enumerate(found):
        plan = {"slurm": {"array": {"id": "job-0", "rank": rank, "count": 2}}}
        files.put(plan, "#!/bin/sh\n", Blobs(home), home.join("agent.pyz"))
    return found


def test_a_job_of_an_array_is_found_under_its_rank(
    home: Directory, members: list[JobFiles]
) -> None:
    for rank, files in enumerate(members):
        path = Path(home.path, "arrays", "job-0", str(rank))
        assert path.samefile(files.directory.path)
        assert files.owner == f"job-0_{rank}"
        files.directory.write("token", b"12_1.0")
        assert files.number == "12_1"


def test_an_array_goes_with_the_last_of_its_jobs(home: Directory, members: list[JobFiles]) -> None:
    array = Path(home.path, "arrays", "job-0")
    members[0].leave_array()
    assert os.listdir(array) == ["1"]
    members[1].leave_array()
    assert not array.exists()
    members[1].leave_array()


def test_an_array_leads_nowhere_else(home: Directory) -> None:
    files = JobFiles(home, "job-1", make=True)
    plan = {"slurm": {"array": {"id": "../jobs", "rank": 0, "count": 1}}}
    with pytest.raises(JobFilesError):
        files.put(plan, "", Blobs(home), home.join("agent.pyz"))


def test_a_new_wish_makes_an_old_answer_void(files: JobFiles) -> None:
    files.directory.write("stopped", b"1.0")
    files.wish("suspend")
    assert files.directory.read("wish") == b"suspend"
    assert not files.has("stopped")


@pytest.mark.parametrize("identity", ["", "..", "a/b", "-x"])
def test_ids_that_lead_elsewhere_are_refused(home: Directory, identity: str) -> None:
    with pytest.raises(JobFilesError):
        JobFiles(home, identity, make=True)


def test_a_job_that_is_not_there(home: Directory) -> None:
    with pytest.raises(JobFilesError, match="not on this cluster"):
        JobFiles(home, "job-2")


def test_a_driver_that_has_stopped_is_not_asked_for_the_same_again(files: JobFiles) -> None:
    files.wish(SUSPEND)
    files.directory.write(STOPPED, b"1.0")
    files.wish(SUSPEND)
    assert files.has(STOPPED)
    files.wish(RUN)
    assert (files.has(STOPPED), files.wished) == (False, RUN)
