"""Which processes belong to a job, and how to end them all.

A process may start others that outlive it, leave its process group, or both. The agent adopts such
orphans (it is their subreaper), and every process of a job has marks in its environment unless it
took pains to lose them; so they are found. Zombies count as dead.
"""

from __future__ import annotations

import os
import signal

from trainway.agent.kubelet.variables import JOB_ID

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

CONTAINER_MARK = "TRAINWAY_CONTAINER"
_NAME_FLAGS = (b"-n", b"--name")
_DEAD = (b"Z", b"X")
"""States of processes that do nothing any more."""


def read_file(path: str) -> bytes:
    """A file of /proc; empty where the process is gone or not ours to look at."""
    try:
        fd = os.open(path, os.O_RDONLY)
    except OSError:
        return b""
    try:
        parts: list[bytes] = []
        while True:
            part = os.read(fd, 65536)
            if not part:
                return b"".join(parts)
            parts.append(part)
    except OSError:
        return b""
    finally:
        os.close(fd)


def stat_fields(pid: int) -> list[bytes]:
    """The fields of /proc/PID/stat from the state on; the name before them may hold anything."""
    return read_file(f"/proc/{pid}/stat").rpartition(b")")[2].split()


def start_time(pid: int) -> int:
    """When a process started, in ticks since boot; tells apart two with the same number."""
    fields = stat_fields(pid)
    return int(fields[19]) if len(fields) > 19 else 0


def boot_id() -> str:
    """What tells this boot of the machine apart from all others."""
    return read_file("/proc/sys/kernel/random/boot_id").decode().strip()


def is_alive(pid: int) -> bool:
    """Whether a process runs; a zombie does not."""
    fields = stat_fields(pid)
    return bool(fields) and fields[0] not in _DEAD


def is_running(pid: int, started: int) -> bool:
    """Whether the process that started then still runs, or one of the group that it leads.

    It may belong to any user; where /proc does not show those of others, its number has to do.
    """
    fields = stat_fields(pid)
    if len(fields) > 19 and fields[0] not in _DEAD:
        return int(fields[19]) == started
    if _exists(os.killpg, pid):
        return _group_runs(pid)
    return not fields and _exists(os.kill, pid)


def _group_runs(group: int) -> bool:
    """Whether a process group that is there has more than zombies."""
    number = str(group).encode()
    members = [fields for fields in map(stat_fields, all_pids()) if fields[2:3] == [number]]
    return not members or any(fields[0] not in _DEAD for fields in members)


def _exists(send: Callable[[int, int], None], number: int) -> bool:
    try:
        send(number, 0)
    except PermissionError:  # it is there, and belongs to somebody else
        return True
    except (ProcessLookupError, OverflowError):
        return False
    return True


def all_pids() -> list[int]:
    """All processes that /proc shows."""
    try:
        with os.scandir("/proc") as entries:
            return [int(entry.name) for entry in entries if entry.name.isdigit()]
    except OSError:
        return []


def children(pid: int) -> list[int]:
    """The direct children of a process, zombies left out."""
    listed = read_file(f"/proc/{pid}/task/{pid}/children")
    if not listed and not os.access(f"/proc/{pid}/task/{pid}/children", os.R_OK):
        return _descendants([pid], depth=1)
    return [int(child) for child in listed.split() if is_alive(int(child))]


def descendants(pids: Iterable[int]) -> list[int]:
    """All processes below the given ones, zombies left out."""
    return _descendants(pids)


def _descendants(pids: Iterable[int], depth: int = 1 << 16) -> list[int]:
    below: dict[int, list[int]] = {}
    for pid in all_pids():
        fields = stat_fields(pid)
        if len(fields) > 1 and fields[0] not in _DEAD:
            below.setdefault(int(fields[1]), []).append(pid)
    found: list[int] = []
    level = list(pids)
    while level and depth:
        level = [child for pid in level for child in below.get(pid, ())]
        found += level
        depth -= 1
    return found


def has_mark(pid: int, name: str, value: str) -> bool:
    """Whether a process was started with that variable in its environment."""
    return f"{name}={value}".encode() in read_file(f"/proc/{pid}/environ").split(b"\0")


def marked(job_id: str) -> list[int]:
    """All processes of a job that run on this machine, by their environment."""
    others = [pid for pid in all_pids() if pid != os.getpid()]
    return [pid for pid in others if has_mark(pid, JOB_ID, job_id) and is_alive(pid)]


def of_pod(uid: str) -> list[int]:
    """All processes of a pod's containers, wherever they were started, by their environment."""
    start = f"{CONTAINER_MARK}={uid}/".encode()
    others = [pid for pid in all_pids() if pid != os.getpid()]
    found = [pid for pid in others if _has_variable(pid, start)]
    return [pid for pid in found if is_alive(pid)]


def _has_variable(pid: int, start: bytes) -> bool:
    variables = read_file(f"/proc/{pid}/environ").split(b"\0")
    return any(variable.startswith(start) for variable in variables)


def container_monitors(job_id: str) -> list[int]:
    """All processes that look after a container of a job, by the name that it has in their words.

    A tool that is killed while it makes a container can leave one that the tool itself does not
    know of any more, and that never carried our marks.
    """
    start = f"trainway-{job_id}-".encode()
    found = []
    for pid in all_pids():
        words = read_file(f"/proc/{pid}/cmdline").split(b"\0")
        names = [words[at + 1] for at, word in enumerate(words[:-1]) if word in _NAME_FLAGS]
        if any(name.startswith(start) for name in names):
            found.append(pid)
    return found


def signal_all(pids: Iterable[int], number: int = signal.SIGKILL) -> None:
    """Send a signal to each process that is still there."""
    for pid in pids:
        try:
            os.kill(pid, number)
        except (ProcessLookupError, PermissionError):
            continue


def signal_group(group: int, number: int) -> None:
    """Send a signal to a process group, if there is one."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return
