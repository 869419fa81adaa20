"""Talking to the agents of jobs: start one, watch its journal, tell it what to do.

An agent listens on a socket in the job's directory, one JSON object per line. It outlives us: a
connection that ends says nothing about the job, only a journal with an `end` does.
"""

import asyncio
import contextlib
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import trainway
from trainway.backends.base import Update
from trainway.backends.local import journal
from trainway.backends.local.jobdir import JobDir
from trainway.errors import TrainwayError

Json = dict[str, Any]

_CHUNK: Final = 1 << 16
_LONGEST_SOCKET_PATH: Final = 100
"""The kernel takes 107 bytes; a longer path is reached through its directory."""
_LAST_WORDS: Final = 2_000
_STEP_S: Final = 0.02
_PATIENCE_S: Final = 15.0
_AGENT: Final = Path(trainway.__file__).parent / "agent"
_NOBODY_THERE: Final = (FileNotFoundError, ConnectionRefusedError)


class AgentLostError(TrainwayError):
    """No agent answers for the job."""

    code = "agent_lost"
    http_status = 503


class AgentError(TrainwayError):
    """The agent refused, or could not be started."""

    code = "agent"


class Agents:
    """Starts agents and speaks with them."""

    def __init__(self, python: str = sys.executable, starts_at_once: int = 8) -> None:
        self._python = python
        # In threads, since asyncio kills the processes that it started when its loop closes. More
        # at once would only get in each other's way.
        self._starters = ThreadPoolExecutor(starts_at_once, "agent-start")

    async def start(self, job: JobDir) -> None:
        """Start the job's agent unless it is there already; returns when it listens."""
        await self._run(job, [])

    async def recover(self, job: JobDir) -> None:
        """Start an agent in place of one that died."""
        await self._run(job, ["--recover"])

    async def cancel_lost(self, job: JobDir) -> None:
        """Kill what a dead agent left running, and end the job, without starting it again."""
        await self._run(job, ["--recover", "--cancel"])
        # Another agent may have been there first, for which this is news.
        with contextlib.suppress(AgentLostError):
            await self.ask(job, "cancel", grace=0)

    async def _run(self, job: JobDir, options: Sequence[str]) -> None:
        # As a path and without `site`, an agent starts in half the time.
        command = [self._python, "-I", "-S", str(_AGENT), *options, str(job.path)]
        loop = asyncio.get_running_loop()
        status, said = await loop.run_in_executor(self._starters, _started, command)
        if status and not await self._is_under_way(job):
            raise AgentError(
                f"the agent did not start: {said or f'it ended with {status}'}",
                hint=f"{job.agent_log} may say more",
            )

    async def _is_under_way(self, job: JobDir) -> bool:
        """Whether another agent has the job, maybe one that has yet to open its socket."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE_S):
                while job.is_locked():
                    if await self.is_alive(job):
                        return True
                    await asyncio.sleep(_STEP_S)
        return journal.exists(job.journal)

    async def wait_until_gone(self, job: JobDir) -> None:
        """Wait for the agent of a job that is over to end its process."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE_S):
                while job.is_locked():
                    await asyncio.sleep(_STEP_S)

    async def is_alive(self, job: JobDir) -> bool:
        """Whether an agent listens."""
        try:
            _, writer = await _connect(job.socket)
        except OSError:
            return False
        writer.close()
        return True

    async def watch(self, job: JobDir, after: int) -> AsyncIterator[Update]:
        """All records after that number, until the last one or until the agent is gone.

        What the socket did not deliver any more is read from the file.
        """
        seen = after
        async for update in self._live(job, after):
            seen = update.seq
            yield update
            if _ends(update):
                return
        rest = tuple(journal.read(job.journal, seen))
        if rest:
            yield Update(rest)

    async def _live(self, job: JobDir, after: int) -> AsyncIterator[Update]:
        try:
            reader, writer = await _connect(job.socket)
        except OSError:
            return
        try:
            writer.write(_line({"op": "watch", "from": after + 1}))
            rest = b""
            while chunk := await _read(reader):
                *lines, rest = (rest + chunk).split(b"\n")
                records = tuple(filter(None, map(journal.parse, lines)))
                if records:
                    yield Update(records)
        finally:
            writer.close()

    async def ask(self, job: JobDir, operation: str, **more: object) -> Json:
        """Have the agent do something and wait until it has."""
        try:
            reader, writer = await _connect(job.socket)
        except _NOBODY_THERE:
            raise AgentLostError(f"no agent answers for {job.path.name}") from None
        try:
            writer.write(_line({"op": operation, **more}))
            answered = await reader.readline()
        except ConnectionError:
            answered = b""
        finally:
            writer.close()
        if not answered:
            raise AgentLostError(f"the agent of {job.path.name} ended before it answered")
        answer: Json = json.loads(answered)
        if not answer.get("ok"):
            raise AgentError(f"{operation}: {answer.get('error', 'refused')}")
        return answer


def _started(command: Sequence[str]) -> tuple[int, str]:
    """Start an agent, which detaches itself; the exit status, and what was said."""
    ended = subprocess.run(  # noqa: S603 - our own program, by our own interpreter
        command,
        check=False,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
        cwd="/",
    )
    return ended.returncode, ended.stderr.decode(errors="backslashreplace").strip()[-_LAST_WORDS:]


def _ends(update: Update) -> bool:
    return update.records[-1].get("type") == journal.END


def _line(request: Json) -> bytes:
    return json.dumps(request).encode() + b"\n"


async def _read(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.read(_CHUNK)
    except ConnectionError:
        return b""


async def _connect(path: Path) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    with _short(path) as name:
        return await asyncio.open_unix_connection(name)


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
