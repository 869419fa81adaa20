"""The search by index against a look at every line, on catalogs made at random."""

import tempfile
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from trainway.api.accelerators import Accelerator
from trainway.api.task.amounts import Amount
from trainway.api.task.infra import Infra
from trainway.api.task.local_disk import LocalDisk
from trainway.catalog.csv_format import Row
from trainway.catalog.reservations import Reservation
from trainway.optimizer.request import Block, Request
from trainway.optimizer.rules import Rule, Rules
from trainway.optimizer.search import Search
from trainway.optimizer.testing import Lines, catalog_of, row

CLOUDS = ("aws", "lambda", "azure")
REGIONS = ("us-east-1", "af-south-1", "eu-west-1")
ZONES = ("", "a", "b")
NAMES = ("m6i.large", "m6g.large", "t3.large", "m3.large", "p4d.24xlarge", "g5g.xlarge",
         "Standard_D8_v5", "Standard_D8s_v5")  # fmt: skip
GPUS = (("", 0, 0), ("A100", 1, 40), ("A100", 8, 40), ("T4g", 1, 16), ("H100", 8, 80))
LOCAL_DISKS = (
    None, None, None, None, LocalDisk("ssd"), LocalDisk("nvme"), LocalDisk("", Amount(500)),
    LocalDisk("ssd", Amount(600, at_least=True)),
)  # fmt: skip
price = st.none() | st.integers(1, 6).map(float)


@st.composite
def rows(draw: st.DrawFn) -> Row:
    """A line of a catalog; Google's pairs of hosts and GPUs have their own tests."""
    gpu, count, gib = draw(st.sampled_from(GPUS))
    vcpus = draw(st.sampled_from((0.0, 4.0, 8.0)))
    memory = draw(st.sampled_from((0.0, 16.0, 32.0)))
    name, region = draw(st.sampled_from(NAMES)), draw(st.sampled_from(REGIONS))
    zone = draw(st.sampled_from(ZONES))
    disk = draw(st.sampled_from(((0.0, ""), (500.0, "ssd"), (900.0, "nvme"))))
    return Row(
        *(name, vcpus, memory, gpu, count, gib, region, zone, draw(price), draw(price)),
        *(*disk, draw(st.booleans())),
    )


catalogs = st.fixed_dictionaries({cloud: st.lists(rows(), max_size=8) for cloud in CLOUDS})
maybe_region = st.none() | st.sampled_from(REGIONS)
maybe_zone = st.none() | st.sampled_from(ZONES[1:])
amounts = st.builds(Amount, st.sampled_from((4.0, 8.0, 16.0)), st.booleans())
requests = st.builds(
    Request,
    infra=st.builds(Infra, st.none() | st.sampled_from(CLOUDS), maybe_region, maybe_zone),
    instance_type=st.none() | st.sampled_from(NAMES),
    accelerator=st.none()
    | st.sampled_from([Accelerator(*gpu[:2]) for gpu in GPUS[1:]])
    | st.sampled_from([Accelerator("40GB+", 8), Accelerator("80GB", 8), Accelerator("16GB+", 1)]),
    cpus=st.none() | amounts,
    memory=st.none() | amounts | st.just(Amount(4, per_cpu=True)),
    spot=st.booleans(),
    max_hourly_cost=st.none() | st.integers(1, 6).map(float),
    regions=st.none() | st.frozensets(st.sampled_from(REGIONS), min_size=1),
    nodes=st.integers(1, 3),
    disk_tier=st.sampled_from((None, None, None, "high", "ultra", "best")),
    disk_gb=st.sampled_from((None, None, None, 100.0, 5000.0, 20_000.0)),
    local_disk=st.sampled_from(LOCAL_DISKS),
    fast_network=st.sampled_from((False, False, True)),
    image=st.sampled_from(("", "", "", "ami-1")),
    labels=st.sampled_from(((), (), (("team", "vision"),), (("aws:x", "1"),))),
)
blocks = st.builds(
    Block, st.sampled_from(CLOUDS), maybe_region, maybe_zone,
    st.none() | st.sampled_from(NAMES), st.none() | st.booleans(),
    st.none() | st.sampled_from(("cr-1", "cr-2")),
)  # fmt: skip
reserved = st.builds(
    Reservation, st.sampled_from(("cr-1", "cr-2")), st.sampled_from(CLOUDS),
    st.sampled_from(NAMES), st.sampled_from(REGIONS), st.sampled_from(ZONES), st.integers(0, 3),
)  # fmt: skip
blocked_gpus = st.builds(
    lambda block, gpu: replace(block, accelerator=gpu[0], accelerator_count=gpu[1]),
    blocks,
    st.sampled_from(GPUS[1:]),
)


