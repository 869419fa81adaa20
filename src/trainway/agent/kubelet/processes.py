"""The processes that the agent started, from fork to the end of the last of their descendants.

A process counts as gone when everything that it started is gone too, as a container does: whatever
it leaves behind is killed at once, unless it was asked to stop and its time is not up; then those
it leaves behind may use the time to finish, and are killed after it. A guest, which was started in
the place of another process, ends with it.
"""

from __future__ import annotations

import fcntl
import os
import signal

from trainway.agent.kubelet import process_tree
from trainway.agent.kubelet.command import (
    CANNOT_START,
    ExecContext,
    raise_file_limit,
    run_in_child,
)
from trainway.agent.kubelet.log_writer import STDERR, STDOUT
from trainway.agent.kubelet.process_tree import CONTAINER_MARK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from trainway.agent.base.event_loop import EventLoop
    from trainway.agent.kubelet.command import Command

READ_SIZE = 256 * 1024
PIPE_SIZE = 512 * 1024
_SET_PIPE_SIZE = 1031
CHECK_SECONDS = 0.1
GIVE_UP_SECONDS = 5.0


class Process:
    """One started process, with what it leaves behind."""

    def __init__(self, pid: int, mark: str, listener: Listener) -> None:
        self.pid = pid
        self.mark = mark
        self.listener = listener
        self.outputs: dict[int, bytes] = {}
        """The pipes that are still open, with the names of their streams."""
        self.status_fd = -1
        self.reason = bytearray()
        """Why the process could not start."""
        self.exited = False
        self.exit_code = 0
        self.signal = 0
        self.may_finish = False
        """Whether it was asked to stop and its time is not up."""
        self.narrow = False
        """Whether its pipes have the kernel's usual size: this user has too many wide ones."""
        self.checks = 0
        self.host: Process | None = None
        """The process in whose place it was started, and with which it ends."""


class Listener:
    """Who wants to know about a process. The methods do nothing unless they are overridden."""

    def on_started(self) -> None:
        """The program runs."""

    def on_output(self, stream: bytes, data: bytes) -> None:
        """It wrote something; nothing: the stream ended."""

    def on_exit(self, process: Process) -> None:
        """It ended; what it started may still run."""

    def on_gone(self, process: Process) -> None:
        """It ended, and all that it started."""


