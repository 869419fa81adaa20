import asyncio
import json
from pathlib import Path

import pytest

from trainway.backends.agents.agent_socket import AgentError
from trainway.backends.pool.pool_agent import PoolAgent
from trainway.backends.pool.testing import FakePoolAgent
from trainway.errors import UnavailableError
from trainway.json_types import Json


def test_the_agent_is_started_when_it_is_first_asked(tmp_path: Path) -> None:
    async def run() -> None:
        fake = FakePoolAgent()
        agent = PoolAgent(tmp_path / "pools" / "lab", fake)
        assert await agent.ask_running("status") is None
        await asyncio.gather(*(agent.ask("submit", directory=str(n)) for n in range(5)))
        assert fake.starts == 1
        assert sorted(request["directory"] for request in fake.asked) == list("01234")
        assert await agent.ask_running("status") == {"ok": True}
        await fake.stop()

    asyncio.run(run())


def test_hosts_are_told_when_they_are_new(tmp_path: Path) -> None:
    async def run() -> None:
        fake = FakePoolAgent()
        agent = PoolAgent(tmp_path, fake)
        for hosts in ([], [{"name": "a"}], [{"name": "a"}], [{"name": "a"}, {"name": "b"}]):
            await agent.configure(hosts)
        assert [len(request["hosts"]) for request in fake.asked] == [1, 2]
        await fake.stop()

    asyncio.run(run())


def test_one_that_cannot_be_started_is_tried_again_later(tmp_path: Path) -> None:
    async def run() -> None:
        fake = FakePoolAgent()
        fake.fails_with = "no room"
        with pytest.raises(UnavailableError, match="pool lab could not be started: no") as caught:
            await PoolAgent(tmp_path / "lab", fake).ask("submit")
        assert caught.value.hint == f"{tmp_path}/lab/agent.log may say more"

    asyncio.run(run())


def test_what_the_agent_refuses_is_said(tmp_path: Path) -> None:
    async def run() -> None:
        fake = FakePoolAgent(lambda _request: {"ok": False, "error": "no such job"})
        with pytest.raises(AgentError, match="cancel: no such job"):
            await PoolAgent(tmp_path, fake).ask("cancel", id="x")
        await fake.stop()

    asyncio.run(run())


def test_an_agent_that_ends_meanwhile_is_replaced(tmp_path: Path) -> None:
    async def run() -> None:
        said: list[Json | None] = [None, {"ok": True, "second": True}]
        fake = FakePoolAgent(lambda _request: said.pop(0))
        agent = PoolAgent(tmp_path, fake)
        assert await agent.ask("submit") == {"ok": True, "second": True}
        assert [request["op"] for request in fake.asked] == ["submit", "submit"]
        await fake.stop()

    asyncio.run(run())


def test_records_come_from_the_socket_and_the_rest_from_the_file(tmp_path: Path) -> None:
    journal = tmp_path / "journal.jsonl"
    lines = [json.dumps({"seq": seq, "type": "pod"}) for seq in range(3)]
    journal.write_text("\n".join(lines) + "\n")

    async def run() -> list[int]:
        fake = FakePoolAgent(lambda request: {"seq": request["from"], "type": "pod"})
        agent = PoolAgent(tmp_path, fake)
        await agent.ask_running("status")
        await fake.start(["pool", str(tmp_path)])
        found = [
            int(record["seq"])
            async for update in agent.watch("abc", journal, 0)
            for record in update.records
        ]
        assert fake.asked == [{"op": "watch", "from": 1, "id": "abc"}]
        await fake.stop()
        return found

    assert asyncio.run(run()) == [1, 2]
