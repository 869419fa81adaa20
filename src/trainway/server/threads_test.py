"""What is known of live jobs is asked in the loop alone, whatever a route does in threads."""

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from trainway.backends.nodes import HasNodes, Node
from trainway.backends.testing import FakeBackend
from trainway.engine.live_jobs import LiveJobs
from trainway.engine.testing import jobset
from trainway.json_types import Json
from trainway.server.testing_site import Site, play


class _Machine(FakeBackend):
    """This machine."""

    async def nodes(self) -> list[Node]:
        cpus, memory = self.total.cpus, self.total.memory
        return [Node("box", "up", "", "", cpus, cpus, memory, memory)]


BACKEND: Json = {"backend": "local"}
CANDIDATE: Json = {"objects": [jobset(requests={"cpu": "1"})], "options": BACKEND}


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/backends/nodes", BACKEND),
        ("/backends/check", BACKEND),
        ("/placements", {"candidates": [CANDIDATE]}),
    ],
)
def test_the_jobs_of_a_backend_are_asked_for_in_the_loop(
    path: str, body: Json, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads = set()
    of_backend = LiveJobs.of_backend

    def asked(self: LiveJobs, name: str) -> Any:
        threads.add(threading.get_ident())
        return of_backend(self, name)

    async def scene(site: Site) -> None:
        machine = _Machine()
        assert isinstance(machine, HasNodes)
        site.world.engine.registry.put(machine)
        monkeypatch.setattr(LiveJobs, "of_backend", asked)
        status, _ = await site.ask("POST", path, json.dumps(body).encode())
        assert status == 200

    play(tmp_path, scene)
    assert threads == {threading.get_ident()}
