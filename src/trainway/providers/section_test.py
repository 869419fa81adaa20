"""The section of clouds: what is taken from it, and what is refused."""

from dataclasses import dataclass
from typing import Any

import pytest

from trainway.providers.section import SHAPE, CloudSettings, errors, settings_of
from trainway.schema.shape import check


@dataclass(frozen=True)
class Case:
    name: str
    section: dict[str, Any]
    expected: str


CASES = (
    Case("regions that are no list", {"aws": {"regions": "us-east-1"}}, "a list of regions"),
    Case("a list of networks", {"aws": {"vpc": ["a", "b"]}}, "must be one value"),
    Case("any that is neither", {"aws": {"any": "often"}}, "must be true or false"),
    Case("no cloud", {"AWS!": {}}, "each name must match"),
    Case("no map", {"aws": "yes"}, "must be a map"),
    Case("no time", {"aws": {"unattended_minutes": 0}}, "a number of minutes above 0"),
    Case("a word for a time", {"aws": {"unattended_minutes": "soon"}}, "a number of minutes"),
    Case("a number for a command", {"aws": {"shutdown_command": 1}}, "a line of a shell"),
    Case("a name for an address", {"aws": {"metadata_address": "imds:80"}}, "an IP address and a"),
    Case("host keys of nobody", {"aws": {"host_keys": True}}, "must be given or own"),
    Case("host keys without user data", {"gcp": {"host_keys": "given"}}, "only to machines of aws"),
    Case("no port", {"aws": {"metadata_address": "10.0.0.1:0"}}, "an IP address and a port"),
    Case("no digits", {"aws": {"metadata_address": "10.0.0.1:²"}}, "an IP address and a port"),
    Case("a reservation by its name", {"aws": {"reservations": ["cr-1"]}}, "must say what it is"),
    Case(
        "a network that is an object",
        {"aws": {"regions": [{"id": "a", "instance_type": "b", "count": 1}]}},
        "must be a list of regions",
    ),
    Case("a path for a region", {"aws": {"regions": ["../x"]}}, "the name of a region"),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_is_wrong_is_said(case: Case) -> None:
    found = list(check(SHAPE, case.section, ("clouds",)))
    found = found or list(errors(case.section, ("clouds",)))

    assert [case.expected in str(each) for each in found] == [True], found


def test_settings_are_text_and_regions_are_lists() -> None:
    section = {
        "aws": {"regions": ["us-east-1"], "vpc": "vpc-1", "public_address": False, "size": 3},
        "gcp": None,
        "azure": {"unattended_minutes": 5, "shutdown_command": "poweroff"},
        "lambda": {"metadata_address": "[fd00::1]:80", "host_keys": "given"},
    }

    assert not list(check(SHAPE, section, ()))
    assert not list(errors(section, ()))
    values = {"vpc": "vpc-1", "public_address": "no", "size": "3"}
    assert settings_of(section) == {
        "aws": CloudSettings(frozenset({"us-east-1"}), frozenset(), values),
        "gcp": CloudSettings(),
        "azure": CloudSettings(unattended_minutes=5.0, shutdown_command="poweroff"),
        "lambda": CloudSettings(metadata_address="[fd00::1]:80", gives_host_keys=True),
    }


def test_a_cloud_is_chosen_by_any_only_where_somebody_says_so() -> None:
    section = {"aws": {"any": True, "vpc": "vpc-1"}, "gcp": {"any": False}, "lambda": {}}

    found = settings_of(section)
    assert [name for name, each in found.items() if each.is_for_any] == ["aws"]
    assert found["aws"].values == {"vpc": "vpc-1"}, "its provider does not know of it"


def test_reservations_are_ours_and_not_the_providers() -> None:
    paid = {"id": "cr-1", "instance_type": "p5.48xlarge", "zone": "us-east-1a", "count": 4}
    section = {"aws": {"reservations": [paid], "vpc": "vpc-1"}}
    assert not [*check(SHAPE, section, ()), *errors(section, ())]
    settings = settings_of(section)["aws"]
    assert [each.region for each in settings.reservations] == ["us-east-1"]
    assert settings.values == {"vpc": "vpc-1"}
