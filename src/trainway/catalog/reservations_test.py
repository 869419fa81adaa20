from dataclasses import dataclass
from typing import Any

import pytest

from trainway.catalog.reservations import Reservation, errors, reservations

P5 = {"id": "cr-1", "instance_type": "p5.48xlarge", "count": 4}


@dataclass(frozen=True)
class Case:
    name: str
    cloud: str
    items: Any
    said: str


@pytest.mark.parametrize(
    "case",
    [
        Case("an id only", "aws", ["cr-1"], "must say what it is, as in {id: cr-1"),
        Case("no list", "aws", "cr-1", "must be a list"),
        Case("no count", "aws", [{"id": "a", "instance_type": "b", "zone": "c1a"}], "count"),
        Case("no place", "aws", [P5], "must have region"),
        Case("a zone that does not tell", "azure", [P5 | {"zone": "1"}], "must have region"),
        Case("none of it", "aws", [P5 | {"zone": "us-east-1a", "count": 0}], "greater than 0"),
        Case("twice", "aws", [P5 | {"zone": "us-east-1a"}] * 2, "is there twice"),
    ],
    ids=lambda case: case.name,
)
def test_what_is_wrong_is_said(case: Case) -> None:
    found = [str(each) for each in errors(case.cloud, case.items, ("clouds", "aws"))]
    assert len(found) == 1
    assert case.said in found[0]


def test_a_zone_tells_its_region_where_its_name_does() -> None:
    items = [P5 | {"zone": "us-east-1a"}, P5 | {"id": "cr-2", "region": "us-west-2"}]
    assert not list(errors("aws", items, ()))
    assert reservations("aws", items) == (
        Reservation("cr-1", "aws", "p5.48xlarge", "us-east-1", "us-east-1a", 4),
        Reservation("cr-2", "aws", "p5.48xlarge", "us-west-2", "", 4),
    )
    (found,) = reservations("gcp", [P5 | {"zone": "us-central1-a"}])
    assert found.region == "us-central1"
