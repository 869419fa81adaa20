"""Where a task may run: `infra`, and its old spelling with cloud, region and zone."""

from dataclasses import dataclass
from typing import Any, Final

from trainway.families.builtin import HERE
from trainway.schema.validation import closest

CLOUDS: Final = (
    "aws", "azure", "gcp", "ibm", "lambda", "scp", "oci", "kubernetes", "runpod", "vast", "vsphere",
    "cudo", "fluidstack", "paperspace", "primeintellect", "do", "nebius", "ssh", "slurm",
    "hyperbolic", "seeweb", "shadeform", "yotta", "mithril", "verda", "ovhcloud", "scaleway",
    "hyperstack",
)  # fmt: skip
_ALIASES: Final = {"k8s": "kubernetes"}
_ANY: Final = "*"
_PARTS: Final = {"kubernetes": 2, "ssh": 2, HERE: 1}
"""How many components an infra has; three elsewhere: cloud, region and zone."""


@dataclass(frozen=True)
class Infra:
    """A cloud, maybe a region of it and a zone of that; None stands for any."""

    cloud: str | None = None
    region: str | None = None
    zone: str | None = None

    def __str__(self) -> str:
        parts = [self.cloud or _ANY, self.region or _ANY, self.zone or _ANY]
        while len(parts) > 1 and parts[-1] == _ANY:
            parts.pop()
        return "/".join(parts)


def cloud_of(name: str) -> str:
    """The cloud of that name; ValueError if there is none."""
    lowered = name.lower()
    cloud = _ALIASES.get(lowered, lowered)
    if cloud not in CLOUDS:
        meant = closest(lowered, (*CLOUDS, *_ALIASES, HERE))
        raise ValueError(
            f"there is no cloud {name!r}" + (f"; did you mean {meant}?" if meant else "")
        )
    return cloud


def parse(text: str) -> Infra:
    """`aws/us-east-1`, `k8s/context`, `*/*/zone`; ValueError says what is wrong."""
    first, _, rest = text.strip().partition("/")
    if not first:
        raise ValueError("must start with a cloud, as in aws/us-east-1")
    if first == _ANY:
        cloud = None
    elif first.lower() == HERE:
        cloud = HERE
    else:
        cloud = cloud_of(first)
    most = _PARTS.get(cloud or "", 3)
    parts = [rest] if cloud == "kubernetes" and rest else [part for part in rest.split("/") if rest]
    if len(parts) >= most:
        what = {1: "nothing", 2: "one component"}.get(most, "a region and a zone")
        raise ValueError(f"at most {what} may follow {first}")
    if any(not part for part in parts):
        raise ValueError("a component is empty; use * for any")
    region, zone = (*[None if part == _ANY else part for part in parts], None, None)[:2]
    return Infra(cloud, region, zone)


def of_fields(data: dict[str, Any]) -> Infra:
    """The infra of resources that passed their checks."""
    if data.get("infra") is not None:
        return parse(data["infra"])
    cloud = data.get("cloud")
    return Infra(cloud_of(cloud) if cloud else None, data.get("region"), data.get("zone"))
