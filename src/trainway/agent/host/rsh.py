"""`trainway-rsh`: what an MPI launcher calls in the place of `ssh` to run a command in a pod.

    trainway-rsh [options of ssh] POD COMMAND...

POD is any of the names of a pod of the same job. On this host the command joins it directly, else
over SSH with the job's own key, to a host whose key the pool knows; nothing of the user's SSH
configuration has a part in it. Nodes of Slurm are reached by a step of the same allocation instead.
Options that a launcher gives to `ssh` are understood and, but for two, mean nothing here.
"""

from __future__ import annotations

import json
import os

from trainway.agent.base.directory import Directory
from trainway.agent.base.own_program import agent_command
from trainway.agent.host.peer_files import (
    COMMAND_VARIABLE,
    KEY,
    KNOWN_HOSTS,
    PEERS,
    POD_WORD,
    alias,
)
from trainway.agent.host.step_environment import step_environment
from trainway.agent.kubelet.variables import JOB_ID

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from trainway.json_types import Json


NAME = "trainway-rsh"
EXIT_ERROR = 255
"""The status with which `ssh` itself ends when it is not the command that failed."""
EXECUTABLE = 0o755
WITH_VALUE = frozenset("BbcDEeFIiJLlmOoPpQRSWw")
"""The options of ssh that are followed by a value."""
PASSED_ON = frozenset("nv")
OPTIONS = {
    "BatchMode": "yes",
    "ConnectTimeout": "10",
    "ConnectionAttempts": "10",
    "GlobalKnownHostsFile": "/dev/null",
    "IdentitiesOnly": "yes",
    "IdentityAgent": "none",
    "LogLevel": "ERROR",
    "StrictHostKeyChecking": "yes",
}


class RshError(Exception):
    """The command cannot be run in that pod. The message is for the launcher's log."""


class Call:
    """The words of a call, sorted."""

    def __init__(self, words: Sequence[str]) -> None:
        self.flags: list[str] = []
        """The options that mean something here."""
        rest = list(words)
        while rest and rest[0].startswith("-") and len(rest[0]) > 1:
            word = rest.pop(0)
            if word == "--":
                break
            for position, letter in enumerate(word[1:], 2):
                if letter in WITH_VALUE:
                    if position == len(word) and rest:
                        rest.pop(0)
                    break
                if letter in PASSED_ON:
                    self.flags.append(f"-{letter}")
        if len(rest) < 2:
            raise RshError(f"usage: {NAME} [options of ssh] POD COMMAND...")
        self.host = rest.pop(0).rpartition("@")[2]
        self.command = " ".join(rest)
        """The command as ssh sends it: the shell of the other side splits it again."""


def find_pod(host: str, jobset: str, pods: Json) -> str:
    """The key of the pod that has this name, or failing that the first one at this address."""
    first = host.split(".", 1)[0]
    for key in pods:
        if first == f"{jobset}-{key}":
            return key
    for key, peer in pods.items():
        if peer.get("address") == host:
            return key
    raise RshError(f"{host} is not a pod of this job")


def ssh_command(call: Call, pod: str, peer: Json, directory: str) -> list[str]:
    """The call of ssh that runs the command in a pod on another host."""
    options = {
        **OPTIONS,
        "HostKeyAlias": alias(pod),
        "UserKnownHostsFile": _quoted(f"{directory}/{KNOWN_HOSTS}"),
        "IdentityFile": _quoted(f"{directory}/{KEY}"),
    }
    line = ["ssh", "-F", "none", "-T", "-x", *call.flags]
    for name, value in options.items():
        line += ["-o", f"{name}={value}"]
    if peer.get("user"):
        line += ["-l", str(peer["user"])]
    line += ["-p", str(peer.get("port") or 22), "--", str(peer["address"])]
    return [*line, f"{POD_WORD}{pod} {call.command}"]


def step_command(join: Json, job: str) -> list[str]:
    """The call of srun that joins a pod on another node; the command is in its environment."""
    return [*join["step"], *agent_command(), "host", "join", str(join["home"]), job]


def _quoted(path: str) -> str:
    """A path in the words of an option, where spaces and per cent signs have a meaning."""
    escaped = path.replace("%", "%%")
    return f'"{escaped}"'


def install(home: str, python: str, archive: str) -> None:
    """Write the command into `<home>/bin`."""
    import shlex  # noqa: PLC0415 - slow, and not needed by the command itself

    words = [python, "-I", "-S", archive, "host", "rsh", home]
    text = "#!/bin/sh\nexec " + " ".join(shlex.quote(word) for word in words) + ' "$@"\n'
    directory = Directory(home)
    directory.make("bin")
    draft = f"bin/.{NAME}"
    directory.write(draft, text.encode("utf-8", "surrogateescape"), EXECUTABLE)
    os.replace(draft, f"bin/{NAME}", src_dir_fd=directory.fd, dst_dir_fd=directory.fd)
    directory.close()


def main(arguments: Sequence[str]) -> int:
    """Run `host rsh HOME ...`; the exit status is that of the command."""
    home, *words = arguments
    try:
        call = Call(words)
        job = os.environ.get(JOB_ID, "")
        directory = f"{home}/jobs/{job}"
        found = _peers(directory, job)
        pod = find_pod(call.host, str(found["jobset"]), found["pods"])
        peer = found["pods"][pod]
    except RshError as error:
        os.write(2, f"{NAME}: {error}\n".encode("utf-8", "surrogateescape"))
        return EXIT_ERROR
    if peer.get("host") == found["here"]:
        from trainway.agent.host.join import Session, attach  # noqa: PLC0415 - slow, and for here

        return attach(home, Session(job, pod, call.command))
    environ = dict(os.environ)
    if peer.get("join"):
        line = step_command(peer["join"], job)
        environ = step_environment(environ)
        environ[COMMAND_VARIABLE] = f"{POD_WORD}{pod} {call.command}"
    else:
        line = ssh_command(call, pod, peer, directory)
    try:
        os.execvpe(line[0], line, environ)  # noqa: S606 - the host's own, wherever it is
    except OSError as error:
        os.write(2, f"{NAME}: {line[0]}: {error.strerror}\n".encode())
        return EXIT_ERROR


def _peers(directory: str, job: str) -> Json:
    try:
        found: Json = json.loads(Directory(directory).read(PEERS))
    except (OSError, ValueError) as error:
        raise RshError(f"the other hosts of job {job!r} are not known here: {error}") from error
    return found
