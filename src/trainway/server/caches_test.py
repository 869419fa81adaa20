"""Data caches, over HTTP."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from trainway.backends.base import LogLine, LogQuery
from trainway.data.flight.contract import HEAD, LISTENS, READY
from trainway.data.flight.objects import CacheSpec, cache_objects
from trainway.errors import UnavailableError
from trainway.jobset.labels import DATA_CACHE
from trainway.json_types import Json
from trainway.server import data_caches
from trainway.server.data_caches import cache_spec, cache_view
from trainway.server.testing_site import Site, play

SPEC = CacheSpec("words", "s3://bucket/train", is_here=True)
FAR = CacheSpec("far", "s3://bucket/train", 2)


def test_caches_are_listed_by_name(tmp_path: Path) -> None:
    async def scene(site: Site) -> None:
        assert await site.ask("GET", "/caches") == (200, {"items": []})
        for spec in (SPEC, CacheSpec("pods", "/t", 2, "image", has_token=True)):
            objects = [spec_object(spec)]
            status, _ = await site.ask("POST", "/jobs", json.dumps({"objects": objects}).encode())
            assert status == 201
        _, listed = await site.ask("GET", "/caches")
        pods, words = listed["items"]
        assert (pods["name"], pods["address"], pods["hasToken"]) == (
            "pods", "cache://pods-head-0-0.pods-head-0:50051", True)  # fmt: skip
        assert (words["table"], words["rows"], words["readers"]) == (SPEC.table, None, None)
        assert words["address"] == f"cache://127.0.0.1:{SPEC.port}"

    play(tmp_path, scene)


def test_the_log_of_a_head_elsewhere_says_how_large_its_table_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = [LISTENS % (HEAD, "10.0.0.7", FAR.port), READY % (4, 40, 32_000)]

    async def logs(handle: Json, query: LogQuery, ended: Any) -> AsyncIterator[list[LogLine]]:
        assert query.role == HEAD
        for text in said:
            yield [LogLine("", HEAD, 0, 0, "cache", 0, "stderr", f"INFO {text}\n".encode(), "1")]
        if not said:
            raise UnavailableError("the host is gone")

    async def scene(site: Site) -> None:
        objects = [spec_object(FAR)]
        _, made = await site.ask("POST", "/jobs", json.dumps({"objects": objects}).encode())
        ref = made["job"]["metadata"]["id"]
        (await site.world.begun(ref)).run("head-0-0")
        await site.world.until(ref, "Running")
        monkeypatch.setattr(site.world.backend, "logs", logs)
        _, listed = await site.ask("GET", "/caches")
        (shown,) = listed["items"]
        assert [shown[name] for name in ("state", "files", "bytes", "rows", "readers")] == [
            *("Ready", 4, 40, 32_000, None),
        ]
        assert shown["address"] == f"cache://10.0.0.7:{FAR.port}"
        said.clear()
        _, listed = await site.ask("GET", "/caches")
        assert (listed["items"][0]["state"], listed["items"][0]["rows"]) == ("Running", None)

    play(tmp_path, scene)


def spec_object(spec: CacheSpec) -> Json:
    (made,) = (each for each in cache_objects(spec, "") if each["kind"] == "JobSet")
    return dict(made)


def job(phase: str = "Running", annotation: Any = None, **status: Any) -> Json:
    written = json.dumps(vars(SPEC)) if annotation is None else annotation
    return {
        "metadata": {"id": "1", "creationTimestamp": "2026-01-01T00:00:00Z"},
        "spec": {
            "backend": "local",
            "objects": [{"metadata": {"annotations": {DATA_CACHE: written}}}],
        },
        "status": {"phase": phase, "message": "", **status},
    }


@dataclass(frozen=True)
class Case:
    id: str
    job: Json
    told: Any
    state: str
    message: str
    rows: int | None = None
    spec: CacheSpec = SPEC


@pytest.mark.parametrize(
    "case",
    [
        Case("silent", job(), None, "Starting", "its head does not answer yet"),
        Case("loads", job(), {"ready": False, "reason": "1 of 2"}, "Loading", "1 of 2"),
        Case("ready", job(), {"ready": True, "rows": 7}, "Ready", "", 7),
        Case("nonsense", job(), {"ready": "yes", "rows": "<b>"}, "Loading", ""),
        Case("elsewhere, silent", job(message="1 of 2"), None, "Running", "1 of 2", spec=FAR),
        Case("elsewhere", job(), {"ready": True, "rows": 7}, "Ready", "", 7, FAR),
        Case("elsewhere, over", job("Succeeded"), None, "Succeeded", "", spec=FAR),
        Case("over", job("Failed", message="no table"), None, "Failed", "no table"),
    ],
    ids=lambda case: case.id,
)
def test_how_a_cache_stands(case: Case) -> None:
    shown = cache_view(case.job, case.spec, case.told)
    assert (shown["state"], shown["message"], shown["rows"]) == (
        case.state, case.message, case.rows)  # fmt: skip


@pytest.mark.parametrize(
    "written",
    [
        *("", "[]", '{"name": 1}', '{"name": 1, "table": 2}', '{"nam": "a"}', 7),
        *('{"name": ' + "[" * 5000, '{"name": "\\ud800", "table": "t"}'),
        *('{"name": "a\\u0000", "table": "t"}', '{"name": "a", "table": "t", "workers": -1}'),
        '{"name": "a", "table": "t", "workers": %s}' % ("9" * 4000),
    ],
    ids=lambda written: str(written)[:40],
)
def test_what_is_no_cache_of_ours_is_left_out(written: Any) -> None:
    assert cache_spec(job(annotation=written)) is None
    assert cache_spec(job()) == SPEC


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (b'HTTP/1.0 200 OK\r\n\r\n{"ready": true}', {"ready": True}),
        (b"HTTP/1.0 200 OK\r\n\r\n" + b"[" * 9000, None),
        (b"HTTP/1.0 200 OK\r\n\r\n" + b"x" * 100_000, None),
        (b"\x16\x03\x01", None),
        (b"", None),
    ],
    ids=["well", "deep", "much", "TLS", "nothing"],
)
def test_whoever_listens_for_a_head_may_say_anything(
    said: bytes, told: Json | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert asked(said, monkeypatch) == told


def test_whoever_sends_a_byte_at_a_time_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data_caches, "_PROBE_S", 0.2)
    assert asked(b"HTTP/1.0 200 OK\r\n", monkeypatch, drips=True) is None


def asked(said: bytes, monkeypatch: pytest.MonkeyPatch, *, drips: bool = False) -> Json | None:
    """What comes of an answer."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(said)
        while drips and not writer.is_closing():
            writer.write(b"X")
            await asyncio.sleep(0.01)
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()
        over.set()

    over = asyncio.Event()

    async def scene() -> Json | None:
        async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            monkeypatch.setattr(CacheSpec, "health_port", port)
            async with asyncio.timeout(10):
                told = await data_caches.figures_of(SPEC)
                await over.wait()
                return told

    return asyncio.run(scene())
