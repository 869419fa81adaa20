"""The local backend with real agents, below the engine."""

import asyncio
import json
import os
import shutil
import signal
import stat
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from trainway.backends.base import BackendSettings, Feature, Handle, LogQuery, Workload
from trainway.backends.local.agents import AgentError
from trainway.backends.local.backend import LocalBackend
from trainway.backends.local.containers import TOOLS
from trainway.compiler.network import JobIdentity
from trainway.engine.testing import WAIT_FOR_FILE, jobset
from trainway.jobset.admission import with_webhook_defaults
from trainway.jobset.spec import JOBSET
from trainway.json_types import Json
from trainway.schema.defaulting import with_defaults

ENVIRON = {"PATH": os.environ["PATH"], "HOME": "/tmp"}


class Bench:
    """A backend and the jobs that a test gives it."""

    def __init__(self, home: Path) -> None:
        self.backend = LocalBackend(BackendSettings(home))
        self.home = home
        self.handles: list[Handle] = []

    def request(self, name: str = "job", **more: Any) -> Any:
        made = with_webhook_defaults(with_defaults(JOBSET, jobset(name, **more)))
        port = self.backend.network(JobIdentity(name, "default", name)).port
        # Processes are found by the id of their job, also those of tests that run beside this one.
        own_id = f"{name}-{os.getpid()}"
        return self.backend.plan(
            Workload(own_id, name, "default", made, [], str(self.home), ENVIRON, port)
        )

    async def submit(self, name: str = "job", **more: Any) -> Handle:
        request = self.request(name, **more)
        self.handles.append(request.handle)
        await self.backend.submit(request)
        handle: Handle = request.handle
        return handle

    async def until(self, handle: Handle, done: Callable[[Json], bool]) -> Json:
        async with asyncio.timeout(120):
            async for update in self.backend.watch(handle, -1):
                for record in update.records:
                    if done(dict(record)):
                        return dict(record)
        raise AssertionError("the journal ended before")

    async def end(self, handle: Handle) -> Json:
        return await self.until(handle, lambda record: record["type"] == "end")

    async def running(self, handle: Handle) -> Json:
        return await self.until(handle, lambda record: record.get("phase") == "Running")

    async def texts(self, handle: Handle, query: LogQuery) -> list[bytes]:
        ended = asyncio.Event()
        ended.set()
        found = self.backend.logs(handle, query, ended)
        return [line.text async for lines in found for line in lines]


def use(home: Path, scene: Callable[[Bench], Awaitable[None]]) -> None:
    async def run() -> None:
        bench = Bench(home)
        try:
            await scene(bench)
        finally:
            for handle in bench.handles:
                await bench.backend.cancel(handle)
                await bench.backend.delete(handle)

    asyncio.run(run())


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_job_runs_and_all_of_it_is_private(tmp_path: Path) -> None:
    async def scene(bench: Bench) -> None:
        handle = await bench.submit(command="echo hello")
        assert (await bench.end(handle))["succeeded"] is True
        assert await bench.texts(handle, LogQuery()) == [b"hello"]
        folder = Path(handle["directory"])
        modes = {path.name: mode(path) for path in folder.iterdir()}
        assert mode(folder) == 0o700
        private = ("plan.json", "journal.jsonl", "agent.log", "agent.json")
        assert {modes[name] for name in private} == {0o600}
        await bench.backend.delete(handle)
        assert not folder.exists()

    use(tmp_path, scene)


def test_what_is_submitted_twice_runs_once(tmp_path: Path) -> None:
    async def scene(bench: Bench) -> None:
        marks = tmp_path / "marks"
        request = bench.request(command=f"echo x >> {marks}; sleep 0.3")
        bench.handles.append(request.handle)
        await asyncio.gather(*(bench.backend.submit(request) for _ in range(5)))
        await bench.end(request.handle)
        await bench.backend.submit(request)
        assert marks.read_text() == "x\n"

    use(tmp_path, scene)


