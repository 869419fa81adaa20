"""Where a job could run, over HTTP."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from trainway.backends.nodes import Node
from trainway.backends.testing import FakeBackend
from trainway.engine.run.pipeline_testing import pipeline
from trainway.engine.testing import jobset
from trainway.errors import UnavailableError
from trainway.jobset.quantity import Quantity
from trainway.json_types import Json
from trainway.server.testing_site import Site, play

Q = Quantity.parse


class _Pool(FakeBackend):
    """Hosts with a queue of their own."""

    schedules = True

    def __init__(self, name: str, *found: Node) -> None:
        super().__init__()
        self.name = name
        self.found = found
        self.fault: Exception | None = None

    async def nodes(self) -> list[Node]:
        if self.fault is not None:
            raise self.fault
        return list(self.found)


def _node(cpus: int, free: int) -> Node:
    return Node("n", "up", "", "", Q(cpus), Q(free), Q("8Gi"), Q("8Gi"))


async def _placement(site: Site, places: Sequence[str], cpus: str, **more: Any) -> tuple[int, Json]:
    objects = [jobset(requests={"cpu": cpus})]
    candidates = [{"objects": objects, "options": {"backend": place}} for place in places]
    body = json.dumps({"candidates": candidates, **more}).encode()
    return await site.ask("POST", "/placements", body)


def _told(answer: Json) -> dict[str, str]:
    return {offer["place"]: offer["fit"] for offer in answer["offers"]}


def test_places_are_asked_and_one_is_chosen(tmp_path: Path) -> None:
    async def scene(site: Site) -> None:
        registry = site.world.engine.registry
        registry.put(_Pool("ssh/busy", _node(16, 1)))
        registry.put(_Pool("ssh/free", _node(16, 16)))
        registry.put(_Pool("ssh/small", _node(2, 2)))
        status, answer = await _placement(site, ["local", "ssh/small", "ssh/busy", "ssh/free"], "8")
        assert (status, answer["chosen"]) == (200, "ssh/free")
        assert _told(answer) == {
            "ssh/free": "now", "ssh/busy": "later", "local": "never", "ssh/small": "never",
        }  # fmt: skip
        assert answer["offers"][2]["reason"] == "it needs 8 CPUs, and there are 4"
        assert not registry.get("local").ports  # type: ignore[attr-defined] # none is kept

    play(tmp_path, scene)


def test_prices_of_the_settings_decide_where_cost_counts(tmp_path: Path) -> None:
    async def scene(site: Site) -> None:
        for name in ("ssh/dear", "slurm/cheap"):
            site.world.engine.registry.put(_Pool(name, _node(16, 16)))
        (tmp_path / "config.yaml").write_text("prices: {ssh/dear: 2, slurm: 0.5}\n")
        places = ["ssh/dear", "slurm/cheap"]
        _, answer = await _placement(site, places, "1", prefer="cost")
        assert (answer["chosen"], answer["offers"][0]["price"]) == ("slurm/cheap", 0.5)
        _, answer = await _placement(site, places, "1", prefer="order")
        assert answer["chosen"] == "ssh/dear"

    play(tmp_path, scene)


def test_jobs_that_wait_already_are_ahead(tmp_path: Path) -> None:
    async def scene(site: Site) -> None:
        await site.world.submit("runs", requests={"cpu": "3"})
        await site.world.until("runs", "Starting")
        await site.world.submit("large", requests={"cpu": "4"})
        await site.world.until("large", "Queued")
        _, answer = await _placement(site, ["local"], "1")
        (offer,) = answer["offers"]
        assert (offer["fit"], offer["ahead"]) == ("later", 1)
        assert offer["reason"] == "1 job waits there before it"
        _, answer = await _placement(site, ["local"], "2")
        assert answer["offers"][0]["reason"] == "it needs 2 CPUs, and there is 1 free now"

    play(tmp_path, scene)


def test_a_place_that_does_not_answer_or_is_unknown_holds_up_no_other(tmp_path: Path) -> None:
    async def scene(site: Site) -> None:
        mute, away = _Pool("ssh/mute"), _Pool("ssh/away")
        mute.fault = UnavailableError("the login is refused")
        away.unreachable = "no route to host"
        for pool in (mute, away):
            site.world.engine.registry.put(pool)
        _, answer = await _placement(site, ["moon", "ssh/away", "ssh/mute", "local"], "1")
        assert answer["chosen"] == "local"
        reasons = {offer["place"]: offer["reason"] for offer in answer["offers"]}
        assert reasons["ssh/mute"] == "its nodes cannot be listed: the login is refused"
        assert reasons["ssh/away"] == "no route to host"
        assert reasons["moon"] == "there is no backend 'moon'"
        assert _told(answer)["ssh/mute"] == "unknown"

    play(tmp_path, scene)


def test_wrong_questions_are_refused(tmp_path: Path) -> None:
    async def scene(site: Site) -> None:
        assert (await _placement(site, [], "1"))[0] == 422
        assert (await _placement(site, ["local"], "1", prefer="luck"))[0] == 422
        assert (await _placement(site, ["local"] * 101, "1"))[0] == 422
        status, answer = await site.ask("POST", "/places", b"{}")
        assert (status, "local" in answer["items"]) == (200, True)

    play(tmp_path, scene)


PIPELINE = """\
name: p
---
{name: one, run: 'true'}
---
{name: two, run: "ls ${tasks.one.output}"}
---
{name: three, run: 'true'}
"""


def test_places_are_asked_for_one_task_of_a_pipeline(tmp_path: Path) -> None:
    async def scene(site: Site) -> None:
        for name in ("k8s/a", "ssh/free"):
            site.world.engine.registry.put(_Pool(name, _node(16, 16)))
        objects = list(pipeline(PIPELINE).objects)

        async def ask(task: str, *, is_pipeline: bool = True) -> tuple[int, Json]:
            candidates = [
                {"objects": objects, "options": {"backend": place, "pipeline": is_pipeline}}
                for place in ("k8s/a", "ssh/free", "local")
            ]
            body = json.dumps({"candidates": candidates, "task": task}).encode()
            return await site.ask("POST", "/placements", body)

        for task, chosen, why in (
            ("one", "ssh/free", "what a task writes on k8s/a is deleted with its pods"),
            ("two", "ssh/free", "jobs on k8s/a do not see the files of other jobs"),
            ("three", "k8s/a", "all of it fits on 1 node now"),
        ):
            status, answer = await ask(task)
            assert (status, answer["chosen"]) == (200, chosen), task
            (said,) = (each["reason"] for each in answer["offers"] if each["place"] == "k8s/a")
            assert said == why
        for asked in (await ask("four"), await ask("one", is_pipeline=False)):
            assert (asked[0], asked[1]["error"]["field"]) == (400, "task")

    play(tmp_path, scene)
