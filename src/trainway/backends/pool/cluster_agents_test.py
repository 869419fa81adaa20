import asyncio
from pathlib import Path

import pytest

from trainway.backends.base import no_backends
from trainway.backends.host_amounts import HostAmounts
from trainway.backends.pool import cluster_agents
from trainway.backends.pool.cluster_agents import ClusterAgents
from trainway.backends.pool.holders import Holders
from trainway.backends.pool.pool_agent import PoolAgent
from trainway.json_types import Json

READY: Json = {"name": "a", "cpus": 2.0, "memory": 4.0, "gpus": ["0"]}
AWAY: Json = {"name": "b", "message": "no route to it"}
SLOW: Json = {"name": "c"}


class Told(PoolAgent):
    """An agent whose hosts are as they are told, one answer after the other."""

    def __init__(self, path: Path, answers: list[list[Json]]) -> None:
        super().__init__(path)
        self._answers = answers

    async def ask(self, operation: str, **more: object) -> Json:
        assert (operation, more) == ("status", {})
        return {"hosts": self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]}


def asked(tmp_path: Path, *answers: list[Json]) -> list[HostAmounts] | None:
    class Agents(ClusterAgents):
        async def _hosts(self, infra: str) -> list[Json]:
            assert infra == "ssh/lab"
            return [{"name": "a"}]

        def pool(self, infra: str, cluster: str) -> str:
            return f"{infra}{cluster}"

        async def _configured(self, pool: str, hosts: list[Json]) -> PoolAgent:
            assert (pool, hosts) == ("ssh/lab", [{"name": "a"}])
            return Told(tmp_path / "agent", list(answers))

    return asyncio.run(Agents(tmp_path, Holders(no_backends)).hosts("ssh/lab"))


def test_hosts_are_waited_for_until_each_has_said_something(tmp_path: Path) -> None:
    assert asked(tmp_path, [READY, SLOW], [READY, AWAY]) == [
        HostAmounts("a", 2.0, 4.0, 1.0),
        HostAmounts("b", 0, 0, 0.0),
    ]


def test_an_agent_for_one_cluster_leaves_nothing(tmp_path: Path) -> None:
    agents = ClusterAgents(tmp_path, Holders(no_backends))
    for name in ("dev", "killed", "workers", "workers-1", "idle"):
        pool = tmp_path / "pools" / f"cloud+{name}"
        pool.mkdir(parents=True)
        (pool / "state.jsonl").write_text("{}\n")
    (tmp_path / "pools" / "lab").mkdir()
    agents.keep({"name": "dev"})
    agents.keep({"name": "workers-1"})
    agents.keep_pool({"name": "workers"})
    agents.keep_pool({"name": "idle"})

    agents.forget("dev")
    assert not (tmp_path / "pools" / "cloud+dev").exists()
    agents.tidy()
    left = {"cloud+workers", "cloud+workers-1", "cloud+idle", "lab"}
    assert {path.name for path in (tmp_path / "pools").iterdir()} == left
    agents.forget("workers-1")
    agents.forget_pool("workers")
    assert {path.name for path in (tmp_path / "pools").iterdir()} == {"cloud+idle", "lab"}


def test_nothing_is_said_of_a_pool_with_a_host_that_is_slow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_agents, "_PATIENCE_S", 0.2)
    assert asked(tmp_path, [READY, SLOW]) is None
