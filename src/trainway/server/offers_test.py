"""What the pages for creating jobs, for queues and for settings ask for."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

from trainway.backends.queues import HasQueues, Queue, Quota
from trainway.backends.testing import FakeBackend
from trainway.engine.testing import World
from trainway.errors import UnavailableError
from trainway.jobset.quantity import Quantity
from trainway.json_types import Json
from trainway.notify.targets import Form, Occasion, Target
from trainway.server.testing_site import Site, play


class _Queueing(FakeBackend):
    """A backend with queues, which may not answer."""

    is_away = False

    async def queues(self) -> list[Queue]:
        if self.is_away:
            raise UnavailableError("it is away", hint="look again")
        quota = Quota("a100", "nvidia.com/gpu", Quantity.parse(8), Quantity.parse(5))
        return [Queue("team", "ml", "all", 2, 1, quotas=(quota,))]

    def runtimes(self) -> list[Json]:
        return [{"kind": "TrainingRuntime", "metadata": {"name": "own"}}]


async def _offer(site: Site, backend: str = "local") -> tuple[int, Json]:
    return await site.ask("POST", "/backends/offer", json.dumps({"backend": backend}).encode())


def test_a_backend_tells_its_queues_and_runtimes(tmp_path: Path) -> None:
    async def scene(site: Site) -> None:
        status, answer = await _offer(site)
        assert (status, answer["queues"], answer["runtimes"]) == (200, [], [])
        backend = _Queueing()
        assert isinstance(backend, HasQueues)
        site.world.engine.registry.put(backend)
        _, answer = await _offer(site)
        (queue,) = answer["queues"]
        assert (queue["name"], queue["clusterQueue"]) == ("team", "all")
        assert queue["quotas"][0]["used"] == "5"
        assert answer["runtimes"][0]["metadata"]["name"] == "own"
        backend.is_away = True
        _, answer = await _offer(site)
        assert answer["problem"] == "it is away (look again)"
        assert (await _offer(site, "nowhere"))[0] == 404

    play(tmp_path, scene)


def test_one_backend_is_checked(tmp_path: Path) -> None:
    async def scene(site: Site) -> None:
        body = json.dumps({"backend": "local"}).encode()
        _, answer = await site.ask("POST", "/backends/check", body)
        assert [item["name"] for item in answer["items"]] == ["local"]

    play(tmp_path, scene)


def test_targets_are_told_without_their_secrets(tmp_path: Path) -> None:
    target = Target("team", "https://x/secret", Form.SLACK, frozenset({Occasion.FAILED}))

    def targets() -> Sequence[Target]:
        return [target]

    async def scene() -> None:
        world = World(targets=targets)
        status, answer = await Site(world, tmp_path).ask("GET", "/notify")
        assert status == 200
        assert answer == {"items": [{"name": "team", "format": "slack", "events": ["failed"]}]}
        await world.engine.close()

    asyncio.run(scene())