@given(
    clouds=catalogs,
    request=requests,
    rules=st.builds(Rules, st.frozensets(st.sampled_from(list(Rule)))),
    blocked=st.lists(blocks | blocked_gpus, max_size=3),
    paid=st.lists(reserved, max_size=2),
)
def test_no_line_that_fits_is_cheaper(
    clouds: dict[str, list[Row]],
    request: Request,
    rules: Rules,
    blocked: list[Block],
    paid: list[Reservation],
) -> None:
    lines = Lines(clouds)
    expected = lines.lowest(request, blocked, rules)
    with tempfile.TemporaryDirectory() as folder:
        catalog = catalog_of(Path(folder), clouds)
        search = Search(catalog, rules, blocked, paid)
        found = search.regions(request)
        assert min((each.hourly for each in found), default=None) == expected
        assert bool(search.machines(request)) == bool(found)
        lowest = search.lowest(request)
        if lowest is not None:
            at_least, count = lowest
            assert {each.hourly for each in at_least} <= {expected}
            assert bool(at_least) == bool(found)
            assert count == sum(each.offers for each in found)
        for each in found:
            offer = search.best(each)
            assert offer.hourly(spot=request.spot) == each.hourly
            assert (offer.machine.cloud, offer.region) == each.place
        free = search.reserved(request)
        assert bool(free) == (lines.lowest(request, blocked, rules, paid) == 0)
        for each in free:
            assert each.reservation is not None
            assert search.best(each).machine.name == each.reservation.instance_type
        catalog.close()


def test_offers_that_are_too_dear_do_not_count(tmp_path: Path) -> None:
    prices = {"us-east-1a": 1.0, "us-east-1b": 2.0, "us-east-1c": 3.0}
    rows = [row("m5.large", price, zone=zone) for zone, price in prices.items()]
    with closing(catalog_of(tmp_path, {"aws": rows})) as catalog:
        request = Request(instance_type="m5.large", max_hourly_cost=2)
        assert [each.offers for each in Search(catalog).regions(request)] == [2]
        assert Search(catalog).lowest(request) is None


def test_local_zones_come_last(tmp_path: Path) -> None:
    rows = [row("m5.large", 1, zone=zone) for zone in ("use1-atl2-az1", "use1-az4", "use1-az2")]
    with closing(catalog_of(tmp_path, {"aws": rows})) as catalog:
        (found,) = Search(catalog).regions(Request(instance_type="m5.large"))
        assert Search(catalog).best(found).zone == "use1-az2"


def test_a_zone_is_found_where_the_list_has_only_regions(tmp_path: Path) -> None:
    rows = [row("m5.large", 1, region=region) for region in ("us-east-1", "us-west-2")]
    request = Request(Infra("aws", None, "us-east-1a"), instance_type="m5.large")
    with closing(catalog_of(tmp_path, {"aws": rows})) as catalog:
        (found,) = Search(catalog).regions(request)
        offer = Search(catalog).best(found)
        assert (offer.region, offer.zone) == ("us-east-1", "us-east-1a")
        without = Search(catalog, blocks=[Block("aws", "us-east-1", "us-east-1a")])
        assert without.regions(request) == [], "it is not tried for ever"


def test_a_zone_of_azure_is_a_number(tmp_path: Path) -> None:
    lists = {cloud: [row("m", 1, region="eastus")] for cloud in ("azure", "aws")}
    blocks = [Block("azure", "eastus", "2")]
    with closing(catalog_of(tmp_path, lists)) as catalog:
        for zone in ("2", "eastus-2"):
            request = Request(Infra("azure", "eastus", zone), instance_type="m")
            (found,) = Search(catalog).regions(request)
            assert Search(catalog).best(found).zone == zone
        numbered = replace(request, infra=Infra("azure", "eastus", "2"))
        assert Search(catalog, blocks=blocks).regions(numbered) == []
        assert Search(catalog).regions(replace(request, infra=Infra("aws", "eastus", "2"))) == []
