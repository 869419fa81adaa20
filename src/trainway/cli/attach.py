"""Becoming a command in a pod of a job.

In a cluster that is a program of its own which connects with the pod, since it needs packages that
a client has no use for; it acts with the kubeconfig of whoever runs it. On this machine it is the
command itself, where a process of the pod is: with its environment, in its folder, and with its
mounts. On an SSH host it is the same, through the user's own ssh.
"""

import os
import shlex
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from trainway.errors import NotFoundError, UnavailableError
from trainway.json_types import Json

_PACKAGES: Final = ("aiohttp", "orjson")


def program(verb: str, place: Json, options: Sequence[str], words: Sequence[str]) -> list[str]:
    """The command line."""
    found = [sys.executable, "-P", "-m", "trainway.kube.attach", verb]
    for path in place["kubeconfig"]:
        found += ["--kubeconfig", path]
    if place["context"]:
        found += ["--context", place["context"]]
    found += ["--namespace", place["namespace"], "--pod", place["pod"]]
    return [*found, *options, "--", *words]


def execute(place: Json, options: Sequence[str], container: str, words: Sequence[str]) -> None:
    """Replace this process by a command in a container of the pod."""
    if place.get("remote"):
        log_in(place["program"], place["remote"][container], options, words)
    elif place.get("processes"):
        join(place["processes"][container], place["job"], words)
    else:
        become("exec", place, ["--container", container, *options], words)


def join(process: int, job: str, words: Sequence[str]) -> None:
    """Replace this process by a command beside another one of this machine."""
    home = Path(f"/proc/{process}")
    try:
        variables = (home / "environ").read_bytes().split(b"\0")
        if f"TRAINWAY_JOB_ID={job}".encode() not in variables:
            raise FileNotFoundError(process)
        folder = (home / "cwd").readlink()
        is_apart, has_users = (
            (home / "ns" / name).readlink() != Path("/proc/self/ns", name).readlink()
            for name in ("mnt", "user")
        )
    except OSError:
        raise UnavailableError(
            "the processes of the job are on another machine or belong to another user",
            hint="run this command on the machine of the server, as the same user",
        ) from None
    if is_apart:
        users = ["--user", "--preserve-credentials"] if has_users else []
        words = ["nsenter", "--target", str(process), *users, "--mount", f"--wd={folder}", *words]
    else:
        os.chdir(folder)
    environ = dict(variable.partition(b"=")[::2] for variable in variables if b"=" in variable)
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        os.execvpe(words[0], list(words), environ)  # noqa: S606 - what the user asked for
    except OSError as error:
        raise NotFoundError(f"{words[0]}: {error.strerror}") from None


def log_in(
    program: Sequence[str], before: str, options: Sequence[str], words: Sequence[str]
) -> None:
    """Replace this process by ssh, or a shell, which runs a command beside a process of a host."""
    flags = ["-t"] if "--tty" in options else ["-T"]
    flags += [] if "--stdin" in options else ["-n"]
    told = flags if program[0] == "ssh" else []
    command = [program[0], *told, *program[1:], f"{before} {shlex.join(words)}"]
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        os.execvp(command[0], command)  # noqa: S606 - the user's own ssh
    except OSError as error:
        raise NotFoundError(f"{command[0]}: {error.strerror}") from None


def become(verb: str, place: Json, options: Sequence[str], words: Sequence[str]) -> None:
    """Replace this process."""
    missing = [package for package in _PACKAGES if find_spec(package) is None]
    if missing:
        raise UnavailableError(
            f"pods need packages that are not installed: {', '.join(missing)}",
            hint="pip install 'trainway[kubernetes]'",
        )
    sys.stdout.flush()
    sys.stderr.flush()
    command = program(verb, place, options, words)
    os.execv(command[0], command)  # noqa: S606 - our own program
