"""An all-reduce by the job's own torch: with NCCL between its GPUs, else with gloo.

What the plain check over TCP cannot find is found so: a driver, a switch or a build of NCCL that
does not work between these nodes. It costs the import of torch, so whoever wants it says so. It is
done only if all nodes have torch, which they tell each other beforehand.
"""

from __future__ import annotations

import os
import posixpath

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from trainway.json_types import Json

SECONDS = 120.0
"""How long it may take, imports included."""
PROBE_SECONDS = 10.0
NOT_THERE = 9
"""The exit status where torch lacks what is asked for."""
GLOO, NCCL = "gloo", "nccl"
FIRST_LINE = 256
PROBE = f"import importlib.util as u; raise SystemExit(0 if u.find_spec('torch') else {NOT_THERE})"
SCRIPT = f"""
import datetime, sys
backend, rank, size, host, port, seconds = sys.argv[1:]
import torch
import torch.distributed as dist
if backend == "nccl" and not (dist.is_nccl_available() and torch.cuda.is_available()):
    sys.exit({NOT_THERE})
limit = datetime.timedelta(seconds=float(seconds))
address = f"tcp://[{{host}}]:{{port}}" if ":" in host else f"tcp://{{host}}:{{port}}"
rank, size = int(rank), int(size)
dist.init_process_group(backend, init_method=address, rank=rank, world_size=size, timeout=limit)
device = torch.device("cuda", 0) if backend == "nccl" else torch.device("cpu")
numbers = torch.full((1 << 16,), rank + 1.0, device=device)
dist.all_reduce(numbers)
if not bool((numbers == size * (size + 1) / 2).all()):
    sys.exit("the numbers do not add up")
dist.destroy_process_group()
"""


class ReduceError(Exception):
    """The all-reduce did not come to a good end. The message says why."""


def python_of(container: Json, env: Mapping[str, str]) -> str:
    """The Python that a container starts: its command, that of its program's first line, or any."""
    words = [str(word) for word in container.get("command") or container.get("args") or ()]
    program = _found(words[0], env) if words else ""
    if _is_python(program):
        return program
    return (_named_in(program) if program else "") or _found("python3", env)


def has_torch(python: str, env: Mapping[str, str]) -> bool:
    """Whether that Python has torch; it is not imported."""
    import subprocess  # noqa: PLC0415 - slow, and needed only in this child

    if not python:
        return False
    try:
        done = subprocess.run(  # noqa: S603 - no shell, and our own words
            [python, "-c", PROBE],
            env=dict(env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=PROBE_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


class Meeting:
    """Where and as which one a node takes part."""

    def __init__(self, backend: str, rank: int, size: int, host: str, port: int) -> None:
        self.backend = backend
        self.rank = rank
        self.size = size
        self.host = host
        self.port = port

    def words(self, seconds: float) -> list[str]:
        """The arguments of the script."""
        numbers = (self.rank, self.size, self.host, self.port, f"{seconds:g}")
        return [self.backend, *map(str, numbers)]


def reduced(
    python: str, env: Mapping[str, str], meeting: Meeting, seconds: float = SECONDS
) -> bool:
    """Add up numbers; False: this torch cannot. ReduceError: something went wrong somewhere."""
    import subprocess  # noqa: PLC0415 - as above

    try:
        done = subprocess.run(  # noqa: S603 - as above
            [python, "-c", SCRIPT, *meeting.words(seconds)],
            env=dict(env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        text = f"an all-reduce by torch with {meeting.backend} did not end within {seconds:g} s"
        raise ReduceError(text) from None
    except OSError as error:
        raise ReduceError(f"{python} cannot be started: {error.strerror}") from None
    if done.returncode == NOT_THERE:
        return False
    if done.returncode:
        why = reason_in(done.stderr.decode("utf-8", "replace"))
        why = why or f"it exited with {done.returncode}"
        raise ReduceError(f"an all-reduce by torch with {meeting.backend} failed: {why}")
    return True


def reason_in(text: str) -> str:
    """Why torch failed, by what it printed: its last line that is no warning. Pure."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    telling = [line for line in lines if "Warning" not in line]
    return (telling or lines or [""])[-1][:300]


def free_port(host: str) -> int:
    """A port of this node that nobody listens on."""
    import socket  # noqa: PLC0415 - as above

    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.bind(("", 0))
        return int(probe.getsockname()[1])


def _is_python(program: str) -> bool:
    return posixpath.basename(program).startswith("python")


def _named_in(program: str) -> str:
    """The Python in the first line of a script such as torchrun; empty: there is none."""
    try:
        with open(program, "rb") as file:
            first = file.readline(FIRST_LINE).decode("utf-8", "replace").strip()
    except OSError:
        return ""
    words = first[2:].split() if first.startswith("#!") else []
    return words[0] if words and _is_python(words[0]) else ""


def _found(program: str, env: Mapping[str, str]) -> str:
    if "/" in program:
        return program if os.access(program, os.X_OK) else ""
    folders: Sequence[str] = (env.get("PATH") or os.defpath).split(":")
    places = [posixpath.join(folder or ".", program) for folder in folders]
    return next((place for place in places if os.access(place, os.X_OK)), "")
