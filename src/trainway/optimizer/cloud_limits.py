"""What a cloud cannot give, whichever of its machines it is: kinds of disks, images, labels. Pure.

Of a cloud that is not in a table nobody knows that it can; it is left out where that is asked for.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from trainway.catalog.store import Condition
from trainway.optimizer.request import Request

_TIERS: Final = {
    "aws": ("low", "medium", "high", "ultra", "best"),
    "gcp": ("low", "medium", "high", "ultra", "best"),
    "azure": ("low", "medium", "high", "best"),
    "oci": ("low", "medium", "high", "ultra", "best"),
}
"""The clouds whose disks come in kinds, and which of them."""
_FIXED_DISKS: Final = frozenset({"lambda", "hyperbolic", "hyperstack", "shadeform", "fluidstack"})
"""The disk of a machine is that of its type."""
_LARGEST_DISK: Final = {"aws": 16_384, "azure": 4_095, "gcp": 65_536}
"""The largest disk to start from, in GB."""
_IMAGES: Final = {
    "aws": re.compile(r"ami-[0-9a-f]+|/aws/.*"),
    "azure": re.compile(r"/subscriptions/.*|[^:/ ]+:[^: ]+:[^: ]+:[^: ]+"),
    "gcp": re.compile(r"projects/.*"),
    "oci": re.compile(r"ocid1\.image\..*"),
}
"""Images that only one cloud can know, by how they are called."""
_LABELS: Final = {
    "aws": re.compile(r"(?!aws:)[^=]{1,128}=.{0,256}"),
    "azure": re.compile(r"[^<>%&\\?/=]{1,512}=.{0,256}"),
    "gcp": re.compile(r"[a-z][-a-z0-9_]{0,62}=[-a-z0-9_]{0,63}"),
}
"""What a label may be, as NAME=VALUE; clouds that are not here have none, and need none."""


_NUMBERED_ZONES: Final = ("1", "2", "3")
"""Azure counts the zones of each region, which no list names."""


def in_zone(name: str) -> Condition:
    """What is in a zone; where a list has none, it is in the region that its name begins with."""
    named = "instr(?, r.name) = 1"
    if name in _NUMBERED_ZONES:
        named += " OR m.cloud = 'azure'"
    return Condition(f"(p.zone = ? OR (p.zone = '' AND ({named})))", (name, name))


def reason_against(cloud: str, request: Request) -> str | None:
    """Why nothing of a cloud will do; None: something may."""
    return next(_reasons(cloud, request), None)


def _reasons(cloud: str, request: Request) -> Iterator[str]:
    tier, size = request.disk_tier, request.disk_gb
    if tier is not None and tier not in _TIERS.get(cloud, ()):
        yield f"disk_tier {tier} is not known to be there"
    if size is not None and cloud in _FIXED_DISKS:
        yield "disk_size cannot be chosen there: a disk is that of its machine type"
    if size is not None and size > _LARGEST_DISK.get(cloud, size):
        yield f"no disk there has {size:g} GB; the largest has {_LARGEST_DISK[cloud]:,} GB"
    owner = image_owner(request.image)
    if owner is not None and owner != cloud:
        yield f"image_id is an image of {owner}"
    pattern = _LABELS.get(cloud)
    if pattern is not None:
        for name, value in request.labels:
            if not pattern.fullmatch(f"{name}={value}"):
                yield f"it takes no label {name}={value}"


@lru_cache(maxsize=128)  # it is asked for each cloud of each request
def image_owner(image: str) -> str | None:
    """The only cloud that knows an image of a machine; None: no image, or nobody can tell."""
    return next((cloud for cloud, form in _IMAGES.items() if form.fullmatch(image)), None)


def type_conditions(request: Request) -> Iterator[Condition]:
    """What keeps some machine types of a cloud from the disks that are asked for."""
    if request.disk_tier == "ultra":  # pd-extreme
        yield Condition(
            "(m.cloud != 'gcp' OR m.name GLOB 'm[123]-*' OR (m.name GLOB 'n2-*' AND m.vcpus >= 64))"
        )
    if request.disk_tier == "high":  # types with an s take premium disks
        yield Condition(
            "(m.cloud != 'azure' OR m.name GLOB 'Standard_*[0-9]*s*'"
            " OR m.name GLOB 'Standard_[DFGL]S[0-9]*')"
        )
