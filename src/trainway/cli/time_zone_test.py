from pathlib import Path

import pytest

from trainway.cli.time_zone import local_zone


@pytest.mark.parametrize(
    ("value", "zone"),
    [("Europe/Berlin", "Europe/Berlin"), (":Asia/Tokyo", "Asia/Tokyo"), ("CET-1CEST", "UTC")],
)
def test_the_zone_of_the_environment(value: str, zone: str, tmp_path: Path) -> None:
    assert local_zone({"TZ": value}, tmp_path / "none") == zone


def test_the_zone_of_the_machine(tmp_path: Path) -> None:
    link = tmp_path / "localtime"
    assert local_zone({}, link) == "UTC"
    link.symlink_to("/usr/share/zoneinfo/America/New_York")
    assert local_zone({}, link) == "America/New_York"
