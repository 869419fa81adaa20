"""Packages of jobs, with the real uv and a wheel of the test: made once, whole or not at all."""

import json
import os
import platform
import shlex
import signal
import stat
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from gate import Gate
from installation import Installation, installed
from patience import until
from slurm_site import ON as ON_SLURM
from slurm_site import SlurmSite
from small_disk import filled, small_disk
from ssh_pool import ON, SshPool

pytestmark = pytest.mark.engine

UV = Path(sys.executable).with_name("uv")
SAYS = "import sys, tw_probe; print(tw_probe.NAME, sys.prefix)"
COUNTING = """#!/bin/sh
echo "$1" >> {calls}
if [ "$1" = pip ] && [ -e {held} ]; then
  echo $PPID > {pids}
  {wait}
fi
exec {uv} "$@"
"""


def wheel(folder: Path) -> None:
    """The smallest package there can be."""
    info = "tw_probe-1.0.dist-info"
    files = {
        "tw_probe.py": 'NAME = "probe"\ndef main():\n    print("probe of", __file__)\n',
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: tw-probe\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": "[console_scripts]\ntw-probe = tw_probe:main\n",
        f"{info}/RECORD": "",
    }
    with zipfile.ZipFile(folder / "tw_probe-1.0-py3-none-any.whl", "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)


@dataclass(frozen=True)
class Shop:
    """Where packages come from, and a uv that notes when it is called."""

    folder: Path

    @property
    def requirements(self) -> Path:
        return self.folder / "requirements.txt"

    @property
    def calls(self) -> list[str]:
        return (self.folder / "calls").read_text().split()

    @property
    def environments(self) -> Path:
        return self.folder / "environments"

    def notes(self) -> list[str]:
        """The environments that are whole."""
        return sorted(path.stem for path in self.environments.glob("*.json"))

    def uv(self, wait: str = "true") -> Path:
        """A uv that waits while it is held."""
        path = self.folder / "uv"
        names = {name: self.folder / name for name in ("calls", "held", "pids")}
        path.write_text(COUNTING.format(uv=UV, wait=wait, **names))
        path.chmod(path.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
        return path

    def words(self, *, with_uv: bool = True) -> tuple[str, ...]:
        """What a command says to have the package in environments of the test's own."""
        variables = {"TRAINWAY_ENVIRONMENTS": self.environments}
        if with_uv:
            variables["TRAINWAY_UV"] = self.folder / "uv"
        told = [word for name, value in variables.items() for word in ("--env", f"{name}={value}")]
        return ("--requirements", str(self.requirements), *told)


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    folder = tmp_path / "shop"
    folder.mkdir()
    wheel(folder)
    (folder / "calls").touch()
    made = Shop(folder)
    made.requirements.write_text(f"--no-index\n--find-links {folder}\ntw-probe\n")
    made.uv()
    return made


@pytest.fixture(scope="module")
def user(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    with installed(tmp_path_factory.mktemp("packages")) as installation:
        yield installation


def prefixes(printed: str) -> set[str]:
    return {line.split()[-1] for line in printed.splitlines() if "| probe " in line}


def test_two_jobs_at_once_make_one_environment(user: Installation, shop: Shop) -> None:
    words = ("--nodes", "2", *shop.words(), "--", "python", "-c", SAYS)
    jobs = [user.submit(*words) for _ in range(2)]
    printed = [user.run("jobs", "logs", "-f", job) for job in jobs]
    (key,) = shop.notes()
    assert [prefixes(text) for text in printed] == [{str(shop.environments / key)}] * 2
    assert shop.calls == ["venv", "pip"]
    # Its programs are found, and those of the Python below it run with it, as torchrun would.
    script = "tw-probe; head -2 $VIRTUAL_ENV/bin/pytest"
    said = user.run("run", *shop.words(), "--", "sh", "-c", f"{script}; pytest --version")
    assert f"probe of {shop.environments / key}" in said
    assert f"exec '{shop.environments / key}/bin/python" in said
    assert "| pytest " in said
    assert shop.calls == ["venv", "pip"]


def test_who_is_killed_in_the_middle_leaves_no_half_environment(
    user: Installation, shop: Shop, gate: Gate
) -> None:
    shop.uv(wait=shlex.join(gate.command("installing")))
    (shop.folder / "held").touch()
    job = user.submit("--name", "killed", *shop.words(), "--", "python", "-c", SAYS)
    gate.next()
    os.kill(int((shop.folder / "pids").read_text()), signal.SIGKILL)
    user.run("jobs", "wait", job, code=4)
    failure = user.json("jobs", "show", job)["status"]["failure"]["summary"]
    assert "EnvironmentFailed: what makes the environment did not finish" in failure
    assert shop.notes() == []
    assert [path for path in shop.environments.iterdir() if path.name != "locks"]
    (shop.folder / "held").unlink()
    printed = user.run("run", *shop.words(), "--", "python", "-c", SAYS)
    (key,) = shop.notes()
    assert prefixes(printed) == {str(shop.environments / key)}


def test_a_missing_package_is_named_as_the_reason(user: Installation, shop: Shop) -> None:
    shop.requirements.write_text(f"--no-index\n--find-links {shop.folder}\nnosuchpackage\n")
    job = user.submit(*shop.words(), "--restarts", "1", "--", "true")
    user.run("jobs", "wait", job, code=4)
    status = user.json("jobs", "show", job)["status"]
    assert (
        "EnvironmentFailed: the packages could not be installed: " in status["failure"]["summary"]
    )
    assert "nosuchpackage was not found" in status["failure"]["summary"]
    assert (status["cause"], status["restarts"]) == ("Refused", 1)
    assert shop.notes() == []


def test_without_uv_pip_does_it(user: Installation, shop: Shop) -> None:
    words = [word for word in shop.words() if not word.startswith("TRAINWAY_UV=")]
    words[words.index("--env", 3) :] = ["--env", "TRAINWAY_UV="]
    printed = user.run("run", *words, "--", "python", "-c", SAYS)
    (key,) = shop.notes()
    assert prefixes(printed) == {str(shop.environments / key)}
    assert json.loads((shop.environments / f"{key}.json").read_text())["tool"] == "pip"


def test_a_full_disk_is_said_in_one_sentence_and_nothing_half_stays(
    user: Installation, shop: Shop
) -> None:
    with small_disk(shop.environments):
        with filled(shop.environments):
            job = user.submit(*shop.words(), "--", "python", "-c", SAYS)
            user.run("jobs", "wait", job, code=4)
            failure = user.json("jobs", "show", job)["status"]["failure"]["summary"]
            said = f"EnvironmentFailed: the disk of {shop.environments} is full; free some space"
            assert said in failure
            assert "Traceback" not in user.run("jobs", "logs", job)
            assert shop.notes() == []
        printed = user.run("run", *shop.words(), "--", "python", "-c", SAYS)
        (key,) = shop.notes()
        assert prefixes(printed) == {str(shop.environments / key)}


@pytest.mark.xdist_group("ssh")
def test_hosts_without_uv_use_pip(ssh_pool: SshPool, shop: Shop) -> None:
    words = ("--on", ON, "--nodes", "2", *shop.words(with_uv=False))
    printed = ssh_pool.run("run", *words, "--", "python3", "-c", SAYS)
    assert printed.count("| probe ") == 2
    told = [json.loads((shop.environments / f"{key}.json").read_text()) for key in shop.notes()]
    assert {each["tool"] for each in told} == {"pip"}
    assert shop.calls == []


@pytest.mark.xdist_group("ssh")
def test_uv_is_brought_to_hosts_from_where_packages_come_from(
    ssh_pool: SshPool, shop: Shop
) -> None:
    name = f"uv-1.0-py3-none-musllinux_1_1_{platform.machine()}.whl"
    with zipfile.ZipFile(shop.folder / name, "w") as archive:
        archive.write(UV, "uv-1.0.data/scripts/uv")
    words = ("--on", ON, "--nodes", "2", *shop.words(with_uv=False))
    job = ssh_pool.submit_here(*words[2:], "--", "python3", "-c", SAYS)
    ssh_pool.run("jobs", "wait", job)
    logs = ssh_pool.run("jobs", "logs", job)
    assert logs.count("| probe ") == 2
    assert logs.count("bringing uv 1.0 to this host") == 1, "once, since the hosts share a folder"
    told = [json.loads((shop.environments / f"{key}.json").read_text()) for key in shop.notes()]
    assert {each["tool"] for each in told} == {"uv"}
    assert shop.calls == []


@pytest.mark.xdist_group("ssh")
def test_each_host_makes_its_environment(ssh_pool: SshPool, shop: Shop) -> None:
    words = ("--on", ON, "--nodes", "2", *shop.words(), "--", "python3", "-c", SAYS)
    printed = ssh_pool.run("run", *words)
    assert printed.count("| probe ") == 2
    assert prefixes(printed) == {str(shop.environments / key) for key in shop.notes()}


@pytest.mark.xdist_group("ssh")
def test_no_process_starts_before_all_hosts_have_their_environment(
    ssh_pool: SshPool, shop: Shop, tmp_path: Path
) -> None:
    """The first host that installs goes ahead, and the other one waits until that is known."""
    first, release = tmp_path / "first", tmp_path / "release"
    mine = f"mkdir {first} 2>/dev/null || while [ ! -e {release} ]; do sleep 0.05; done"
    (shop.folder / "held").touch()
    shop.uv(wait=mine)
    words = [word for word in shop.words() if "TRAINWAY_ENVIRONMENTS" not in word]
    words.remove("--env")  # each host has its own folder, as hosts do
    job = ssh_pool.submit_here("--nodes", "2", *words, "--", "python3", "-c", SAYS)
    until(lambda: len(prepared(ssh_pool, job)) == 1, "no host has its environment")
    assert not started(ssh_pool, job)
    release.touch()
    ssh_pool.run("jobs", "wait", job)
    ready, running = prepared(ssh_pool, job), started(ssh_pool, job)
    assert len(ready) == len(running) == 2
    assert max(ready.values()) < min(running.values())


def prepared(pool: SshPool, job: str) -> dict[str, int]:
    """When each pod first said that it has its environment, as numbers of the journal."""
    records = enumerate(pool.journal(job))
    found = [(each["pod"], at) for at, each in records if each.get("prepared")]
    return dict(reversed(found))


def started(pool: SshPool, job: str) -> dict[str, int]:
    """When a container of each pod first ran that is not the one which makes the environment."""
    found = [
        (each["pod"], at)
        for at, each in enumerate(pool.journal(job))
        for item in each.get("containers") or ()
        if not item.get("kind") and item["state"] != "waiting"
    ]
    return dict(reversed(found))


@pytest.mark.xdist_group("slurm")
def test_nodes_of_slurm_share_one(slurm_site: SlurmSite, shop: Shop) -> None:
    words = ("--on", ON_SLURM, "--nodes", "2", *shop.words(), "--", "python3", "-c", SAYS)
    printed = slurm_site.run("run", *words)
    assert printed.count("| probe ") == 2
    assert prefixes(printed) == {str(shop.environments / key) for key in shop.notes()}
    assert shop.calls.count("venv") == len(shop.notes())
