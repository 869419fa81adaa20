"""What a process is told before it starts, and the start itself, in the child."""

from __future__ import annotations

import errno
import os
import posixpath
import resource
import signal
from contextlib import suppress

from trainway.agent.base import linux
from trainway.agent.kubelet import control_group, mounts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from trainway.agent.kubelet.container_tool import Contained
    from trainway.agent.kubelet.mounts import MountView

UMASK = 0o022
CANNOT_START = 128
"""The exit code that container runtimes report for a program that could not be started."""


class Command:
    """A program with everything around it, or a function of ours that runs in a child."""

    def __init__(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str],
        cwd: str = "/",
        view: MountView | None = None,
        mark: str = "",
        function: Callable[[], int] | None = None,
        contained: Contained | None = None,
    ) -> None:
        self.argv = list(argv)
        self.env = env
        self.cwd = cwd
        self.view = view
        self.mark = mark
        """The mark that tells the processes of one container apart from all others."""
        self.function = function
        """A function that runs in place of a program; its result is the exit code."""
        self.contained = contained
        """The container that the program runs, where that is a container tool."""
        self.group = ""
        """The control group that limits it; empty: it has none of its own."""


class ExecContext:
    """What a child gets from the agent whatever it runs."""

    def __init__(self, stdio: tuple[int, int, int], status: int, files: tuple[int, int]) -> None:
        self.stdio = stdio
        self.status = status
        """A file that a start that went well closes; else it carries the reason."""
        self.files = files
        """How many files it may have open: as many as the agent when it started."""
        self.parent = os.getpid()


def raise_file_limit() -> tuple[int, int]:
    """Allow this process as many open files as it can have; what it was allowed before."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    except (OSError, ValueError):
        return soft, hard
    return soft, hard


def run_in_child(command: Command, context: ExecContext) -> None:
    """Become the program; only ever returns by ending the process. All signals are blocked."""
    try:
        _reset_signals()
        os.setsid()
        _die_with(context.parent)
        if command.group:
            control_group.enter(command.group)
        for number, fd in enumerate(context.stdio):
            os.dup2(fd, number)
        resource.setrlimit(resource.RLIMIT_NOFILE, context.files)
        os.umask(UMASK)
        if command.view is not None:
            mounts.enter(command.view)
            # Leaving a user namespace may have made the kernel forget it.
            _die_with(context.parent)
        _change_directory(command.cwd)
        if command.function is not None:
            _close_files()
            os._exit(command.function())
        _execute(command)
    except (OSError, ValueError) as error:
        os.write(context.status, _reason(error).encode("utf-8", "surrogateescape"))
    finally:
        os._exit(CANNOT_START)


def _close_files() -> None:
    """Close what a program would not inherit: who waits for its end must not wait for us."""
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2:
            with suppress(OSError):  # the one that listed them
                os.close(int(name))


def _reset_signals() -> None:
    """Undo what Python and the agent did to signals, so that programs start as they expect."""
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGCHLD, signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def _die_with(parent: int) -> None:
    try:
        linux.die_with_parent()
    except linux.SystemCallError:
        return
    if os.getppid() != parent:
        os._exit(CANNOT_START)


def _change_directory(path: str) -> None:
    try:
        os.chdir(path)
    except OSError as error:
        raise OSError(error.errno, f'chdir to cwd ("{path}")') from error


def _execute(command: Command) -> None:
    program = command.argv[0]
    env = {os.fsencode(name): os.fsencode(value) for name, value in command.env.items()}
    argv = [os.fsencode(part) for part in command.argv]
    if "/" in program:
        candidates = [program]
    else:
        search = command.env.get("PATH") or os.defpath
        candidates = [posixpath.join(folder or ".", program) for folder in search.split(":")]
    denied: OSError | None = None
    for candidate in candidates:
        try:
            os.execve(candidate, argv, env)  # noqa: S606 - running commands is what we are for
        except (FileNotFoundError, NotADirectoryError):
            continue
        except PermissionError as error:
            denied = error
        except OSError as error:
            raise OSError(error.errno, f'exec: "{candidate}"') from error
    if denied is not None:
        raise OSError(errno.EACCES, f'exec: "{program}"')
    if "/" in program:
        raise OSError(errno.ENOENT, f'exec: "{program}"')
    raise ValueError(f'exec: "{program}": executable file not found in $PATH')


def _reason(error: OSError | ValueError) -> str:
    if isinstance(error, OSError) and error.errno and not isinstance(error, linux.SystemCallError):
        what = error.strerror if error.filename is None else str(error.filename)
        return f"{what}: {os.strerror(error.errno).lower()}"
    return str(error)
