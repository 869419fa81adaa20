"""The queue of a cluster as slurmrestd tells it, printed as squeue would.

A program of its own, so that the relay never waits for an answer: `slurm rest URL USER [VERSION]`,
with the token in SLURM_JWT. URL is `http://HOST:PORT`, `https://...` or `unix:PATH`.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import socket
import urllib.parse

from trainway.agent.slurm.relay.queue_states import COMMENT, SEPARATOR

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from trainway.json_types import Json


VERSION = "v0.0.38"
SECONDS = 20.0
USAGE = "usage: slurm rest URL USER [VERSION]"
EXIT_ERROR, EXIT_USAGE, EXIT_UNTOLD = 1, 2, 3
OK, FORBIDDEN = 200, (401, 403)
NOT_SET = (None, "", 0)
RANKS = re.compile(r"\d+(-\d+)?(,\d+(-\d+)?)*$")
TRANSIENT = ("COMPLETING", "REQUEUE_HOLD", "REQUEUED", "SPECIAL_EXIT")
"""The states that say most where a job has several at once."""


class RestError(Exception):
    """slurmrestd does not tell."""


class UntoldError(Exception):
    """It tells too little: squeue knows more."""


class UnixConnection(http.client.HTTPConnection):
    """HTTP over a unix socket."""

    def __init__(self, path: str) -> None:
        super().__init__("localhost", timeout=SECONDS)
        self._path = path

    def connect(self) -> None:
        """Connect to the socket."""
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(SECONDS)
        self.sock.connect(self._path)


def main(arguments: Sequence[str]) -> int:
    """Print the queue; the exit status."""
    if len(arguments) not in (2, 3):
        os.write(2, USAGE.encode() + b"\n")
        return EXIT_USAGE
    url, user, *version = arguments
    try:
        answer = _asked(url, user, os.environ.get("SLURM_JWT", ""), *version)
    except (OSError, http.client.HTTPException, ValueError, RestError) as error:
        os.write(2, f"slurmrestd at {url}: {error}\n".encode())
        return EXIT_ERROR
    try:
        text = "".join(f"{line}\n" for line in lines(answer, user))
    except UntoldError as error:
        os.write(2, f"slurmrestd at {url}: {error}\n".encode())
        return EXIT_UNTOLD
    with os.fdopen(1, "w", encoding="utf-8", errors="replace", closefd=False) as file:
        file.write(text)
    return 0


def _asked(url: str, user: str, token: str, version: str = VERSION) -> Json:
    connection, path = _connection(url)
    headers = {"X-SLURM-USER-NAME": user, "X-SLURM-USER-TOKEN": token, "Accept": "application/json"}
    try:
        connection.request("GET", f"{path}/slurm/{version}/jobs", headers=headers)
        response = connection.getresponse()
        data = response.read()
    finally:
        connection.close()
    if response.status in FORBIDDEN:
        raise RestError("the token was refused")
    if response.status != OK:
        raise RestError(f"it answers {response.status} {response.reason}: {_reasons(data)}")
    answer: Json = json.loads(data)
    return answer


def _connection(url: str) -> tuple[http.client.HTTPConnection, str]:
    parts = urllib.parse.urlsplit(url)
    if parts.scheme == "unix":
        return UnixConnection(parts.path), ""
    host, port = parts.hostname or "", parts.port
    if parts.scheme == "https":
        return http.client.HTTPSConnection(host, port, timeout=SECONDS), parts.path.rstrip("/")
    if parts.scheme == "http" and host:
        return http.client.HTTPConnection(host, port, timeout=SECONDS), parts.path.rstrip("/")
    raise RestError("not an address of slurmrestd: http://HOST:PORT or unix:PATH")


def _reasons(data: bytes) -> str:
    try:
        errors = json.loads(data).get("errors") or []
        said = [str(error.get("error") or error.get("description") or "") for error in errors]
    except (ValueError, AttributeError):
        said = []
    return "; ".join(filter(None, said)) or "no reason given"


def lines(answer: Json, user: str) -> list[str]:
    """The jobs of a user, in the form in which squeue is asked to print them."""
    found = [job for job in answer.get("jobs") or [] if _is_of(job, user)]
    return [_line(job, number) for job in found for number in _numbers(job)]


def _is_of(job: Json, user: str) -> bool:
    return user in (str(job.get("user_name") or ""), str(job.get("user_id", "")))


def _numbers(job: Json) -> list[str]:
    """What a job is called, or all jobs of an array that wait and are told as one."""
    array, task = _number(job.get("array_job_id")), job.get("array_task_id")
    het, offset = _number(job.get("het_job_id")), _number(job.get("het_job_offset"))
    if array and _is_set(task):
        return [f"{array}_{_number(task)}"]
    if array and job.get("array_task_string"):
        return [f"{array}_{rank}" for rank in _ranks(job)]
    return [f"{het}+{offset}" if het else str(_number(job.get("job_id")))]


def _ranks(job: Json) -> list[int]:
    """Those of the jobs of an array; its end is left out where there are many."""
    text = str(job["array_task_string"]).partition("%")[0]
    if RANKS.match(text):
        runs = [part.split("-") for part in text.split(",")]
        return [rank for run in runs for rank in range(int(run[0]), int(run[-1]) + 1)]
    if str(job.get("comment") or "").startswith(COMMENT):
        raise UntoldError(f"the jobs of an array are not listed in full: {text}")
    return []


def _line(job: Json, number: str) -> str:
    fields = (
        number,
        str(_number(job.get("job_id"))),
        _state(job.get("job_state")),
        str(job.get("state_reason") or ""),
        str(job.get("partition") or ""),
        str(_number(job.get("priority"))),
        str(job.get("nodes") or ""),
        str(job.get("comment") or "").replace("\n", " "),
    )
    return SEPARATOR.join(fields)


def _is_set(value: Any) -> bool:
    """Whether a number is there: older versions have it bare, later ones say so beside it."""
    return bool(value.get("set")) if isinstance(value, dict) else value is not None


def _number(value: Any) -> int:
    if isinstance(value, dict):
        return int(value.get("number") or 0) if value.get("set") else 0
    return 0 if value in NOT_SET else int(value)


def _state(value: Any) -> str:
    """A word before version 23.11 of Slurm, a list from then on."""
    states = [str(item) for item in value] if isinstance(value, list) else [str(value or "")]
    return next((state for state in TRANSIENT if state in states), states[0] if states else "")
