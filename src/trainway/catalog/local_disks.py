"""Disks inside of machines, told by the name of the type: most catalogs do not say it. Pure.

The sizes are those of the clouds' own documentation, in GB. A type that is not here may have disks
too; nobody knows, so it does for nobody who asks for one.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from trainway.api.task.local_disk import NVME, SSD

_M5: Final = "large:75 xlarge:150 2xlarge:300 4xlarge:600 8xlarge:1200 12xlarge:1800 16xlarge:2400"
_M6: Final = (
    "large:118 xlarge:237 2xlarge:474 4xlarge:950 8xlarge:1900 12xlarge:2850 16xlarge:3800"
    " 24xlarge:5700 32xlarge:7600"
)
_G: Final = "xlarge:250 2xlarge:450 4xlarge:600 8xlarge:900"
_AWS: Final = {
    "m5d": f"{_M5} 24xlarge:3600",
    "r5d": f"{_M5} 24xlarge:3600",
    "c5d": "large:50 xlarge:100 2xlarge:200 4xlarge:400 9xlarge:900 12xlarge:1800 18xlarge:1800"
    " 24xlarge:3600",
    "m6id": _M6,
    "r6id": _M6,
    "c6id": _M6,
    "i3": "large:475 xlarge:950 2xlarge:1900 4xlarge:3800 8xlarge:7600 16xlarge:15200",
    "i3en": "large:1250 xlarge:2500 2xlarge:5000 3xlarge:7500 6xlarge:15000 12xlarge:30000"
    " 24xlarge:60000",
    "i4i": "large:468 xlarge:937 2xlarge:1875 4xlarge:3750 8xlarge:7500 12xlarge:11250"
    " 16xlarge:15000 24xlarge:22500 32xlarge:30000",
    "g4dn": "xlarge:125 2xlarge:225 4xlarge:225 8xlarge:900 12xlarge:900 16xlarge:900 metal:1800",
    "g5": f"{_G} 12xlarge:3800 16xlarge:1900 24xlarge:3800 48xlarge:7600",
    "g6": f"{_G} 12xlarge:3760 16xlarge:1880 24xlarge:3760 48xlarge:7520",
    "g6e": f"{_G} 12xlarge:3800 16xlarge:1900 24xlarge:3800 48xlarge:7600",
    "p3dn": "24xlarge:1800",
    "p4d": "24xlarge:8000",
    "p4de": "24xlarge:8000",
    "p5": "4xlarge:3840 48xlarge:30720",
    "p5e": "48xlarge:30720",
    "p5en": "48xlarge:30720",
    "p6-b200": "48xlarge:30720",
    "trn1": "2xlarge:475 32xlarge:7600",
    "trn1n": "32xlarge:7600",
}
_GCP: Final = {
    **{f"a2-ultragpu-{n}g": 375 * n for n in (1, 2, 4, 8)},
    **{f"a3-highgpu-{n}g": 750 * n for n in (1, 2, 4, 8)},
    "a3-megagpu-8g": 6000,
    "a3-ultragpu-8g": 12000,
    "a4-highgpu-8g": 12000,
}
_AZURE: Final = {
    "Standard_NC24ads_A100_v4": 960,
    "Standard_NC48ads_A100_v4": 1920,
    "Standard_NC96ads_A100_v4": 3840,
    "Standard_ND96isr_H100_v5": 28000,
    "Standard_ND96isr_H200_v5": 28000,
}
_AZURE_SSD: Final = {"Standard_ND96asr_v4": 6000, "Standard_ND96amsr_A100_v4": 6400}


def _families(families: Mapping[str, str]) -> Iterator[tuple[str, float]]:
    for family, sizes in families.items():
        for size in sizes.split():
            name, _, gigabytes = size.partition(":")
            yield f"{family}.{name}", float(gigabytes)


_KNOWN: Final[Mapping[str, Mapping[str, tuple[float, str]]]] = {
    "aws": {name: (size, NVME) for name, size in _families(_AWS)},
    "gcp": {name: (size, NVME) for name, size in _GCP.items()},
    "azure": {
        **{name: (size, NVME) for name, size in _AZURE.items()},
        **{name: (size, SSD) for name, size in _AZURE_SSD.items()},
    },
}


def local_disk(cloud: str, name: str) -> tuple[float, str]:
    """How many GB all disks inside of a type have, and what they are; 0: nobody says."""
    return _KNOWN.get(cloud, {}).get(name, (0, ""))
