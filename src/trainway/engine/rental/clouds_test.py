"""The clouds as the engine calls them."""

import asyncio
import threading
from pathlib import Path

from trainway.engine.rental.clouds import Clouds
from trainway.providers.base import Provider
from trainway.providers.testing import StandInCloud


def test_all_who_ask_at_the_same_time_get_one_provider(tmp_path: Path) -> None:
    made: list[Provider] = []
    others_ask = threading.Event()

    def make(cloud: str) -> Provider:
        others_ask.wait(10)
        made.append(StandInCloud(tmp_path / "cloud", cloud))
        return made[-1]

    async def scene() -> None:
        clouds = Clouds(make, lambda: ["aws"])
        asking = [asyncio.create_task(clouds.provider("aws")) for _ in range(5)]
        await asyncio.sleep(0)
        others_ask.set()
        assert await asyncio.gather(*asking) == made * 5
        clouds.close()

    asyncio.run(scene())
    assert len(made) == 1
