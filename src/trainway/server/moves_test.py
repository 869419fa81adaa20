"""Jobs that move, over HTTP."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from trainway.backends.base import Backend
from trainway.engine.moving.testing import THERE, FakePlace, Places
from trainway.engine.testing import jobset
from trainway.json_types import Json
from trainway.server.testing_site import Site, play


async def _ask(site: Site, path: str, body: Json) -> tuple[int, Json]:
    return await site.ask("POST", path, json.dumps(body).encode())


def test_a_job_that_waits_is_told_to_move(tmp_path: Path) -> None:
    async def scene(site: Site) -> None:
        there = FakePlace(THERE, Places())
        site.world.engine.registry.put(there)
        await _ask(site, "/jobs", {"objects": [jobset("first", requests={"cpu": "4"})]})
        await _ask(site, "/jobs", {"objects": [jobset("demo", requests={"cpu": "4"})]})
        status, answer = await _ask(site, "/jobs/demo/move", {"on": THERE})
        assert (status, answer["status"]["move"]["to"]) == (200, THERE)
        shown = await site.world.until("demo", lambda job: job["spec"]["backend"] == THERE)
        assert shown["metadata"]["id"] == answer["metadata"]["id"]

    play(tmp_path, scene)


def test_the_place_is_asked_with_the_kubeconfig_of_the_submitter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scene(site: Site) -> None:
        there, registry = FakePlace(THERE, Places()), site.world.engine.registry
        registry.put(there)
        get, files = registry.get, []

        def asked(name: str, kubeconfig: Sequence[str] = ()) -> Backend:
            if name == THERE:
                files.append(tuple(kubeconfig))
            return get(name, kubeconfig)

        await _ask(site, "/jobs", {"objects": [jobset("first", requests={"cpu": "4"})]})
        await _ask(site, "/jobs", {"objects": [jobset("demo", requests={"cpu": "4"})]})
        monkeypatch.setattr(registry, "get", asked)
        body = {"on": THERE, "kubeconfig": ["/home/a/config"]}
        status, _ = await _ask(site, "/jobs/demo/move", body)
        assert (status, files[0]) == (200, ("/home/a/config",))

    play(tmp_path, scene)


def test_what_cannot_be_is_refused_in_words(tmp_path: Path) -> None:
    async def scene(site: Site) -> None:
        await _ask(site, "/jobs", {"objects": [jobset("demo")]})
        for on, code, words in [
            ("local", 409, "demo is at local already"),
            ("local/", 409, "demo is at local already"),
            ("nowhere", 409, "nowhere does not take demo: there is no backend 'nowhere'"),
            ("", 422, ""),
        ]:
            status, answer = await _ask(site, "/jobs/demo/move", {"on": on})
            assert (status, words in answer["error"]["message"]) == (code, True), answer
        status, _ = await _ask(site, "/jobs/nobody/move", {"on": "local"})
        assert status == 404

    play(tmp_path, scene)


def test_other_places_say_what_they_offer_and_whether_it_can_move(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scene(site: Site) -> None:
        there, pool = FakePlace(THERE, Places()), FakePlace("ssh/other", Places())
        registry = site.world.engine.registry
        registry.put(there)
        registry.put(pool)
        places = ["local", THERE, "ssh/other"]  # none is configured
        monkeypatch.setattr(registry, "infras", lambda kubeconfig=(): places)
        options = {"backend": THERE}
        await _ask(site, "/jobs", {"objects": [jobset("demo")], "options": options})
        await _ask(site, "/jobs", {"objects": [jobset("here")]})
        status, answer = await _ask(site, "/jobs/demo/placement", {})
        found = {offer["place"]: offer for offer in answer["offers"]}
        assert (status, sorted(found)) == (200, ["local", "ssh/other"])
        assert (found["local"]["fit"], found["ssh/other"]["obstacle"]) == ("now", "")
        _, answer = await _ask(site, "/jobs/here/placement", {})
        assert all("its files are at local" in each["obstacle"] for each in answer["offers"])
        await _ask(site, "/jobs/demo/move", {"on": "ssh/other"})
        _, answer = await _ask(site, "/jobs/demo/placement", {})
        assert "is already on its way" in answer["offers"][0]["obstacle"]
        assert (await _ask(site, "/jobs/nobody/placement", {}))[0] == 404

    play(tmp_path, scene)


def test_the_trials_of_a_search_have_no_candidates(tmp_path: Path) -> None:
    async def scene(site: Site) -> None:
        other = {"backend": THERE, "objects": [jobset("demo")]}
        options = {"candidates": [other], "max_wait": 5, "search": {}}
        status, answer = await _ask(
            site, "/jobs", {"objects": [jobset("demo")], "options": options}
        )
        assert (status, answer["error"]["field"]) == (400, "options.candidates")
        options = {"candidates": [other], "max_wait": 5}
        status, answer = await _ask(
            site, "/jobs", {"objects": [jobset("demo")], "options": options}
        )
        assert status == 201
        assert answer["job"]["status"]["candidates"]["places"] == [THERE]

    play(tmp_path, scene)


def test_a_time_without_a_date_at_its_end_is_refused(tmp_path: Path) -> None:
    async def scene(site: Site) -> None:
        for name in ("max_wait", "work"):
            for seconds in (1e12, 1e300):
                body = {"objects": [jobset("demo")], "options": {name: seconds}}
                status, answer = await _ask(site, "/jobs", body)
                assert (status, answer["error"]["field"]) == (422, f"options.{name}")

    play(tmp_path, scene)


def test_a_strategy_is_one_of_three(tmp_path: Path) -> None:
    async def scene(site: Site) -> None:
        other = {"backend": THERE, "objects": [jobset("demo")]}
        options = {"candidates": [other], "recovery_strategy": "failover"}
        body = {"objects": [jobset("demo")], "options": options}
        status, answer = await _ask(site, "/jobs", body)
        assert status == 201
        recovery = answer["job"]["status"]["recovery"]
        assert recovery == {"strategy": "failover", "places": ["local", THERE], "avoided": []}
        status, answer = await _ask(
            site, "/jobs", {**body, "options": {"recovery_strategy": "retry"}}
        )
        assert (status, answer["error"]["field"]) == (422, "options.recovery_strategy")

    play(tmp_path, scene)


def test_places_are_called_as_their_backends_are(tmp_path: Path) -> None:
    async def scene(site: Site) -> None:
        site.world.engine.registry.put(FakePlace(THERE, Places()))
        other = {"backend": "//local/", "objects": [jobset("demo")]}
        due: Json = {"deadline": "2050-01-01T00:00:00Z", "work": 5, "sure": "local/"}
        options = {"backend": f"{THERE}/", "candidates": [other], **due}
        status, answer = await _ask(
            site, "/jobs", {"objects": [jobset("demo")], "options": options}
        )
        assert status == 201, answer
        shown = answer["job"]
        assert (shown["spec"]["backend"], shown["status"]["recovery"]["places"]) == (
            THERE, [THERE, "local"],
        )  # fmt: skip

    play(tmp_path, scene)
