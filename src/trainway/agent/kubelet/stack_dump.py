"""A program that prints where the Python processes of a pod are, as one line of JSON.

It is sent as text to wherever the pod runs, so it needs nothing but the standard library. py-spy
reads the stacks from outside; where there is none, a process that has registered a handler for
SIGUSR2 writes them itself. No process gets a signal that it does not catch, and no py-spy is run
that somebody else could have put there.
"""

from __future__ import annotations

import json
import os
import re
import signal
import stat
import subprocess
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

MARKER = "TRAINWAY-STACKS "
CONTAINER = b"TRAINWAY_CONTAINER="
MEMORY_FILE = "/memfd:trainway-stacks (deleted)"
"""Where a process writes its stacks that has registered the handler."""
SIGNAL = signal.SIGUSR2
PROCESSES, THREADS, FRAMES, TEXT = 64, 128, 128, 300
LARGEST = 1 << 20
PATIENCE = 10.0
TOTAL_PATIENCE = 40.0
HANDLER_PATIENCE = 5.0
STEP, QUIET_STEPS = 0.05, 4
"""A process has written its stacks when its file has not grown for that many steps."""
TRIES = 5
MOVED = "Failed to get stack traces"
"""What py-spy says of a process that ran on while it was read."""

_THREAD = re.compile(r"^(Current thread|Thread) (0x[0-9a-f]+)(?: \[(.*?)\])? \(most recent")
_FRAME = re.compile(r'^  File "(.*)", line (\d+|\?\?\?) in (.*)$')


class NoStacksError(Exception):
    """Why the stacks of a process cannot be had."""


def read(path: str, limit: int = LARGEST) -> bytes:
    """A file of the kernel; nothing where it is gone or closed to us."""
    try:
        with open(path, "rb") as file:
            return file.read(limit)
    except OSError:
        return b""


def link(path: str) -> str:
    """Where a link of the kernel leads; nothing where it is gone or closed to us."""
    try:
        return os.readlink(path)
    except OSError:
        return ""


def all_processes() -> dict[int, int]:
    """All processes that can be seen, each with its parent; zombies left out."""
    found = {}
    for name in os.listdir("/proc"):
        fields = read(f"/proc/{name}/stat").rpartition(b")")[2].split() if name.isdigit() else []
        if len(fields) > 1 and fields[0] not in (b"Z", b"X"):
            found[int(name)] = int(fields[1])
    return found


def mark(pid: int) -> bytes:
    """By which the processes of one container know each other."""
    variables = read(f"/proc/{pid}/environ").split(b"\0")
    return next((each for each in variables if each.startswith(CONTAINER)), b"")


def members(root: int, parents: dict[int, int]) -> list[int]:
    """The processes of the container that `root` is the first of; 0: all but ourselves."""
    own = set()
    pid = os.getpid()
    while pid in parents and pid not in own:
        own.add(pid)
        pid = parents[pid]
    if not root:
        own = {os.getpid()}
        return [pid for pid in sorted(parents) if pid not in own]
    shared = mark(root)
    found = {pid for pid in parents if pid == root or (shared and mark(pid) == shared)}
    grown = True
    while grown:
        below = {pid for pid, parent in parents.items() if parent in found} - found
        found |= below
        grown = bool(below)
    return sorted(found - own)


def is_python(pid: int) -> bool:
    """Whether a Python runs in a process."""
    if os.path.basename(link(f"/proc/{pid}/exe")).startswith(("python", "pypy")):
        return True
    return b"/libpython" in read(f"/proc/{pid}/maps")


def clipped(text: object) -> str:
    """A text that is short enough."""
    word = str(text)
    return word if len(word) <= TEXT else f"{word[: TEXT - 3]}..."


def command(pid: int) -> str:
    """The command line of a process."""
    words = read(f"/proc/{pid}/cmdline", 4096).rstrip(b"\0").split(b"\0")
    return clipped(" ".join(word.decode("utf-8", "replace") for word in words))


