"""Talking to agents: one JSON object a line over a unix socket, and how their processes start.

An agent outlives us. A connection that ends says nothing about a job, only a journal with an `end`
does; so whatever the socket did not deliver is read from the journal's file.
"""

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import trainway
from trainway.agent.base.daemon import EXIT_REFUSED, EXIT_USAGE
from trainway.agent.base.journal_reader import END, record_in
from trainway.backends.agents import journal
from trainway.backends.agents.jobdir import AgentDir
from trainway.backends.base import AgentStartError, Update
from trainway.backends.job_threads import job_threads
from trainway.errors import TrainwayError
from trainway.json_types import Json

PATIENCE_S: Final = 15.0
"""How long an agent may take to open its socket, or to end."""
STEP_S: Final = 0.02
START_S: Final = 60.0
"""How long an agent may neither have begun nor have said why not before it is given up, in
seconds."""

_CHUNK: Final = 1 << 16
_LONGEST_LINE: Final = 1 << 24
_LONGEST_SOCKET_PATH: Final = 100
"""The longest path of a socket that is used as it is: the kernel takes 107 bytes, and a longer path
is reached through its directory."""
_LAST_WORDS: Final = 2_000
_AGENT: Final = Path(trainway.__file__).parent / "agent"
_NO_PROCESS: Final = 126
"""The status of an agent whose program could not be run, as a shell has it."""
_NOBODY_THERE: Final = (FileNotFoundError, ConnectionRefusedError)


class AgentLostError(TrainwayError):
    """No agent answers for the job."""

    code = "agent_lost"
    http_status = 503


class AgentError(TrainwayError):
    """The agent refused, or could not be started."""

    code = "agent"


class UnknownToAgentError(AgentError):
    """The agent does not have what it was asked about: it never had it, or that is over."""


@dataclass(frozen=True)
class Start:
    """What came of starting an agent."""

    status: int
    """The exit status of its process; where a signal ended it, it is negative, as `subprocess` has
    it."""
    said: str = ""

    @property
    def why(self) -> str:
        """Why there is no agent."""
        if self.said:
            return self.said
        if self.status < 0:
            return f"it was killed by {signal.Signals(-self.status).name}"
        return f"it exited with {self.status}"

    def error(self, agent: str, log: Path) -> TrainwayError:
        """What to raise; an agent that refuses what it is given will always do so."""
        hint = f"{log} may say more"
        if self.status in (EXIT_USAGE, EXIT_REFUSED):
            return AgentError(f"{agent} did not start: {self.why}", hint=hint)
        return AgentStartError(f"{agent} could not be started: {self.why}", hint=hint)


class Starter:
    """Starts agents, which detach themselves."""

    def __init__(
        self,
        python: str = sys.executable,
        starts_at_once: int = 8,
        patience_s: float = START_S,
    ) -> None:
        self._python = python
        self._patience_s = patience_s
        # In threads, since asyncio kills the processes that it started when its loop closes. More
        # at once would only get in each other's way.
        self._threads = ThreadPoolExecutor(starts_at_once, "agent-start")

    async def start(
        self, arguments: Sequence[str], environ: Mapping[str, str] | None = None
    ) -> Start:
        """Start an agent and wait until it listens, or until it is clear that it does not."""
        # As a path and without `site`, an agent starts in half the time.
        command = [self._python, "-I", "-S", str(_AGENT), *arguments]
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(
            self._threads, _started, command, environ, self._patience_s
        )


async def is_alive(socket: Path) -> bool:
    """Whether an agent listens."""
    try:
        _, writer = await _connect(socket)
    except OSError:
        return False
    writer.close()
    return True


async def is_under_way(directory: AgentDir) -> bool:
    """Whether an agent has that directory, maybe one that has yet to open its socket."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(PATIENCE_S):
            while directory.is_locked():
                if await is_alive(directory.socket):
                    return True
                await asyncio.sleep(STEP_S)
    return False


async def ask(socket: Path, request: Json, whose: str) -> Json:
    """Have an agent do something and wait until it has; `whose` is what it is the agent of."""
    try:
        reader, writer = await _connect(socket)
    except _NOBODY_THERE:
        raise AgentLostError(f"no agent answers for {whose}") from None
    try:
        writer.write(_line(request))
        answered = await reader.readline()
    except ConnectionError:
        answered = b""
    finally:
        writer.close()
    if not answered:
        raise AgentLostError(f"the agent of {whose} ended before it answered")
    answer: Json = json.loads(answered)
    if not answer.get("ok"):
        said = f"{request['op']}: {answer.get('error', 'refused')}"
        kind = UnknownToAgentError if answer.get("code") == "not_found" else AgentError
        raise kind(said, hint=answer.get("hint") or None)
    return answer


async def watch(socket: Path, request: Json, file: Path, after: int) -> AsyncIterator[Update]:
    """All records after that number, until the last one or until the agent is gone.

    What the socket did not deliver any more is read from the journal's file.
    """
    seen = after
    async for lines in stream(socket, {"op": "watch", "from": after + 1, **request}):
        records = tuple(filter(None, map(record_in, lines)))
        if not records:
            continue
        update = Update(records)
        seen = update.seq
        yield update
        if records[-1].get("type") == END:
            return
    rest = await job_threads.run(lambda: tuple(journal.read(file, seen)))
    if rest:
        yield Update(rest)


async def stream(socket: Path, request: Json) -> AsyncIterator[list[bytes]]:
    """The lines of an answer that goes on, as they come; none where no agent listens."""
    try:
        reader, writer = await _connect(socket)
    except OSError:
        return
    try:
        writer.write(_line(request))
        rest = b""
        while chunk := await _read(reader):
            *lines, rest = (rest + chunk).split(b"\n")
            if lines:
                yield lines
            if len(rest) > _LONGEST_LINE:  # no agent of ours
                return
    finally:
        writer.close()


def _started(command: Sequence[str], environ: Mapping[str, str] | None, patience_s: float) -> Start:
    try:
        ended = subprocess.run(  # noqa: S603 - our own program, by our own interpreter
            command,
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
            env=environ,
            cwd="/",
            timeout=patience_s,
        )
    except OSError as error:
        return Start(_NO_PROCESS, f"{command[0]}: {error.strerror}")
    except subprocess.TimeoutExpired:
        return Start(-signal.SIGKILL, f"it did not start within {patience_s:g} s")
    said = ended.stderr.decode(errors="backslashreplace").strip()
    return Start(ended.returncode, said[-_LAST_WORDS:])


def _line(request: Json) -> bytes:
    return json.dumps(request).encode() + b"\n"


async def _read(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.read(_CHUNK)
    except ConnectionError:
        return b""


async def _connect(path: Path) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection; where very many are made at once, it may take a few attempts."""
    while True:
        with _short(path) as name:
            reader, writer = await asyncio.open_unix_connection(name, limit=_LONGEST_LINE)
        try:
            # A full queue looks like a connection to asyncio, until something is sent.
            writer.get_extra_info("socket").getpeername()
        except OSError:
            writer.transport.abort()
            await asyncio.sleep(STEP_S)
        else:
            return reader, writer


@contextlib.contextmanager
def _short(path: Path) -> Iterator[str]:
    """A name for the socket that is short enough for the kernel."""
    if len(os.fsencode(path)) <= _LONGEST_SOCKET_PATH:
        yield str(path)
        return
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)
