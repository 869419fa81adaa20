import json
import os
import platform
import sys
import zipfile
from pathlib import Path

import pytest

from trainway.agent.base import linux
from trainway.agent.environment import entry, overlay
from trainway.agent.environment.base_python import BasePython
from trainway.agent.environment.failure import EnvironmentFailedError
from trainway.agent.environment.installer import find_uv
from trainway.agent.environment.make import DEFAULT_SIZE, run, size_limit
from trainway.agent.environment.shelf import Shelf, folder_of
from trainway.json_types import Json

UV = """#!/bin/sh
echo "$@" >> "$UV_CALLS"
if [ "$1" = venv ]; then
  for path; do :; done
  mkdir -p "$path/bin" "$path/lib/python$UV_PYTHON/site-packages"
  ln -s "$UV_BASE" "$path/bin/python"
elif [ -n "$UV_FAILS" ]; then
  echo "error: nothing-like-it was not found"; exit 1
fi
"""
"""What uv does, as far as an environment shows it."""


WITHOUT_VENV = """#!/bin/sh
if [ "$1 $2" = "-m venv" ]; then echo "ensurepip is not available"; exit 1; fi
exec {python} "$@"
"""


class Host:
    """A host with a uv that installs nothing."""

    def __init__(self, folder: Path) -> None:
        self.uv = folder / "uv"
        self.uv.write_text(UV)
        self.uv.chmod(0o755)
        (folder / "python").symlink_to(sys.executable)
        self._folder = folder
        self.calls = folder / "calls"
        self.environ = {
            "HOME": str(folder),
            "PATH": f"{folder}:/usr/bin:/bin",
            "UV_BASE": sys.executable,
            "UV_PYTHON": "{}.{}".format(*sys.version_info),
            "UV_CALLS": str(self.calls),
        }
        self.shelf = Shelf(folder_of(self.environ))

    def make(self, text: str) -> tuple[int, Json]:
        """What comes of it."""
        asked, result = self._folder / "asked.txt", self._folder / "result.json"
        asked.write_text(text)
        status = run(str(asked), str(result), self.environ)
        return status, json.loads(result.read_text())


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path)


def test_an_environment_is_made_once(host: Host, capsys: pytest.CaptureFixture[str]) -> None:
    status, told = host.make("nothing-like-it\n")
    assert (status, told["folder"]) == (0, host.shelf.folder)
    assert "with uv" in told["message"]
    assert "making the environment: nothing-like-it" in capsys.readouterr().out
    base = next(Path(host.shelf.path(told["key"])).glob("lib/*/*/_trainway_base.pth"))
    assert "site.addsitedir" in base.read_text()
    calls = host.calls.read_text().splitlines()
    assert [call.split()[0] for call in calls] == ["venv", "pip"]

    status, again = host.make("nothing-like-it\n")
    assert (status, again["key"]) == (0, told["key"])
    assert "is there already" in again["message"]
    assert host.calls.read_text().splitlines() == calls


def test_what_is_installed_already_needs_no_environment(host: Host) -> None:
    status, told = host.make("pytest\n")
    assert (status, told["key"]) == (0, "")
    assert not host.calls.exists()


@pytest.mark.parametrize(
    ("asked", "is_there"),
    [
        ("2.9", True),
        ("2.9.0", True),
        ("2.9.0.0", True),
        ("2.9.0+cu128", True),
        ("2.9.0+cpu", False),
        ("2.9.1", False),
        ("2", False),
        ("2.90", False),
    ],
)
def test_a_version_is_there_as_pip_and_uv_see_it(asked: str, is_there: bool, host: Host) -> None:
    site = Path(host.environ["HOME"], "site")
    info = site / "fast_torch-2.9.0+cu128.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Name: fast-torch\nVersion: 2.9.0+cu128\n")
    host.environ["PYTHONPATH"] = str(site)
    _, told = host.make(f"fast-torch=={asked}\n")
    assert (told["key"] == "") is is_there


def test_a_failure_leaves_nothing_and_says_why(host: Host) -> None:
    host.environ["UV_FAILS"] = "1"
    status, told = host.make("nothing-like-it\n")
    why = "the packages could not be installed: nothing-like-it was not found"
    assert (status, told) == (1, {"failure": why})
    assert os.listdir(host.shelf.folder) == ["locks"]
    del host.environ["UV_FAILS"]
    assert host.make("nothing-like-it\n")[0] == 0


def test_the_rest_of_somebody_who_was_killed_is_made_anew(host: Host) -> None:
    _, told = host.make("nothing-like-it\n")
    os.unlink(f"{host.shelf.path(told['key'])}.json")
    Path(host.shelf.path(told["key"]), "half").touch()
    _, again = host.make("nothing-like-it\n")
    assert "made the environment" in again["message"]
    assert not Path(host.shelf.path(told["key"]), "half").exists()


def test_without_python_the_job_is_told_so(host: Host) -> None:
    host.environ["PATH"] = "/nowhere"
    assert host.make("six") == (1, {"failure": "there is no python on the PATH of the job"})


