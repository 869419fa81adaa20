import os
from pathlib import Path

import pytest

from trainway.sdk.address import Address
from trainway.sdk.submitter import job_environment, job_options, kubeconfig_files


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


def test_a_cluster_gets_the_kubeconfig_and_not_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KUBECONFIG", "mine:/other")
    options = job_options(Address("/x"), prefer_our_python=True, backend="k8s/test")
    expected = [str(tmp_path / "mine"), "/other"]
    assert options == {"workdir": str(tmp_path), "kubeconfig": expected}
    elsewhere = Address("", "elsewhere", 80)
    assert job_options(elsewhere, prefer_our_python=True, backend="k8s/test") == {}


def test_hosts_get_nothing_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    options = job_options(Address("/x"), prefer_our_python=True, backend="ssh/lab")
    assert options == {"workdir": str(tmp_path)}


def test_the_usual_kubeconfig_counts_where_none_is_named(tmp_path: Path) -> None:
    assert kubeconfig_files({}, tmp_path) == []
    usual = tmp_path / ".kube" / "config"
    usual.parent.mkdir()
    usual.write_text("")
    assert kubeconfig_files({}, tmp_path) == [str(usual)]


SENT = {
    None: {"workdir", "environ"},
    "local": {"workdir", "environ"},
    "cluster/dev": {"workdir", "environ"},
    "ssh/lab": {"workdir"},
    "slurm/hpc/gpu": {"workdir"},
    "k8s": {"workdir", "kubeconfig"},
    "k8s/a/b": {"workdir", "kubeconfig"},
    "k8s-like": set(),
    "aws/us-east-1": {"workdir"},
    "ibm/us-east": set(),
}


@pytest.mark.parametrize("place", SENT)
def test_a_family_is_sent_what_its_row_says_and_an_unknown_one_nothing(
    place: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRAINWAY_HOME", str(tmp_path))
    address = Address("unix", str(tmp_path / "socket"))
    assert set(job_options(address, prefer_our_python=False, backend=place)) == SENT[place]
