"""Worker pools, over HTTP: what is refused, and how."""

import json
from pathlib import Path
from typing import Any

from trainway.server.testing_site import Site, play


def _body(**more: Any) -> bytes:
    task = {
        "apiVersion": "trainway.dev/v1alpha1",
        "kind": "Task",
        "metadata": {"name": "p"},
        "spec": {"tasks": [{"task": {"setup": "true"}, "secrets": []}]},
    }
    return json.dumps({"name": "p", "workers": {"workers": 1}, "objects": [task], **more}).encode()


def test_what_is_wrong_is_told_and_nothing_is_stored(tmp_path: Path) -> None:
    async def scene(site: Site) -> None:
        for body, said in (
            (_body(workers={"workers": 0}), "needs at least one worker"),
            (_body(workers={"min_workers": 2}), "max_workers"),
            (_body(workers={"what": 2}), "pool.what"),
            (_body(name="-"), "name"),
            (_body(name="p" * 60), "50 characters"),
            (_body(objects=[]), "made from a task"),
            (_body(objects=[{"apiVersion": "v1", "kind": "Secret"}]), "made from a task"),
        ):
            status, refused = await site.ask("POST", "/worker-pools", body)
            assert status in (400, 422), refused
            assert said in json.dumps(refused)
        assert (await site.ask("GET", "/worker-pools"))[1] == {"items": []}

    play(tmp_path, scene)


def test_a_pool_that_is_not_there(tmp_path: Path) -> None:
    async def scene(site: Site) -> None:
        for method, path, body in (
            ("GET", "/worker-pools/p", b""),
            ("DELETE", "/worker-pools/p", b""),
            ("POST", "/worker-pools/p/workers", b'{"workers": 2}'),
        ):
            status, refused = await site.ask(method, path, body)
            assert status == 404, refused
            assert "there is no worker pool 'p'" in refused["error"]["message"]

    play(tmp_path, scene)
