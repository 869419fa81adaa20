import os
from pathlib import Path

import pytest

from trainway.sdk.address import Address
from trainway.sdk.submitter import job_environment, job_options


@pytest.mark.parametrize(
    ("path", "prefer", "expected"),
    [
        ("/usr/bin:/bin", False, "/usr/bin:/bin:/our"),
        ("/usr/bin:/our:/bin", False, "/usr/bin:/our:/bin"),
        ("/usr/bin:/our", True, "/our:/usr/bin"),
        ("", False, "/our"),
    ],
)
def test_our_programs_are_found_too(path: str, prefer: bool, expected: str) -> None:
    environ = job_environment({"PATH": path}, "/our", prefer_our_python=prefer)
    assert environ["PATH"] == expected


def test_a_job_inherits_what_matters() -> None:
    environ = {
        "PATH": "/bin",
        "HOME": "/home/x",
        "_": "/bin/trainway",
        "PWD": "/x",
        "RANK": "7",
        "TRAINWAY_TOKEN": "secret",
        "TRAINWAY_HOME": "/h",
        "LATIN": b"\xff".decode(errors="surrogateescape"),
        "PYTHONUNBUFFERED": "0",
    }
    assert job_environment(environ, "/bin", prefer_our_python=False) == {
        "PATH": "/bin",
        "HOME": "/home/x",
        "RANK": "7",
        "TRAINWAY_HOME": "/h",
        "PYTHONUNBUFFERED": "0",
    }


def test_a_job_within_a_job_does_not_inherit_its_place_in_the_gang() -> None:
    environ = {"TRAINWAY_JOB_ID": "a", "RANK": "7", "PET_NNODES": "2", "OMPI_X": "1", "A": "1"}
    inherited = job_environment(environ, "/bin", prefer_our_python=False)
    assert inherited.keys() == {"A", "PATH", "PYTHONUNBUFFERED"}


def test_only_a_server_here_gets_the_surroundings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    here = job_options(Address("/x"), prefer_our_python=True)
    assert here["workdir"] == str(tmp_path)
    assert here["environ"]["HOME"] == os.environ["HOME"]
    assert job_options(Address("", "elsewhere", 80), prefer_our_python=True) == {}
