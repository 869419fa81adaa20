import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from trainway.engine.change_feed import ChangeFeed
from trainway.engine.testing import jobset
from trainway.server.testing_site import Site, play
from trainway.server.web.events import change_chunks


async def told(chunks: AsyncIterator[bytes]) -> tuple[str, str, Any]:
    """The kind, the id and the data of the next event."""
    fields = dict(
        line.split(": ", 1) for line in (await anext(chunks)).decode().splitlines() if line
    )
    return fields.get("event", ""), fields.get("id", ""), json.loads(fields.get("data", "null"))


def test_a_reader_goes_on_where_it_was() -> None:
    async def scene() -> None:
        feed = ChangeFeed(10, lambda: "now")
        chunks = change_chunks(feed, "", 0)
        assert await anext(chunks) == b"retry: 1000\n\n"
        assert await told(chunks) == ("jobs", "now-0", {"jobs": []})
        feed.note("a")
        feed.note("b")
        assert await told(chunks) == ("jobs", "now-2", {"jobs": ["a", "b"]})
        feed.note("c")
        again = change_chunks(feed, "now-2", 0)
        await anext(again)
        assert await told(again) == ("jobs", "now-3", {"jobs": ["c"]})

    asyncio.run(scene())


def test_after_a_restart_a_reader_reads_everything_again() -> None:
    async def scene() -> None:
        feed = ChangeFeed(10, lambda: "now")
        chunks = change_chunks(feed, "before-17", 0)
        await anext(chunks)
        assert await told(chunks) == ("reset", "now-0", {})
        feed.note("a")
        assert await told(chunks) == ("jobs", "now-1", {"jobs": ["a"]})

    asyncio.run(scene())


def test_a_slow_reader_costs_nothing_and_reads_everything_again() -> None:
    async def scene() -> None:
        feed = ChangeFeed(10, lambda: "now")
        chunks = change_chunks(feed, "", 0)
        await anext(chunks)
        await anext(chunks)
        for number in range(100_000):
            feed.note(str(number % 20))
        assert await told(chunks) == ("reset", "now-100000", {})

    asyncio.run(scene())


def test_what_happens_to_jobs_is_told(tmp_path: Path) -> None:
    async def scene(site: Site) -> None:
        feed = site.world.engine.reading.feed
        begin = feed.position
        body = json.dumps({"objects": [jobset("demo")], "options": {}}).encode()
        _, made = await site.ask("POST", "/jobs", body)
        job_id = made["job"]["metadata"]["id"]
        assert feed.since(begin) == [job_id]
        created = feed.position
        await site.ask("PATCH", f"/jobs/{job_id}", b'{"note": "good"}')
        assert feed.since(created) == [job_id]
        noted = feed.position
        await site.ask("POST", f"/jobs/{job_id}/cancel")
        assert feed.since(noted) == [job_id]

    play(tmp_path, scene)