def candidates(pid: int) -> Iterator[str]:
    """Where a py-spy may be: beside our Python, on our PATH, in the environment of the job."""
    folders = [os.path.dirname(sys.executable)] if sys.executable else []
    folders += os.environ.get("PATH", "").split(os.pathsep)
    variables = dict(
        each.split(b"=", 1) for each in read(f"/proc/{pid}/environ").split(b"\0") if b"=" in each
    )
    for name in (b"VIRTUAL_ENV", b"CONDA_PREFIX"):
        if variables.get(name):
            folders.append(os.path.join(os.fsdecode(variables[name]), "bin"))
    first = os.fsdecode(read(f"/proc/{pid}/cmdline", 4096).partition(b"\0")[0])
    folders += [os.path.dirname(first), os.path.dirname(link(f"/proc/{pid}/exe"))]
    folders += os.fsdecode(variables.get(b"PATH", b"")).split(os.pathsep)
    for folder in dict.fromkeys(folders):
        if os.path.isabs(folder):
            yield os.path.join(folder, "py-spy")


def distrust(facts: os.stat_result) -> str:
    """Why a program is not run; nothing: it is ours, or the machine's."""
    if not stat.S_ISREG(facts.st_mode):
        return "it is not a regular file"
    if facts.st_uid not in (0, os.geteuid()):
        return f"it belongs to the user {facts.st_uid}"
    is_shared = facts.st_mode & stat.S_IWGRP and facts.st_gid not in (0, os.getegid())
    if facts.st_mode & stat.S_IWOTH or is_shared:
        return "others may write to it"
    return "" if facts.st_mode & stat.S_IXUSR else "it is not executable"


