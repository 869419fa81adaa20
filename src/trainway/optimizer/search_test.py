"""The search by index against a look at every line, on catalogs made at random."""

import tempfile
from contextlib import closing
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from trainway.api.accelerators import Accelerator
from trainway.api.task.amounts import Amount
from trainway.api.task.infra import Infra
from trainway.catalog.csv_format import Row
from trainway.optimizer.request import Block, Request
from trainway.optimizer.rules import Rule, Rules
from trainway.optimizer.search import Search
from trainway.optimizer.testing import Lines, catalog_of, row

CLOUDS = ("aws", "lambda", "oci")
REGIONS = ("us-east-1", "af-south-1", "eu-west-1")
ZONES = ("", "a", "b")
NAMES = ("m6i.large", "m6g.large", "t3.large", "m3.large", "p4d.24xlarge", "g5g.xlarge")
GPUS = (("", 0, 0), ("A100", 1, 40), ("A100", 8, 40), ("T4g", 1, 16), ("H100", 8, 80))
price = st.none() | st.integers(1, 6).map(float)


@st.composite
def rows(draw: st.DrawFn) -> Row:
    """A line of a catalog; Google's pairs of hosts and GPUs have their own tests."""
    gpu, count, gib = draw(st.sampled_from(GPUS))
    vcpus = draw(st.sampled_from((0.0, 4.0, 8.0)))
    memory = draw(st.sampled_from((0.0, 16.0, 32.0)))
    name, region = draw(st.sampled_from(NAMES)), draw(st.sampled_from(REGIONS))
    zone = draw(st.sampled_from(ZONES))
    return Row(name, vcpus, memory, gpu, count, gib, region, zone, draw(price), draw(price))


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
)
blocks = st.builds(
    Block, st.sampled_from(CLOUDS), maybe_region, maybe_zone,
    st.none() | st.sampled_from(NAMES), st.none() | st.booleans(),
)  # fmt: skip


@given(
    clouds=catalogs,
    request=requests,
    rules=st.builds(Rules, st.frozensets(st.sampled_from(list(Rule)))),
    blocked=st.lists(blocks, max_size=3),
)
def test_no_line_that_fits_is_cheaper(
    clouds: dict[str, list[Row]], request: Request, rules: Rules, blocked: list[Block]
) -> None:
    expected = Lines(clouds).lowest(request, blocked, rules)
    with tempfile.TemporaryDirectory() as folder:
        catalog = catalog_of(Path(folder), clouds)
        search = Search(catalog, rules, blocked)
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
        catalog.close()


def test_a_zone_is_found_where_the_list_has_only_regions(tmp_path: Path) -> None:
    rows = [row("m5.large", 1, region=region) for region in ("us-east-1", "us-west-2")]
    request = Request(Infra("aws", None, "us-east-1a"), instance_type="m5.large")
    with closing(catalog_of(tmp_path, {"aws": rows})) as catalog:
        (found,) = Search(catalog).regions(request)
        offer = Search(catalog).best(found)
        assert (offer.region, offer.zone) == ("us-east-1", "us-east-1a")
        without = Search(catalog, blocks=[Block("aws", "us-east-1", "us-east-1a")])
        assert without.regions(request) == [], "it is not tried for ever"
