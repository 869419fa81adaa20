import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from trainway.backends.agents.agent_socket import Starter
from trainway.backends.agents.jobdir import JobDir
from trainway.backends.base import AgentStartError
from trainway.backends.local.agents import AgentError, AgentLostError, Agents

Speaker = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def record(seq: int, kind: str = "pod") -> bytes:
    return json.dumps({"seq": seq, "type": kind}).encode() + b"\n"


async def seqs(job: JobDir, after: int = -1) -> list[int]:
    found = []
    async for update in Agents().watch(job, after):
        found += [int(each["seq"]) for each in update.records]
    return found


def with_agent(job: JobDir, speak: Speaker, client: Callable[[], Awaitable[Any]]) -> Any:
    """Let a client talk to something that speaks like an agent."""

    async def run() -> Any:
        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await speak(reader, writer)
            writer.close()

        job.path.mkdir(parents=True, exist_ok=True)
        async with await asyncio.start_unix_server(handle, job.socket):
            return await asyncio.wait_for(client(), 60)

    return asyncio.run(run())


def saying(*chunks: bytes) -> Speaker:
    async def speak(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        for chunk in chunks:
            writer.write(chunk)
            await writer.drain()

    return speak


def test_records_arrive_however_the_stream_is_cut(tmp_path: Path) -> None:
    data = record(0) + record(1) + record(2, "end")
    speak = saying(*(data[n : n + 5] for n in range(0, len(data), 5)))
    assert with_agent(JobDir(tmp_path), speak, lambda: seqs(JobDir(tmp_path))) == [0, 1, 2]


def test_what_a_dying_agent_did_not_send_is_in_the_file(tmp_path: Path) -> None:
    job = JobDir(tmp_path)
    job.journal.write_bytes(record(0) + record(1) + record(2, "end"))
    speak = saying(record(0), record(1)[:4])
    assert with_agent(job, speak, lambda: seqs(job)) == [0, 1, 2]


def test_without_an_agent_the_file_is_read(tmp_path: Path) -> None:
    job = JobDir(tmp_path)
    job.journal.write_bytes(record(0) + record(1))
    assert asyncio.run(seqs(job)) == [0, 1]
    assert asyncio.run(seqs(job, after=0)) == [1]
    assert asyncio.run(seqs(job, after=1)) == []


def test_a_path_too_long_for_a_socket_is_no_obstacle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = JobDir(tmp_path)
    folder = tmp_path / ("x" * 60) / ("y" * 60)
    folder.parent.mkdir()
    folder.symlink_to(tmp_path)
    long = JobDir(folder)
    assert len(str(long.socket)) > 108
    answer = with_agent(short, saying(b'{"ok": true}\n'), lambda: Agents().ask(long, "status"))
    assert answer == {"ok": True}


def test_a_refusal_is_an_error(tmp_path: Path) -> None:
    job = JobDir(tmp_path)
    speak = saying(b'{"ok": false, "error": "the job has ended"}\n')
    with pytest.raises(AgentError, match="suspend: the job has ended"):
        with_agent(job, speak, lambda: Agents().ask(job, "suspend"))


def test_an_agent_that_goes_without_an_answer_is_lost(tmp_path: Path) -> None:
    job = JobDir(tmp_path)
    with pytest.raises(AgentLostError, match="ended before it answered"):
        with_agent(job, saying(), lambda: Agents().ask(job, "cancel"))
    with pytest.raises(AgentLostError, match="no agent answers"):
        asyncio.run(Agents().ask(JobDir(tmp_path / "none"), "cancel"))


def test_an_agent_that_cannot_start_says_why(tmp_path: Path) -> None:
    with pytest.raises(AgentError, match=r"the agent did not start: .*plan\.json"):
        asyncio.run(Agents().start(JobDir(tmp_path)))


def interpreter(path: Path, script: str) -> str:
    """A program in the place of the Python that agents are started with."""
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o700)
    return str(path)


@dataclass(frozen=True)
class Case:
    name: str
    script: str | None
    said: str
    patience_s: float = 60


@pytest.mark.parametrize(
    "case",
    [
        Case("killed", "kill -KILL $$", "it was killed by SIGKILL"),
        Case("no memory", "echo MemoryError >&2; exit 1", "MemoryError"),
        Case("mute", "exit 7", "it exited with 7"),
        Case("no python", None, "No such file or directory"),
        Case("stuck", "exec sleep 600", "it did not start within 0.5 s", patience_s=0.5),
    ],
    ids=lambda case: case.name,
)
def test_a_start_that_may_come_out_better_next_time(case: Case, tmp_path: Path) -> None:
    program = tmp_path / "python"
    python = str(program) if case.script is None else interpreter(program, case.script)
    with pytest.raises(AgentStartError, match=re.escape(case.said)):
        asyncio.run(Agents(Starter(python, patience_s=case.patience_s)).start(JobDir(tmp_path)))


def test_after_a_loss_a_journal_without_an_end_is_no_agent(tmp_path: Path) -> None:
    job, agents = (
        JobDir(tmp_path),
        Agents(Starter(interpreter(tmp_path / "python", "kill -KILL $$"))),
    )
    job.journal.write_bytes(record(0))
    asyncio.run(agents.start(job))  # somebody else had started one
    with pytest.raises(AgentStartError):
        asyncio.run(agents.recover(job))
    job.journal.write_bytes(record(0) + record(1, "end"))
    asyncio.run(agents.recover(job))