def open_program(pid: int, refused: list[str]) -> tuple[int, str] | None:
    """The first py-spy that may be run, opened so that nobody can exchange it; why not others."""
    for path in candidates(pid):
        real = os.path.realpath(path)
        try:
            facts = os.lstat(real)
            if not stat.S_ISREG(facts.st_mode):
                continue
            opened = os.open(real, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:
            continue
        why = distrust(os.fstat(opened))
        if not why:
            return opened, real
        os.close(opened)
        refused.append(clipped(f"{path} is not run: {why}"))
    return None


def by_py_spy(pid: int, opened: int, patience: float) -> list[dict[str, Any]]:
    """The threads of a process, read from outside; the process never stops.

    So it may run on while it is read, and is then read again.
    """
    deadline = time.monotonic() + patience
    for left in reversed(range(TRIES)):
        try:
            return read_by_py_spy(pid, opened, max(deadline - time.monotonic(), STEP))
        except NoStacksError as error:
            if MOVED not in str(error) or not left or time.monotonic() > deadline:
                raise
    raise NoStacksError(MOVED)


def read_by_py_spy(pid: int, opened: int, patience: float) -> list[dict[str, Any]]:
    """The threads of a process, read once."""
    words = ["py-spy", "dump", "--json", "--nonblocking", "--pid", str(pid)]
    program = subprocess.Popen(  # noqa: S603 - checked by `distrust`
        words,
        executable=f"/proc/self/fd/{opened}",
        pass_fds=[opened],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={"PATH": os.defpath, "LC_ALL": "C.UTF-8"},
    )
    try:
        output, errors = program.communicate(timeout=patience)
    except subprocess.TimeoutExpired:
        program.kill()
        program.communicate()
        raise NoStacksError(f"py-spy has not answered within {patience:.0f} s") from None
    if program.returncode:
        said = errors.decode("utf-8", "replace").strip().splitlines()
        raise NoStacksError(f"py-spy failed: {clipped(' '.join(said[:3]))}")
    try:
        listed = json.loads(output)
        return [
            {
                "name": clipped(thread.get("thread_name") or ""),
                "main": thread.get("os_thread_id") == pid,
                "active": bool(thread.get("active")),
                "frames": [
                    frame(each["name"], each["filename"], each["line"])
                    for each in thread["frames"][:FRAMES]
                ],
            }
            for thread in listed[:THREADS]
        ]
    except (ValueError, TypeError, KeyError, AttributeError):
        raise NoStacksError("py-spy printed something that is no stack") from None


def frame(function: object, file: object, line: object) -> dict[str, Any]:
    """One call, the innermost comes first in a list of them."""
    text = str(line)
    number = int(text) if text.isdigit() else 0
    return {"function": clipped(function), "file": clipped(file), "line": number}


def catches(pid: int) -> bool:
    """Whether a process has a handler for the signal; without one it would die of it."""
    for row in read(f"/proc/{pid}/status").splitlines():
        if row.startswith(b"SigCgt:"):
            return bool(int(row.split()[1], 16) >> (SIGNAL - 1) & 1)
    return False


def memory_file(pid: int) -> str:
    """The file in the memory of a process that its handler writes to; nothing: it has none."""
    try:
        names = os.listdir(f"/proc/{pid}/fd")
    except OSError:
        return ""
    paths = (f"/proc/{pid}/fd/{name}" for name in names)
    return next((path for path in paths if link(path) == MEMORY_FILE), "")


def by_handler(pid: int, patience: float) -> list[dict[str, Any]]:
    """The threads of a process, which writes them itself when it gets the signal."""
    path = memory_file(pid)
    if not path or not catches(pid):
        raise NoStacksError("it has registered no handler for stacks")
    file = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        before = os.fstat(file).st_size
        send(pid)
        deadline = time.monotonic() + min(patience, HANDLER_PATIENCE)
        size, quiet = before, 0
        while time.monotonic() < deadline and quiet < QUIET_STEPS:
            time.sleep(STEP)
            last, size = size, os.fstat(file).st_size
            quiet = quiet + 1 if size == last != before else 0
        text = os.pread(file, min(size - before, LARGEST), before)
    finally:
        os.close(file)
    if not text:
        raise NoStacksError("its handler has written nothing")
    return parsed(text.decode("utf-8", "replace"))


def send(pid: int) -> None:
    """Send the signal to that very process, if it catches it."""
    if not hasattr(signal, "pidfd_send_signal"):
        if catches(pid):
            os.kill(pid, SIGNAL)
        return
    held = os.pidfd_open(pid)
    try:
        if catches(pid) and memory_file(pid):
            signal.pidfd_send_signal(held, SIGNAL)
    finally:
        os.close(held)


def parsed(text: str) -> list[dict[str, Any]]:
    """The threads in what `faulthandler` has written."""
    threads: list[dict[str, Any]] = []
    for row in text.splitlines():
        head, call = _THREAD.match(row), _FRAME.match(row)
        if head and len(threads) < THREADS:
            name = clipped(head[3] or ("MainThread" if head[1] != "Thread" else head[2]))
            is_main = head[1] != "Thread"
            threads.append({"name": name, "main": is_main, "active": False, "frames": []})
        elif call and threads and len(threads[-1]["frames"]) < FRAMES:
            threads[-1]["frames"].append(frame(call[3], call[1], call[2]))
    return threads


def described(pid: int, refused: list[str], patience: float) -> dict[str, Any]:
    """One process with its threads, or why they cannot be had."""
    about: dict[str, Any] = {"pid": pid, "command": command(pid), "method": "", "threads": []}
    found, problems = open_program(pid, refused), []
    if found is not None:
        try:
            threads = by_py_spy(pid, found[0], patience)
            return {**about, "method": "py-spy", "threads": threads}
        except (NoStacksError, OSError) as error:
            problems.append(str(error))
        finally:
            os.close(found[0])
    else:
        problems.append("py-spy is not installed here")
    try:
        threads = by_handler(pid, patience)
        return {**about, "method": "faulthandler", "threads": threads}
    except (NoStacksError, OSError) as error:
        problems.append(str(error))
    return {**about, "error": clipped("; ".join(problems)), "hasPySpy": found is not None}


def end(pids: list[int]) -> None:
    """Kill all processes of the container, and say how many."""
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            continue
    sys.stdout.write(f"\n{MARKER}{json.dumps({'ended': len(pids)})}\n")


def main(words: list[str]) -> None:
    """Print the stacks of the container whose first process is named; 0: of all processes.

    With `--end` the container is ended instead.
    """
    pids = members(int(words[0]), all_processes())
    if words[1:] == ["--end"]:
        end(pids)
        return
    refused: list[str] = []
    pythons = [pid for pid in pids if is_python(pid)]
    deadline = time.monotonic() + TOTAL_PATIENCE
    processes: list[dict[str, Any]] = []
    for pid in pythons[:PROCESSES]:
        left = deadline - time.monotonic()
        if left <= 0:
            break
        processes.append(described(pid, refused, min(PATIENCE, left)))
    answer: dict[str, Any] = {
        "processes": processes,
        "omitted": len(pythons) - len(processes),
        "refused": list(dict.fromkeys(refused))[:8],
    }
    text = json.dumps(answer)
    while len(text) > LARGEST:
        processes.pop()
        answer["omitted"] += 1
        text = json.dumps(answer)
    sys.stdout.write(f"\n{MARKER}{text}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
