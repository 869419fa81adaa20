"""Somebody who rents machines of a moto, with a catalog of one type."""

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import yaml
from installation import Installation, installed
from moto_cloud import REGION, MotoCloud

_COLUMNS: Final = (
    "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,GpuInfo,Price,SpotPrice,"
    "Region,AvailabilityZone,Arch"
)


PRICES: Final = {f"{REGION}a": ("0.096", "0.04"), f"{REGION}b": ("0.097", "0.05")}
"""The usual ones: of a machine for an hour on demand, and as spot."""


def catalog(folder: Path, prices: Mapping[str, tuple[str, str]]) -> str:
    """A folder with the prices of m5.large in each zone: on demand, and as spot."""
    rows = [
        f"m5.large,,,2.0,8.0,,{price},{spot},{REGION},{zone},x86_64"
        for zone, (price, spot) in prices.items()
    ]
    folder.mkdir()
    (folder / "aws.csv").write_text("\n".join([_COLUMNS, *rows, ""]))
    return str(folder)


@contextlib.contextmanager
def renting_user(
    cloud: MotoCloud,
    folder: Path,
    prices: Mapping[str, tuple[str, str]] = PRICES,
    settings: Mapping[str, object] | None = None,
) -> Iterator[Installation]:
    """Somebody with credentials for that AWS, and these prices; in the end nothing is rented.

    Its machines are hosts of the tests, which must not really be shut down.
    """
    home = folder / "home"
    home.mkdir()
    aws = {"user": "root", "shutdown_command": "true", **(settings or {})}
    (home / "config.yaml").write_text(yaml.safe_dump({"clouds": {"aws": aws}}))
    variables = {
        "TRAINWAY_CATALOG": catalog(folder / "catalog", prices),
        "XDG_CACHE_HOME": str(folder / "cache"),
        **cloud.variables(),
    }
    with installed(home, variables) as made:
        yield made
        made.run("down", "--all", "--yes")
