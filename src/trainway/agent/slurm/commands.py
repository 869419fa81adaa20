"""Programs of Slurm, run in the event loop: a few at once, and none for ever."""

from __future__ import annotations

import os
from collections import deque

from trainway.agent.transfer.program import Program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from trainway.agent.base.event_loop import EventLoop

AT_ONCE = 4
SECONDS = 60.0
CANNOT_START = 127
KEPT = ("SLURM_CONF", "SLURM_CLUSTERS", "SLURM_JWT", "SLURM_TIME_FORMAT")
FORMATS = ("SQUEUE_", "SACCT_", "SINFO_")


class Result:
    """How a program ended."""

    def __init__(self, argv: Sequence[str], status: int | None, stdout: bytes, said: bytes) -> None:
        self.argv = argv
        self.status = status
        """The exit status; None: it took too long and was killed; CANNOT_START: there is no such
        program."""
        self.stdout = stdout.decode("utf-8", "replace")
        self.stderr = said.decode("utf-8", "replace")

    @property
    def ok(self) -> bool:
        """Whether it did what it should."""
        return self.status == 0


def clean_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment without an allocation that we may be in, and without habits of the user."""
    return {
        name: value
        for name, value in environ.items()
        if name in KEPT or not name.startswith(("SLURM_", *FORMATS))
    }


class Commands:
    """Runs them in the order in which they are asked for."""

    def __init__(self, loop: EventLoop, env: Mapping[str, str]) -> None:
        self._loop = loop
        self.env = dict(env)
        """The environment that programs are started with."""
        self._waiting: deque[Callable[[], None]] = deque()
        self._running = 0
        self.count = 0
        """How many programs were started."""

    def run(
        self,
        argv: Sequence[str],
        done: Callable[[Result], None],
        *,
        cwd: str = "/",
        stdin: bytes = b"",
        seconds: float = SECONDS,
        env: Mapping[str, str] | None = None,
    ) -> None:
        """Run a program as soon as there is room, and say how it ended."""
        self._waiting.append(
            lambda: self._start(list(argv), done, cwd, stdin, seconds, {**self.env, **(env or {})})
        )
        self._next()

    def _next(self) -> None:
        while self._waiting and self._running < AT_ONCE:
            self._running += 1
            self._waiting.popleft()()

    def _start(
        self,
        argv: list[str],
        done: Callable[[Result], None],
        cwd: str,
        stdin: bytes,
        seconds: float,
        env: Mapping[str, str],
    ) -> None:
        self.count += 1
        printed: list[bytes] = []

        def on_end(status: int | None, said: bytes) -> None:
            timer.cancel()
            finish(status, said)

        def finish(status: int | None, said: bytes) -> None:
            self._running -= 1
            self._loop.call_soon(self._next)
            done(Result(argv, status, b"".join(printed), said))

        source = _input(stdin)
        try:
            program = Program(
                self._loop,
                argv,
                env=env,
                on_output=printed.append,
                on_end=on_end,
                stdin=source,
                cwd=cwd,
            )
        except OSError as error:
            said = f"{argv[0]}: {error.strerror}".encode()
            self._loop.call_soon(lambda: finish(CANNOT_START, said))
            return
        finally:
            os.close(source)
        timer = self._loop.call_later(seconds, program.give_up)


def _input(data: bytes) -> int:
    """A file that a program reads from."""
    if not data:
        return os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    fd = os.memfd_create("input")
    os.write(fd, data)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd
