import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from trainway.backends.agents import agent_plan
from trainway.backends.agents.agent_backend import AgentBackend
from trainway.backends.agents.agent_plan import AgentRequest, plan_of
from trainway.backends.agents.agent_socket import AgentError
from trainway.backends.agents.journal import Record
from trainway.backends.agents.ports import Ports
from trainway.backends.base import Handle, LogQuery, Workload
from trainway.errors import ConflictError, TrainwayError
from trainway.json_types import Json

WORKLOAD = Workload("abc", "demo", "ns", {"spec": {}}, [], "/work", {}, 20_000)


class OneRequest(AgentRequest):
    pass


class HeldPorts(Ports):
    """Of which nobody else knows."""

    def __init__(self) -> None:
        super().__init__()
        self.now: set[int] = set()

    def hold(self, port: int) -> None:
        self.now.add(port)

    def release(self, port: int) -> None:
        self.now.discard(port)


class OneBackend(AgentBackend[OneRequest]):
    """Has nothing of its own."""

    request_type = OneRequest

    def __init__(self, home: Path) -> None:
        self.held = HeldPorts()
        super().__init__(home, self.held, lambda: datetime(2026, 11, 15, tzinfo=UTC))

    def request(self, workload: Workload = WORKLOAD) -> OneRequest:
        return OneRequest({**plan_of(workload), "env": {}}, self._jobs / workload.id)

    def _workload_of(self, plan: Json) -> Workload | None:
        return agent_plan.workload_of(plan) if plan["name"] == "demo" else None

    async def _way(
        self, handle: Handle, records: Sequence[Record], role: str | None, rank: int | None
    ) -> Json:
        return {"id": handle["id"], "records": len(records), "role": role, "rank": rank}


@pytest.fixture
def backend(tmp_path: Path) -> OneBackend:
    return OneBackend(tmp_path / "home")


def written(backend: OneBackend, request: OneRequest) -> Json:
    job = asyncio.run(backend._write(request))
    plan: Json = json.loads(job.plan.read_bytes())
    return plan


def test_a_plan_is_written_once_with_keys_of_its_own(backend: OneBackend) -> None:
    request = backend.request()
    plan = written(backend, request)
    assert set(plan["status"].pop("files")) == {"certificate", "key", "token"}
    assert plan == {**request.plan, "logs": {"limit": 5_000_000_000}}
    other = replace(request, plan={**request.plan, "name": "other"})
    assert written(backend, other)["name"] == "demo"


def test_a_home_that_cannot_be_written_is_said_in_one_line(
    backend: OneBackend, tmp_path: Path
) -> None:
    (tmp_path / "home").write_text("a file")
    with pytest.raises(AgentError, match=r"/jobs/abc cannot be written: Not a directory"):
        asyncio.run(backend._write(backend.request()))


def test_what_was_written_and_lost_is_found(backend: OneBackend) -> None:
    written(backend, backend.request())
    written(backend, backend.request(replace(WORKLOAD, id="def", name="other")))
    assert backend.strays(list) == [WORKLOAD]
    assert backend.strays(lambda: ["abc"]) == []


def test_the_way_to_a_pod_is_in_the_journal(backend: OneBackend) -> None:
    request = backend.request()
    written(backend, request)
    with pytest.raises(ConflictError, match="the job has not started yet"):
        asyncio.run(backend.exec_place(request.handle, None, None))
    backend.job_dir(request.handle).journal.write_text('{"seq": 0}\n{"seq": 1}\n')
    found = asyncio.run(backend.exec_place(request.handle, "node", 1))
    assert found == {"id": "abc", "records": 2, "role": "node", "rank": 1}


def test_what_is_kept_is_in_the_directory_of_the_handle(
    backend: OneBackend, tmp_path: Path
) -> None:
    handle = {"id": "abc", "directory": str(tmp_path / "elsewhere" / "abc"), "port": 20_000}
    assert backend.output(handle) == tmp_path / "elsewhere" / "abc" / "output"
    logs = tmp_path / "elsewhere" / "abc" / "logs"
    logs.mkdir(parents=True)
    (logs / "node-0-0.main.0.log").write_text("2026-11-15T05:10:00.123456Z o hello\n")

    async def read() -> list[bytes]:
        batches = backend.logs(handle, LogQuery(), asyncio.Event())
        return [line.text for batch in [batch async for batch in batches] for line in batch]

    assert asyncio.run(read()) == [b"hello"]


def test_a_cursor_of_another_is_refused(backend: OneBackend) -> None:
    backend.check_logs(LogQuery())
    with pytest.raises(TrainwayError, match="not a position in a log"):
        backend.check_logs(LogQuery(cursor="nonsense"))


def test_an_adopted_job_keeps_its_port_until_it_is_over(backend: OneBackend) -> None:
    asyncio.run(backend.adopt({"port": 20_000}))
    assert backend.held.now == {20_000}
    backend.release(20_000)
    assert backend.held.now == set()


def test_a_request_of_another_backend_is_a_mistake(backend: OneBackend) -> None:
    request = backend.request()
    assert backend._ours(request) is request
    with pytest.raises(TypeError):
        backend._ours(AgentRequest(request.plan, request.directory))
