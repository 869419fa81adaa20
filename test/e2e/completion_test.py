"""Completion in real shells, turned on with the lines that the help has; those that are here."""

import os
import pty
import re
import select
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Final

import pytest
from installation import TIMEOUT_S, TRAINWAY, Installation, installed
from patience import until

SHELLS: Final = [shell for shell in ("bash", "zsh", "fish") if shutil.which(shell)]
JOB: Final = "completed-by-a-tab"
EKS: Final = "k8s/arn:aws:eks:eu-1:7:cluster/a"
FILES: Final = {
    ".kube/config": f"contexts: [{{name: '{EKS.removeprefix('k8s/')}'}}]",
    ".ssh/config": "Host gpu-box\n",
    "work/train.py": "",
    "work/two words.yaml": "",
}
WITHOUT_SERVER: Final = {
    "run tr": "train.py",
    "run tw": "two words.yaml",
    "run --env-file=tr": "--env-file=train.py",
    "run --runtime=jax": "--runtime=jax-distributed",
    "run --on ssh/g": "ssh/gpu-box",
    "run --on k8s/arn:aws:ek": EKS,
    "run --on=k8s/arn": f"--on={EKS}",
    "jobs show comp": "comp",
}


class Terminal:
    """An interactive shell, into which somebody types."""

    def __init__(self, shell: str, environ: Mapping[str, str], folder: Path) -> None:
        self._keys, screen = pty.openpty()
        self._shell = subprocess.Popen(
            ["setsid", "--ctty", shell, "-i"],
            env=environ, cwd=folder, stdin=screen, stdout=screen, stderr=screen,
        )  # fmt: skip
        os.close(screen)

    def completed(self, line: str) -> str:
        """The last word of a line once the tabulator was pressed, as a command would get it."""
        os.write(self._keys, f"{line}\t\x05 ''\x01printf '<%s>' \r".encode())
        printed = ""
        while not (words := re.search(r"(<[^<>%]*>)+<>", printed)):
            assert select.select([self._keys], [], [], TIMEOUT_S)[0], printed
            printed += os.read(self._keys, 65536).decode(errors="replace")
        return str(re.findall(r"<([^<>]*)>", words[0])[-2])

    def close(self) -> None:
        """End it."""
        os.close(self._keys)
        self._shell.kill()
        self._shell.wait(TIMEOUT_S)


class Fish:
    """Fish, which can be asked what it would offer."""

    def __init__(self, environ: Mapping[str, str], folder: Path) -> None:
        self._environ = environ
        self._folder = folder

    def completed(self, line: str) -> str:
        """The one offer for a line, else its last word."""
        done = subprocess.run(
            ["fish", "-c", f"complete -C '{line}'"],
            env=self._environ, cwd=self._folder, capture_output=True, text=True, check=True,
            timeout=TIMEOUT_S,
        )  # fmt: skip
        assert done.stderr == ""
        offers = done.stdout.splitlines()
        return offers[0].partition("\t")[0] if len(offers) == 1 else line.rsplit(maxsplit=1)[-1]

    def close(self) -> None:
        """Nothing runs."""


@contextmanager
def opened(shell: str, user: Installation, folder: Path) -> Iterator[Terminal | Fish]:
    environ = {
        "HOME": user.variables["HOME"],
        "TRAINWAY_HOME": str(user.home),
        "PATH": f"{TRAINWAY.parent}:{os.environ['PATH']}",
        "TERM": "dumb",
        "LANG": "C.UTF-8",
    }
    terminal = Fish(environ, folder) if shell == "fish" else Terminal(shell, environ, folder)
    try:
        yield terminal
    finally:
        terminal.close()


def turn_on(user: Installation, shell: str) -> None:
    text = user.run("completion", "--help")
    lines = re.search(rf"^  {shell}:\n((?:    .*\n)+)", text, re.MULTILINE)
    assert lines, text
    path = f"{TRAINWAY.parent}:{os.environ['PATH']}"
    subprocess.run(["sh", "-ec", lines[1]], env=user.environ() | {"PATH": path}, check=True)


@pytest.fixture
def user(tmp_path: Path) -> Iterator[Installation]:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    with installed(tmp_path / "trainway", {"HOME": str(tmp_path)}) as installation:
        yield installation


def test_a_tab_completes_in_every_shell(user: Installation, tmp_path: Path) -> None:
    for shell in SHELLS:
        turn_on(user, shell)
        with opened(shell, user, tmp_path / "work") as terminal:
            found = {line: terminal.completed(f"trainway {line}") for line in WITHOUT_SERVER}
        assert (shell, found) == (shell, WITHOUT_SERVER)
    assert not (user.home / "server.json").exists()

    user.run("run", "--name", JOB, "--", "true")
    for shell in SHELLS:
        with opened(shell, user, tmp_path / "work") as terminal:
            until(partial(_shows_job, terminal), f"{shell} does not complete the name of a job")


def _shows_job(terminal: Terminal | Fish) -> bool:
    """Whether a tab found the job: it gives up on a server that is slow, as on a busy machine."""
    return terminal.completed("trainway jobs show comp") == JOB
