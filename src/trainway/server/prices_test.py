"""The catalog, over HTTP."""

from pathlib import Path

import pytest

from trainway.server.testing_site import Site, play

HEADER = (
    "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Price,SpotPrice,Region,"
    "AvailabilityZone\n"
)
ROWS = (
    "p4d.24xlarge,A100,8,96,1152,20,8,us-east-1,use1-az1\n"
    "p4d.24xlarge,A100,8,96,1152,21,5,us-west-2,usw2-az1\n"
    "m6i.2xlarge,,,8,32,0.4,,us-east-1,use1-az1\n"
)


def test_accelerators_and_their_offers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "clouds").mkdir()
    (tmp_path / "clouds/aws.csv").write_text(HEADER + ROWS)
    monkeypatch.setenv("TRAINWAY_CATALOG", str(tmp_path / "clouds"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    async def scene(site: Site) -> None:
        _, listed = await site.ask("GET", "/prices")
        assert listed["items"] == [{"name": "A100", "counts": [8.0]}]
        _, best = await site.ask("GET", "/prices/A100?count=8")
        assert [(each["price"], each["spotPrice"]) for each in best["items"]] == [(20.0, 8.0)]
        assert (best["items"][0]["instanceType"], best["items"][0]["memoryGib"]) == (
            "p4d.24xlarge",
            1152.0,
        )
        _, every = await site.ask("GET", "/prices/a100?all_regions=true")
        assert every["total"] == 2
        _, none = await site.ask("GET", "/prices/%3Cb%3E?cloud=gcp")
        assert none == {"items": [], "total": 0}
        assert (await site.ask("GET", "/prices/A100?count=-1"))[0] in (400, 422)

    play(tmp_path, scene)