class ProcessTable:
    """Starts processes and waits for them."""

    def __init__(self, loop: EventLoop) -> None:
        self._loop = loop
        self._processes: dict[int, Process] = {}
        self._leaving: list[Process] = []
        self._devnull = os.open(os.devnull, os.O_RDWR)
        self._files = raise_file_limit()
        loop.on_signal(signal.SIGCHLD, self.reap)

    @property
    def pids(self) -> list[int]:
        """The processes that were started and not waited for yet."""
        return list(self._processes)

    def of_pod(self, uid: str) -> list[int]:
        """Those of a pod's containers."""
        start = f"{uid}/"
        return [pid for pid, each in self._processes.items() if each.mark.startswith(start)]

    def start(self, command: Command, listener: Listener, *, with_output: bool) -> Process:
        """Start a process in a session of its own."""
        pipes: list[tuple[int, int]] = []
        try:
            for _ in range(3 if with_output else 1):
                pipes.append(os.pipe())  # noqa: PERF401 - those made before one fails are closed
            pid = self._fork(command, [write for _, write in pipes])
        except OSError:
            for read, _ in pipes:
                os.close(read)
            raise
        finally:
            for _, write in pipes:
                os.close(write)
        process = Process(pid, command.mark, listener)
        self._processes[pid] = process
        process.status_fd = pipes[0][0]
        self._listen(process.status_fd, lambda: self._on_status(process))
        for stream, (read, _) in enumerate(pipes[1:]):
            self._take_output(process, read, (STDOUT, STDERR)[stream])
        return process

    def start_guest(
        self, command: Command, listener: Listener, host: Process, stdio: tuple[int, int, int]
    ) -> Process:
        """Start a process in the place of another one, with given files; its orphans may stay."""
        read, write = os.pipe()
        try:
            pid = self._fork(command, [write], stdio)
        except OSError:
            os.close(read)
            raise
        finally:
            os.close(write)
        guest = Process(pid, command.mark, listener)
        guest.host, guest.may_finish, guest.status_fd = host, True, read
        self._processes[pid] = guest
        self._listen(read, lambda: self._on_status(guest))
        return guest

    def _fork(
        self, command: Command, ends: list[int], stdio: tuple[int, int, int] | None = None
    ) -> int:
        """The child's number; in the child this never returns."""
        outputs = ends[1:] or [self._devnull, self._devnull]
        files = stdio or (self._devnull, outputs[0], outputs[1])
        context = ExecContext(files, ends[0], self._files)
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        try:
            pid = os.fork()
            if not pid:
                run_in_child(command, context)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        return pid

    def _take_output(self, process: Process, fd: int, stream: bytes) -> None:
        process.outputs[fd] = stream
        try:
            fcntl.fcntl(fd, _SET_PIPE_SIZE, PIPE_SIZE)
        except OSError:
            process.narrow = True
        self._listen(fd, lambda: self._on_output(process, fd))

    def _listen(self, fd: int, callback: Callable[[], object]) -> None:
        os.set_blocking(fd, False)
        self._loop.watch(fd, on_readable=callback)

    def terminate(self, process: Process) -> None:
        """Ask a process, and all of its group, to stop.

        A container runtime signals the first process only. Here that would often be a shell that
        dies of it at once, and what it runs would never hear of it.
        """
        process.may_finish = True
        process_tree.signal_group(process.pid, signal.SIGTERM)

    def kill(self, process: Process) -> None:
        """End a process and everything that it started, now."""
        process.may_finish = False
        if process.exited:
            self._kill_rest(process)
            self._check(process)
            return
        below = process_tree.descendants([process.pid])
        process_tree.signal_group(process.pid, signal.SIGKILL)
        process_tree.signal_all(below)

    def reap(self) -> None:
        """Wait for all children that ended, ours and adopted ones."""
        while True:
            try:
                ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            except ChildProcessError:
                ended = None
            if ended is None:
                break
            process = self._processes.get(ended.si_pid)
            if process is not None and not process.may_finish:
                # Before its number can be given to another process.
                process_tree.signal_group(process.pid, signal.SIGKILL)
            _, status = os.waitpid(ended.si_pid, 0)
            if process is not None:
                self._on_exit(process, status)
        for process in list(self._leaving):
            self._check(process)

    def _on_exit(self, process: Process, status: int) -> None:
        if os.WIFSIGNALED(status):
            process.signal = os.WTERMSIG(status)
            process.exit_code = 128 + process.signal
        else:
            process.exit_code = os.WEXITSTATUS(status)
        process.exited = True
        if process.status_fd >= 0:
            self._on_status(process)
        if process.reason:
            process.exit_code = CANNOT_START
        del self._processes[process.pid]
        self._leaving.append(process)
        if not process.may_finish:
            self._kill_rest(process)
        for guest in self._guests(process):
            self.kill(guest)
        process.listener.on_exit(process)

    def _guests(self, process: Process) -> list[Process]:
        return [item for item in self._processes.values() if item.host is process]

    def _rest(self, process: Process) -> list[int]:
        """Guests and orphans of a process: adopted children of its group or with its mark."""
        orphans = [pid for pid in process_tree.children(os.getpid()) if pid not in self._processes]
        guests = [guest.pid for guest in self._guests(process)]
        return [*guests, *(pid for pid in orphans if _belongs(pid, process))]

    def _kill_rest(self, process: Process) -> None:
        rest = self._rest(process)
        if rest:
            process_tree.signal_all([*rest, *process_tree.descendants(rest)])

    def _check(self, process: Process) -> None:
        """Let go of a process that left nothing behind; else look again later."""
        if process not in self._leaving:
            return
        if self._rest(process):
            if process.may_finish:
                return
            process.checks += 1
            if process.checks * CHECK_SECONDS < GIVE_UP_SECONDS:
                self._kill_rest(process)
                self._loop.call_later(CHECK_SECONDS, lambda: self._check(process))
                return
        self._leaving.remove(process)
        for fd in list(process.outputs):
            self._drain(process, fd)
        process.listener.on_gone(process)

    def _on_status(self, process: Process) -> None:
        """The child closed its end, having started the program, or says why it could not."""
        while True:
            try:
                data = os.read(process.status_fd, 4096)
            except BlockingIOError:
                return
            if not data:
                break
            process.reason += data
        self._loop.forget(process.status_fd)
        os.close(process.status_fd)
        process.status_fd = -1
        if not process.reason:
            process.listener.on_started()

    def _on_output(self, process: Process, fd: int) -> bool:
        """Pass on what is there; whether there was anything."""
        try:
            data = os.read(fd, READ_SIZE)
        except BlockingIOError:
            return False
        stream = process.outputs[fd]
        process.listener.on_output(stream, data)
        if not data:
            self._close(process, fd)
        return bool(data)

    def _drain(self, process: Process, fd: int) -> None:
        """Read the rest of a stream that nobody of ours writes to any more."""
        stream = process.outputs[fd]
        while self._on_output(process, fd):
            continue
        if fd in process.outputs:
            process.listener.on_output(stream, b"")
            self._close(process, fd)

    def _close(self, process: Process, fd: int) -> None:
        del process.outputs[fd]
        self._loop.forget(fd)
        os.close(fd)


def _belongs(pid: int, process: Process) -> bool:
    try:
        if os.getpgid(pid) == process.pid:
            return True
    except ProcessLookupError:
        return False
    return bool(process.mark) and process_tree.has_mark(pid, CONTAINER_MARK, process.mark)
