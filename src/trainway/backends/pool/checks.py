"""What `trainway doctor` says of a host: from what the host reports, or from what ssh complains of.

Only the question is asked here (`asked`); the rest is pure.
"""

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from trainway.agent.transfer.ssh_command import OLDEST_PYTHON, shell_path, ssh_arguments
from trainway.agent.transfer.ssh_failure import explain
from trainway.backends.base import Check
from trainway.backends.login import ssh_process
from trainway.counting import counted
from trainway.json_types import Json

_LIMIT_S: Final = 15.0
_NO_PROGRAM: Final = (126, 127)
_LEAST_DISK: Final = 2**30


@dataclass(frozen=True)
class Answer:
    """How a host answered."""

    status: int | None
    """How ssh ended; None: it had to be ended."""
    report: Json = field(default_factory=dict)
    said: bytes = b""
    """What it, or the host, complained of."""


async def asked(host: Json, others: Sequence[Json], environ: Mapping[str, str]) -> Answer:
    """Log in to a host, as the pool agent does, and let it report, also on the others."""
    script = Path(__file__).with_name("host_report.py").read_bytes()
    peers = json.dumps([[other["name"], other["address"], other["port"]] for other in others])
    question = f"exec {shell_path(host['python'])} - {shlex.quote(peers)}"
    try:
        ended = await ssh_process.run(ssh_arguments(host, question), script, environ, _LIMIT_S)
    except OSError as error:
        return Answer(1, said=f"ssh does not start: {error.strerror}".encode())
    return Answer(ended.status, parsed(ended.out.decode(errors="replace")), ended.said)


def parsed(text: str) -> Json:
    """The report in what a host printed; it may greet us first."""
    for line in reversed(text.splitlines()):
        if line.startswith("{"):
            try:
                found = json.loads(line)
            except ValueError:
                continue
            return found if isinstance(found, dict) else {}
    return {}


def check(host: Json, answer: Answer) -> Check:
    """One line about a host: the first thing that is wrong, or what there is."""
    wrong = _wrong(host, answer)
    detail, fix = wrong or _found(answer.report)
    return Check(f"host {host['name']}", ok=wrong is None, detail=detail, fix=fix)


def _wrong(host: Json, answer: Answer) -> tuple[str, str] | None:
    report = answer.report
    if answer.status in _NO_PROGRAM:
        least = ".".join(map(str, OLDEST_PYTHON))
        return f"there is no {host['python']} on it", f"install Python {least}, or set `python`"
    if not report:
        failure = explain(host, answer.status, answer.said)
        return failure.message, failure.hint
    if tuple(report["python"][:2]) < OLDEST_PYTHON:
        least = ".".join(map(str, OLDEST_PYTHON))
        return f"Python {_version(report)} is too old", f"set `python` to Python {least} or later"
    if not report["writable"]:
        return f"{report['home']} cannot be written", "jobs are kept there: check its permissions"
    if report["disk"] < _LEAST_DISK:
        return f"less than 1 GiB is free in {report['home']}", "make room there"
    if report["ends_sessions"]:
        return (
            "systemd ends what a user has started when the last session ends",
            "let them continue: run loginctl enable-linger on the host",
        )
    if report["unreached"]:
        return (
            f"it does not reach {', '.join(report['unreached'])}",
            "gangs need it: check the firewall between them, or set `address` of those hosts",
        )
    return None


def _found(report: Mapping[str, Any]) -> tuple[str, str]:
    parts = [
        f"Python {_version(report)}",
        counted(report["cpus"], "CPU"),
        f"{report['memory'] / 2**30:.1f} GiB memory",
        counted(report["gpus"], "GPU"),
    ]
    if report["mounts"]:
        return ", ".join(parts), ""
    parts.append("volumes appear under other paths")
    return ", ".join(parts), "allow unprivileged user namespaces there"


def _version(report: Mapping[str, Any]) -> str:
    return ".".join(map(str, report["python"]))
