"""The nodes of backends, over HTTP."""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from trainway.backends.nodes import Drain, Gpu, HasNodes, Node
from trainway.backends.testing import FakeBackend
from trainway.engine.occupancy import Occupant
from trainway.engine.phases import Phase
from trainway.engine.record import JobRecord, JobSpec
from trainway.engine.times import time_text
from trainway.errors import UnavailableError
from trainway.jobset.quantity import Quantity
from trainway.json_types import Json
from trainway.server.routes import infra
from trainway.server.testing_site import Site, play

Q = Quantity.parse
HOSTILE = "<script>alert(1)</script>"


class _Pool(FakeBackend):
    """A backend with nodes, which queues by itself."""

    name = "ssh/lab"
    schedules = True
    found: Sequence[Node] = ()
    fault: Exception | None = None

    async def nodes(self) -> list[Node]:
        if self.fault is not None:
            raise self.fault
        return list(self.found)


class _Hosts(_Pool):
    """One whose nodes can be set aside."""

    has_own_nodes = True

    async def drain(self, node: str, drain: Drain) -> None:
        aside = Node(node, "up", drain.why, drained=drain.why, drained_by=drain.by)
        self.found = [replace(aside, drained_until=drain.until)]

    async def undrain(self, node: str) -> None:
        self.found = [Node(node, "up", "")]


class _Machine(FakeBackend):
    """This machine."""

    async def nodes(self) -> list[Node]:
        cpus, memory = self.total.cpus, self.total.memory
        gpus = tuple(Gpu(name) for name in self.total.gpus)
        return [Node("box", "up", "", "", cpus, cpus, memory, memory, len(gpus), len(gpus), gpus)]


async def _nodes(site: Site, backend: str) -> tuple[int, Any]:
    return await site.ask("POST", "/backends/nodes", json.dumps({"backend": backend}).encode())


def _running(backend: str, host: str, **more: Any) -> JobRecord:
    node: Json = {"role": "node", "job": 0, "rank": 0, "phase": "Running", "host": host}
    observed = json.dumps({"nodes": {"node-0-0": node}})
    return JobRecord(
        id="0" * 12, name=HOSTILE, namespace="d", kind="JobSet", backend=backend,
        phase=Phase.RUNNING, observed=observed, **more,
    )  # fmt: skip


def test_nodes_are_told_with_the_jobs_on_them(tmp_path: Path) -> None:
    async def scene(site: Site) -> None:
        pool = _Pool()
        assert isinstance(pool, HasNodes)
        pool.found = [
            Node("a1", "up", "", "", Q("7500m"), Q(2), Q("16Gi"), Q("4Gi"), 2, 1),
            Node("a2", "lost", HOSTILE),
        ]
        site.world.engine.registry.put(pool)
        record = _running("ssh/lab", "a1")
        site.world.store.add_all([(record, JobSpec([], {}, {}, []), [])], None)
        status, answer = await _nodes(site, "ssh/lab")
        assert (status, answer["tells"], answer["problem"], answer["total"]) == (200, True, "", 2)
        first, second = answer["nodes"]
        assert (first["cpus"], first["freeCpus"], first["memory"]) == (7.5, 2, 16 * 2**30)
        assert (first["gpus"], first["freeGpus"], first["devices"]) == (2, 1, [])
        on_it = {"id": record.id, "name": HOSTILE, "pods": 1, "utilization": None}
        assert first["jobs"] == [on_it]
        assert (second["state"], second["problem"], second["jobs"]) == ("lost", HOSTILE, [])

    play(tmp_path, scene)


def test_what_our_jobs_hold_of_this_machine_is_not_free(tmp_path: Path) -> None:
    async def scene(site: Site) -> None:
        site.world.engine.registry.put(_Machine(cpus="4", gpus=2))
        _, answer = await _nodes(site, "local")
        (node,) = answer["nodes"]
        assert (node["name"], node["cpus"], node["freeCpus"]) == ("box", 4, 4)
        assert [(gpu["name"], gpu["held"]) for gpu in node["devices"]] == [
            ("0", False),
            ("1", False),
        ]
        free = infra.less_held((await _Machine(gpus=2).nodes())[0], FakeBackend(gpus=1).total)
        assert [gpu.is_held for gpu in free.devices] == [False, True]

    play(tmp_path, scene)


def test_it_is_told_where_nodes_can_be_set_aside(tmp_path: Path) -> None:
    async def scene(site: Site) -> None:
        for pool, drains in ((_Pool(), False), (_Hosts(), True)):
            pool.found = [Node("a1", "up", "")]
            site.world.engine.registry.put(pool)
            _, answer = await _nodes(site, "ssh/lab")
            assert answer["drains"] is drains
        node = {"backend": "ssh/lab", "node": "a1"}
        body = json.dumps({**node, "why": "a loud fan", "by": "ana", "seconds": 60}).encode()
        code, done = await site.ask("POST", "/backends/nodes/drain", body)
        _, answer = await _nodes(site, "ssh/lab")
        found = answer["nodes"][0]
        assert (code, found["drained"], found["drainedBy"]) == (200, "a loud fan", "ana")
        assert found["drainedUntil"] == done["drainedUntil"]
        assert found["drainedUntil"] > time_text(datetime.now(UTC))
        for seconds in (0, -1, 1e12):
            body = json.dumps({**node, "seconds": seconds}).encode()
            assert (await site.ask("POST", "/backends/nodes/drain", body))[0] == 422

    play(tmp_path, scene)


def test_a_backend_that_does_not_answer_says_so(tmp_path: Path) -> None:
    async def scene(site: Site) -> None:
        pool = _Pool()
        site.world.engine.registry.put(pool)
        pool.fault = UnavailableError("the login is refused", hint="add a key")
        _, answer = await _nodes(site, "ssh/lab")
        assert (answer["nodes"], answer["problem"]) == ([], "the login is refused")
        assert answer["hint"] == "add a key"
        pool.fault = TimeoutError()
        _, answer = await _nodes(site, "ssh/lab")
        assert answer["problem"] == "ssh/lab does not answer"

    play(tmp_path, scene)


def test_wrong_questions_are_refused(tmp_path: Path) -> None:
    async def scene(site: Site) -> None:
        assert (await _nodes(site, "nowhere"))[0] == 404
        assert (await _nodes(site, "x" * 254))[0] == 422
        status, answer = await _nodes(site, "local")
        assert (status, answer["tells"], answer["nodes"]) == (200, False, [])
        assert answer["drains"] is False

    play(tmp_path, scene)


def test_gpus_that_only_their_job_knows_are_shown() -> None:
    job = Occupant("j", "job", 1, {"1": {"utilization": 87.0, "memory": 1024.0}})
    node = Node("a1", "up", gpus=2, free_gpus=1)
    first, second = infra.devices(node, [job])
    assert (first["held"], first["utilization"], first["job"]) == (None, None, "")
    assert (second["held"], second["utilization"], second["memory"]) == (True, 87.0, 1024)
    elsewhere = Occupant("j", "job", 1, {"7": {"utilization": 87.0}})
    assert infra.devices(node, [elsewhere]) == []
