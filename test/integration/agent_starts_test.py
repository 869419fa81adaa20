"""Real agents that die before they have begun, under a real engine."""

import asyncio
import os
import sys
from pathlib import Path

from trainway.backends.agents.agent_socket import Starter
from trainway.backends.base import BackendSettings
from trainway.backends.local.agents import Agents
from trainway.backends.local.backend import LocalBackend
from trainway.backends.registry import Registry
from trainway.engine.agent_starts import StartPolicy
from trainway.engine.jobs import Engine
from trainway.engine.submission import Submission
from trainway.engine.testing import jobset, memory_store

SOON = StartPolicy(most=3, first_pause_s=0.01)


def engine_with(python: str, home: Path) -> Engine:
    registry = Registry(BackendSettings(home))
    registry.put(LocalBackend(BackendSettings(home), agents=Agents(Starter(python))))
    return Engine(memory_store(), registry, starts=SOON)


def mortal(folder: Path, deaths: int) -> str:
    """A Python that is killed before it becomes an agent, so many times."""
    program = folder / "python"
    program.write_text(
        f"#!/bin/sh\necho x >> {folder}/starts\n"
        f'[ "$(wc -l < {folder}/starts)" -le {deaths} ] && kill -KILL $$\n'
        f'exec {sys.executable} "$@"\n'
    )
    program.chmod(0o700)
    return str(program)


def run(engine: Engine, command: str) -> dict[str, object]:
    """A job without restarts, brought to its end; its status."""

    async def scene() -> dict[str, object]:
        await engine.start()
        try:
            environ = {"PATH": os.environ["PATH"]}
            job, _ = await engine.submit(Submission([jobset("demo", command)], environ=environ))
            async with asyncio.timeout(60):
                async for job in engine.reading.watch("demo"):  # noqa: B007 - the last counts
                    pass
            status: dict[str, object] = job["status"]
            return status
        finally:
            await engine.close()

    return asyncio.run(scene())


def test_a_job_without_restarts_outlives_two_kills_before_its_agent_began(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    engine = engine_with(mortal(tmp_path, deaths=2), tmp_path / "home")
    status = run(engine, f"echo once >> {mark}")
    assert (status["phase"], status["restarts"]) == ("Succeeded", 0)
    assert mark.read_text() == "once\n"


def test_a_job_whose_agent_never_starts_ends_with_the_reason(tmp_path: Path) -> None:
    engine = engine_with(mortal(tmp_path, deaths=99), tmp_path / "home")
    status = run(engine, "true")
    assert (status["phase"], status["reason"]) == ("Failed", "AgentFailed")
    assert status["message"] == (
        "the agent could not be started: it was killed by SIGKILL; it was tried 3 times"
    )