def test_the_journal_can_be_watched_from_anywhere_at_any_time(tmp_path: Path) -> None:
    async def scene(bench: Bench) -> None:
        handle = await bench.submit()
        await bench.end(handle)

        async def seqs(after: int) -> list[int]:
            found = bench.backend.watch(handle, after)
            return [int(record["seq"]) async for update in found for record in update.records]

        everything = await seqs(-1)
        assert everything == list(range(len(everything)))
        assert await seqs(everything[-2]) == everything[-1:]
        assert await seqs(everything[-1]) == []

    use(tmp_path, scene)


def test_suspend_resume_and_cancel(tmp_path: Path) -> None:
    async def scene(bench: Bench) -> None:
        def suspended(status: str) -> Callable[[Json], bool]:
            def says(record: Json) -> bool:
                conditions = (record.get("jobset") or {}).get("conditions") or []
                return any(c["type"] == "Suspended" and c["status"] == status for c in conditions)

            return says

        handle = await bench.submit(command="sleep 1000")
        await bench.running(handle)
        await bench.backend.suspend(handle)
        await bench.until(handle, suspended("True"))
        await bench.backend.resume(handle)
        await bench.until(handle, suspended("False"))
        await bench.backend.cancel(handle)
        end = await bench.end(handle)
        assert (end["succeeded"], end["reason"]) == (False, "Cancelled")

    use(tmp_path, scene)


def test_a_lost_agent_is_recovered_and_its_processes_are_gone(tmp_path: Path) -> None:
    async def scene(bench: Bench) -> None:
        policy = {"failurePolicy": {"maxRestarts": 1}}
        go = tmp_path / "go"
        handle = await bench.submit(command=WAIT_FOR_FILE.format(go), spec=policy)
        first = await bench.running(handle)
        agent = json.loads(Path(handle["directory"], "agent.json").read_text())["pid"]
        os.kill(agent, signal.SIGKILL)
        seen = [int(r["seq"]) async for u in bench.backend.watch(handle, -1) for r in u.records]
        assert await bench.backend.recover(handle)
        go.touch()
        assert (await bench.end(handle))["succeeded"] is True
        assert seen[-1] >= int(first["seq"])

    use(tmp_path, scene)


def test_a_job_whose_directory_is_gone_cannot_be_recovered(tmp_path: Path) -> None:
    async def scene(bench: Bench) -> None:
        handle = bench.request().handle
        assert not await bench.backend.recover(handle)

    use(tmp_path, scene)


def test_a_full_disk_is_said(tmp_path: Path) -> None:
    async def scene(bench: Bench) -> None:
        (tmp_path / "jobs").write_text("in the way")
        with pytest.raises(AgentError, match="cannot be written"):
            await bench.backend.submit(bench.request())

    use(tmp_path, scene)


def test_a_taken_port_is_noticed_until_the_job_is_submitted(tmp_path: Path) -> None:
    async def scene(bench: Bench) -> None:
        request = bench.request()
        assert not bench.backend.has_lost_network(request.handle)
        port = request.handle["port"] + 1
        stranger = await asyncio.start_server(lambda _r, _w: None, "127.0.0.1", port)
        async with stranger:
            assert bench.backend.has_lost_network(request.handle)

    use(tmp_path, scene)


def test_doctor_has_something_to_say(tmp_path: Path) -> None:
    backend = LocalBackend(BackendSettings(tmp_path / "not" / "there" / "yet"))
    names = ["python", "disk", "volumes", "gpus", "containers"]
    assert [check.name for check in backend.check()] == names
    assert set(backend.capabilities()) == set(Feature)
    has_tool = any(shutil.which(tool) for tool in TOOLS)
    assert bool(backend.capabilities()[Feature.IMAGES]) is not has_tool
    assert not backend.capabilities()[Feature.SUSPEND]
