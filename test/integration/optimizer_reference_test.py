"""SkyPilot's own choices on the public catalog: ours cost as much, or less by a rule that is named.

The catalog is no part of the repository; the tests run where it is in `shared/data` beside it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from trainway.api.task.infra import Infra
from trainway.api.task.resources import read
from trainway.catalog.sources import VARIABLE, open_catalog
from trainway.json_types import Json
from trainway.optimizer.plan import plan
from trainway.optimizer.request import TaskRequest, request
from trainway.optimizer.search import Search

REPOSITORY = Path(__file__).resolve().parents[2]
FOLDER = REPOSITORY.parent / "shared" / "data" / "catalog"
EXAMPLE_FILES = REPOSITORY / "examples" / "clouds"
THREE = ("aws", "gcp", "azure")
SEVEN = (*THREE, "lambda", "runpod", "oci", "nebius")


@dataclass(frozen=True)
class Case:
    name: str
    resources: Json
    three: float
    """What SkyPilot pays with three clouds, in dollars."""
    seven: float
    cheaper: str = ""
    """Why ours may cost less; empty: it is the plain minimum, which both find."""


HOST = "any N1 host will do beside a T4, not only one with 4 CPUs and 16 GiB"
FAMILIES = "every family of machines is considered, with as little memory as was asked for"
TYPE = "the type of a spot request is chosen by its spot price"
CASES = [
    Case("A100:8", {"accelerators": "A100:8"}, 21.9576, 15.92),
    Case("H100:8", {"accelerators": "H100:8"}, 55.04, 23.12),
    Case("H200:8", {"accelerators": "H200:8"}, 63.296, 36.0),
    Case("A100-80GB:8", {"accelerators": "A100-80GB:8"}, 27.4471, 11.12),
    Case("T4", {"accelerators": "T4"}, 0.526, 0.526, HOST),
    Case("A10G:4", {"accelerators": "A10G:4"}, 5.672, 5.672),
    Case("V100 spot", {"accelerators": "V100", "use_spot": True}, 0.3366, 0.3366),
    Case("L4 spot", {"accelerators": "L4", "use_spot": True}, 0.2383, 0.2383, TYPE),
    Case("cpus 4+", {"cpus": "4+"}, 0.1814, 0.074, FAMILIES),
    Case("cpus 8 memory 32", {"cpus": 8, "memory": 32}, 0.3628, 0.148, FAMILIES),
    Case(
        "cpus 16+ memory 64+ spot",
        {"cpus": "16+", "memory": "64+", "use_spot": True},
        *(0.0845, 0.0845, FAMILIES),
    ),
]


@pytest.fixture(scope="module")
def search(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Search]:
    if not FOLDER.is_dir():
        pytest.skip(f"there is no catalog in {FOLDER}")
    cache = tmp_path_factory.mktemp("cache")
    catalog = open_catalog(cache, cache, {VARIABLE: str(FOLDER)})
    yield Search(catalog)
    catalog.close()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_it_costs_what_skypilot_pays_or_less(search: Search, case: Case) -> None:
    for clouds, theirs in ((THREE, case.three), (SEVEN, case.seven)):
        requests = tuple(request(each, 1) for each in read(case.resources).candidates)
        task = TaskRequest("a", requests).at([Infra(cloud) for cloud in clouds])
        ours = plan(search, [task], {}).hourly_price
        if case.cheaper:
            assert ours <= theirs + 1e-4
        else:
            assert ours == pytest.approx(theirs, abs=1e-4)


@dataclass(frozen=True)
class Example:
    file: str
    three: str
    """What SkyPilot takes with three clouds: cloud, type and price."""
    seven: str


EXAMPLES = [
    Example("a100.yaml", "aws p4d.24xlarge 21.9576", "lambda gpu_8x_a100 15.92"),
    Example("spot.yaml", "azure Standard_NC6s_v3 0.3366", "azure Standard_NC6s_v3 0.3366"),
    Example("any-of.yaml", "aws p4de.24xlarge 27.4471", "runpod 8x_A100-80GB_SECURE 11.12"),
]
"""All of them are the plain minimum, which both find; of `any_of` it is the cheaper request."""


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.file)
def test_examples_plan_to_what_skypilot_takes(search: Search, example: Example) -> None:
    data = yaml.safe_load((EXAMPLE_FILES / example.file).read_text())
    requests = tuple(request(each, 1) for each in read(data["resources"]).candidates)
    for clouds, theirs in ((THREE, example.three), (SEVEN, example.seven)):
        task = TaskRequest("a", requests).at([Infra(cloud) for cloud in clouds])
        (choice,) = plan(search, [task], {}).choices
        machine = choice.offer.machine
        assert f"{machine.cloud} {machine.name} {round(choice.hourly_price, 4):g}" == theirs


def test_every_example_of_clouds_is_planned() -> None:
    assert sorted(each.file for each in EXAMPLES) == sorted(
        path.name for path in EXAMPLE_FILES.iterdir()
    )
