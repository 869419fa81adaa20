"""The routes of clouds, with a stand-in for one of them."""

import json
from pathlib import Path

import pytest

from trainway.api.accelerators import Accelerator
from trainway.engine.rental.errors import NoOfferError
from trainway.engine.rental.server_id import server_id
from trainway.engine.rental.terms import Terms
from trainway.optimizer.request import Request, TaskRequest
from trainway.providers import registry
from trainway.providers.base import GangRequest, Place
from trainway.providers.testing import FILE_VARIABLE, Break, Fault, StandInCloud
from trainway.server.testing_site import Site, play


@pytest.fixture
def cloud(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StandInCloud:
    """The only cloud for which there is a provider; another one has none that can be loaded."""
    stand_in = f"{StandInCloud.__module__}:{StandInCloud.__name__}"
    known = {"aws": stand_in, "gcp": "no_such_cloud_package.provider:Provider"}
    monkeypatch.setattr(registry, "BUILTIN", known)
    monkeypatch.setenv(FILE_VARIABLE, str(tmp_path / "cloud.json"))
    return StandInCloud()


def test_clouds_tell_who_we_are_or_what_is_missing(tmp_path: Path, cloud: StandInCloud) -> None:
    async def scene(site: Site) -> None:
        status, answer = await site.ask("GET", "/clouds")
        aws, gcp = answer["items"]
        assert (status, aws["usable"], aws["account"]) == (200, True, "stand-in-account")
        assert aws["regions"] == ["east", "west"]
        assert aws["missing"] == {"reservations": "a stand-in cloud has none"}
        assert (gcp["usable"], gcp["hint"]) == (False, "pip install 'trainway[gcp]'")
        cloud.break_next(Fault("check", Break.CREDENTIALS))
        _, answer = await site.ask("GET", "/clouds")
        assert answer["items"][0]["problem"] == "stand-in: the key has expired"

    play(tmp_path, scene)


def test_what_is_rented_and_what_was_refused_are_told_without_asking_a_cloud(
    tmp_path: Path, cloud: StandInCloud
) -> None:
    async def scene(site: Site) -> None:
        _, nothing = await site.ask("GET", "/clouds/rented")
        assert nothing == {"items": [], "refusals": []}
        cloud.break_next(Fault("create", Break.CAPACITY))
        rentals = site.world.engine.rental_office.rentals
        wanted = TaskRequest("t", (Request(accelerator=Accelerator("A100", 8), nodes=2),))
        with pytest.raises(NoOfferError):
            await rentals.rent("dev", wanted, Terms(public_key="k"))
        rental = await rentals.rent("dev", wanted, Terms(public_key="k"))
        calls = len(cloud.calls())
        _, answer = await site.ask("GET", "/clouds/rented")
        (item,) = answer["items"]
        assert (item["cluster"], item["nodes"], item["state"]) == ("dev", 2, "RUNNING")
        assert (item["cloud"], item["hourlyPrice"]) == ("aws", float(rental.price))
        refused = answer["refusals"]
        assert sorted(each["cloud"] for each in refused) == ["aws", "gcp"]
        assert any("no room" in each["error"] for each in refused)
        assert len(cloud.calls()) == calls
        await rentals.stop("dev")
        _, answer = await site.ask("GET", "/clouds/rented")
        assert answer["items"][0]["hourlyPrice"] == 0
        await rentals.end("dev")
        _, answer = await site.ask("GET", "/clouds/rented")
        assert answer["items"] == []
        assert answer["refusals"] == refused

    play(tmp_path, scene)


def test_a_sweep_lists_first_and_ends_when_it_is_asked_to(
    tmp_path: Path, cloud: StandInCloud
) -> None:
    async def scene(site: Site) -> None:
        owner = server_id(site.world.engine.registry.home)
        request = GangRequest("t", owner, "old", Place("west"), "p5", 1, "k")
        (orphan,) = cloud.create(request)
        _, answer = await site.ask("POST", "/clouds/sweep", b"{}")
        (found,) = answer["machines"]
        assert (found["id"], found["ended"], found["instanceType"]) == (orphan.id, False, "p5")
        assert cloud.machines()
        _, answer = await site.ask("POST", "/clouds/sweep", json.dumps({"dryRun": False}).encode())
        assert answer["machines"][0]["ended"]
        assert not cloud.machines()
        status, _ = await site.ask("POST", "/clouds/sweep", b'{"dryrun": false}')
        assert status == 422

    play(tmp_path, scene)
