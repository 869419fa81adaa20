"""The relay of a cluster as a process: a child of the server, here or through ssh.

Through ssh, the agent of this very version is on the login node before anything is said: where it
is missing, it is copied once. What the child complains about is kept, as the reason of its end.
"""

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from trainway.agent.base import launch
from trainway.agent.slurm.relay.login import HOME, relay_script
from trainway.agent.transfer.ssh_command import (
    GREETING,
    NO_AGENT,
    copy_arguments,
    ssh_arguments,
)
from trainway.agent.transfer.ssh_failure import Failure, explain, not_startable
from trainway.backends.agents.jobdir import PRIVATE_DIR
from trainway.backends.login import ssh_process
from trainway.json_types import Json

CONNECT_S: Final = 15.0
COPY_S: Final = 120.0
LAST_S: Final = 3.0
_LONGEST_LINE: Final = 1 << 26
_KEPT_ERRORS: Final = 1 << 14


class RelayError(Exception):
    """There is no relay; the failure says why, with a hint."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(str(failure))
        self.failure = failure


class RelayProcess:
    """A relay that runs."""

    def __init__(self, process: asyncio.subprocess.Process, host: Json) -> None:
        if process.stdin is None or process.stdout is None or process.stderr is None:
            raise TypeError("a relay is spoken to through pipes")
        self._process = process
        self._host = host
        self._input, self._output = process.stdin, process.stdout
        self._errors = b""
        self._listening = asyncio.create_task(self._listen(process.stderr))
        self._writing = asyncio.Lock()

    async def _listen(self, said: asyncio.StreamReader) -> None:
        while data := await said.read(_KEPT_ERRORS):
            self._errors = (self._errors + data)[-_KEPT_ERRORS:]

    async def greet(self) -> None:
        """Wait until the other side is there; before that a login shell may have had its say."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(CONNECT_S):
                while line := await self._output.readline():
                    if line.strip() == GREETING.encode():
                        return
        raise RelayError(await self.end())

    async def send(self, frame: Json) -> None:
        """Say something, at the pace of the other side; OSError where there is nobody."""
        line = json.dumps(frame, separators=(",", ":")).encode() + b"\n"
        async with self._writing:
            self._input.write(line)
            await self._input.drain()

    async def frames(self) -> AsyncIterator[Json]:
        """What the other side says, until it says no more."""
        while line := await self._output.readline():
            try:
                frame = json.loads(line)
            except ValueError:
                continue
            if isinstance(frame, dict):
                yield frame

    def hang_up(self) -> None:
        """Say no more, so that it ends."""
        self._input.close()

    @property
    def status(self) -> int | None:
        """How it ended; None: it was killed, or runs."""
        return self._process.returncode

    async def end(self) -> Failure:
        """Have it end, if it has not; why it did."""
        status = await self._waited()
        self._listening.cancel()
        if self._host["destination"]:
            return explain(self._host, status, self._errors)
        lines = self._errors.decode(errors="replace").splitlines()
        said = next((line.strip() for line in reversed(lines) if line.strip()), "")
        return Failure(said or f"its relay ended (status {status})", vague=not said)

    async def _waited(self) -> int | None:
        """The exit status; None: it had to be killed."""
        self.hang_up()
        try:
            async with asyncio.timeout(LAST_S):
                status = await self._process.wait()
                await self._listening
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            await self._process.wait()
            return None
        return status if status >= 0 else None


async def start(cluster: Json, directory: Path, environ: Mapping[str, str]) -> RelayProcess:
    """A relay that answers; RelayError where there can be none."""
    env = {str(name): str(value) for name, value in (cluster.get("env") or {}).items()}
    if not cluster.get("login"):
        home = str(cluster.get("home") or HOME)
        words = [sys.executable, "-I", "-S", str(launch.PACKAGE), "slurm", "relay", "--home", home]
        return await _started(words, _host(cluster), {**environ, **env})
    host = _host(cluster)
    archive = await asyncio.to_thread(_archive, directory)
    digest = archive.stem.removeprefix(_PREFIX)
    words = ssh_arguments(host, relay_script(host, digest, env))
    relay = await _started(words, host, environ)
    try:
        await relay.greet()
    except RelayError:
        if relay.status != NO_AGENT:
            raise
        await _copy(host, archive, digest, environ)
        relay = await _started(words, host, environ)
        await relay.greet()
    return relay


def _host(cluster: Json) -> Json:
    return {**cluster, "destination": cluster.get("destination") or cluster.get("login") or ""}


async def _started(words: Sequence[str], host: Json, environ: Mapping[str, str]) -> RelayProcess:
    try:
        process = await asyncio.create_subprocess_exec(
            *words,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            limit=_LONGEST_LINE,
            env=dict(environ),
            cwd="/",
            start_new_session=True,
        )
    except OSError as error:
        raise RelayError(not_startable(error, words[0])) from error
    return RelayProcess(process, host)


_PREFIX: Final = "agent-"


def _archive(directory: Path) -> Path:
    """The agent as one file, written where it is missing; those of other versions go."""
    path = directory / f"{_PREFIX}{launch.digest()}.pyz"
    if not path.exists():
        directory.mkdir(PRIVATE_DIR, parents=True, exist_ok=True)
        draft = path.with_suffix(f".{os.getpid()}")
        launch.write_zip(draft)
        draft.replace(path)
        for old in directory.glob(f"{_PREFIX}*.pyz"):
            if old != path:
                old.unlink(missing_ok=True)
    return path


async def _copy(host: Json, archive: Path, digest: str, environ: Mapping[str, str]) -> None:
    """Put the agent on the login node."""
    data = await asyncio.to_thread(archive.read_bytes)
    words = copy_arguments(host, digest, len(data))
    try:
        ended = await ssh_process.run(words, data, environ, COPY_S)
    except OSError as error:
        raise RelayError(not_startable(error, words[0])) from error
    if ended.status != 0:
        raise RelayError(explain(host, ended.status, ended.said))