def test_a_full_disk_is_a_reason(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Shelf) -> None:
        raise OSError(28, "No space left on device", self.folder)

    monkeypatch.setattr(Shelf, "prepare", full)
    _, told = host.make("nothing-like-it")
    assert told["failure"].startswith(f"the disk of {host.shelf.folder} is full; free some space")


@pytest.mark.parametrize("when", ["install", "programs", "note"])
def test_a_disk_that_becomes_full_leaves_no_environment(
    host: Host, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device", host.shelf.folder)

    if when == "install":
        host.environ["UV_FAILS"] = "1"
        host.uv.write_text(UV.replace("nothing-like-it was not found", "No space left on device"))
    elif when == "programs":
        failing = "raise OSError(28, 'No space left on device')"
        monkeypatch.setattr(overlay, "SCRIPTS", failing)
    else:
        monkeypatch.setattr(linux, "sync_file_system", full)
    _, told = host.make("nothing-like-it")
    assert told["failure"].startswith(f"the disk of {host.shelf.folder} is full")
    assert os.listdir(host.shelf.folder) == ["locks"]


def test_where_the_kernel_cannot_sync_one_disk_all_are_synced(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(_fd: int) -> None:
        raise linux.SystemCallError(38, "syncfs does not exist here")

    synced: list[str] = []
    monkeypatch.setattr(linux, "sync_file_system", missing)
    monkeypatch.setattr(os, "sync", lambda: synced.append("all"))
    assert host.make("nothing-like-it")[0] == 0
    assert synced == ["all"]


def test_they_are_listed_and_pruned(
    host: Host, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, told = host.make("nothing-like-it\n")
    monkeypatch.setenv("TRAINWAY_ENVIRONMENTS", host.shelf.folder)
    capsys.readouterr()
    assert entry.main(["ls"]) == 0
    (listed,) = json.loads(capsys.readouterr().out)
    assert (listed["packages"], listed["inUse"]) == (["nothing-like-it"], False)
    lease = host.shelf.use(told["key"])
    assert lease is not None
    assert entry.main(["prune", "--all"]) == 0
    assert json.loads(capsys.readouterr().out) == []
    os.close(lease)
    entry.main(["prune", "--all"])
    assert [item["key"] for item in json.loads(capsys.readouterr().out)] == [told["key"]]
    assert entry.main(["what"]) == 2


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("", DEFAULT_SIZE),
        ("500MB", 5 * 10**8),
        ("2TB", 2 * 10**12),
        ("1000", 1000),
        ("0", 0),
    ],
)
def test_the_limit(text: str, size: int) -> None:
    assert size_limit({"TRAINWAY_ENVIRONMENTS_SIZE": text}) == size


@pytest.mark.parametrize("text", ["x", "50Gi", "-1", "inf", "nan", "1e400TB"])
def test_a_limit_that_is_no_size_is_told(
    text: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TRAINWAY_ENVIRONMENTS_SIZE", text)
    with pytest.raises(EnvironmentFailedError, match="is not a size; write 500MB"):
        size_limit(os.environ)
    assert entry.main(["prune"]) == 2
    assert f"TRAINWAY_ENVIRONMENTS_SIZE: '{text}' is not a size" in capfd.readouterr().err


def test_which_uv(tmp_path: Path) -> None:
    told = {"executable": "/x/python", "version": "3.11", "full": "3.11.7", "sites": [],
            "has_all": False, "prefix": "/x"}  # fmt: skip
    python = BasePython(told)
    assert find_uv(python, {"TRAINWAY_UV": ""}) is None
    own = tmp_path / ".local" / "bin" / "uv"
    own.parent.mkdir(parents=True)
    own.write_text("")
    own.chmod(0o755)
    assert find_uv(python, {"HOME": str(tmp_path), "PATH": "/nowhere"}) == str(own)


def test_uv_is_brought_where_there_is_none(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trainway.agent.environment.make.find_uv", lambda *_: None)
    folder = host.uv.parent / "wheels"
    folder.mkdir()
    name = f"uv-1.0-py3-none-musllinux_1_1_{platform.machine()}.whl"
    with zipfile.ZipFile(folder / name, "w") as archive:
        archive.writestr("uv-1.0.data/scripts/uv", UV)
    status, told = host.make(f"--no-index\n--find-links {folder}\nnothing-like-it\n")
    assert (status, "with uv" in told["message"]) == (0, True)
    assert [entry.key for entry in host.shelf.entries()] == [told["key"]]


def test_without_uv_and_venv_one_sentence_says_what_to_install(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trainway.agent.environment.make.find_uv", lambda *_: None)
    python = host.uv.with_name("python")
    python.unlink()
    python.write_text(WITHOUT_VENV.format(python=sys.executable))
    python.chmod(0o755)
    host.uv.unlink()
    monkeypatch.setattr(
        BasePython,
        "executable",
        property(lambda _self: str(python), lambda *_: None),
        raising=False,
    )
    status, told = host.make("--no-index\nnothing-like-it\n")
    assert status == 1
    assert told["failure"] == (
        "there is no uv on this host, it cannot be brought (the job has no index of packages, and"
        " no folder of it has uv), and python -m venv failed; install uv, or Python's venv (on"
        " Debian and Ubuntu it is the package python3-venv): ensurepip is not available"
    )
