"""What Azure says of a size of machine and of quotas, and what follows from it. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from trainway.providers.base import GangRequest
from trainway.providers.errors import ProviderError, Scope, Trouble

MACHINES: Final = "virtualMachines"
SPOT_QUOTA: Final = "lowprioritycores"
ALL_QUOTA: Final = "cores"


@dataclass(frozen=True)
class Size:
    """A size of machine in a region."""

    name: str
    cpus: int
    family: str = ""
    """What its quota is called."""
    gpus: int = 0
    is_arm: bool = False
    has_generation_2: bool = True
    has_premium_disks: bool = True
    has_fast_interface: bool = False
    has_spot: bool = True
    is_confidential: bool = False
    is_refused: bool = False
    """Whether this subscription may not have it in the region."""
    refused_zones: frozenset[str] = frozenset()
    zones: frozenset[str] = frozenset()


def sizes(answer: Iterable[Mapping[str, Any]], region: str) -> dict[str, Size]:
    """All sizes of a region, by their names in small letters."""
    found = (
        _size(each, region) for each in answer if each.get("resourceType", MACHINES) == MACHINES
    )
    return {each.name.lower(): each for each in found}


def _size(answer: Mapping[str, Any], region: str) -> Size:
    told = {each["name"]: each["value"] for each in answer.get("capabilities") or []}
    restrictions = answer.get("restrictions") or []
    places = [
        each
        for each in answer.get("locationInfo") or []
        if is_same_region(each.get("location"), region)
    ]
    return Size(
        name=str(answer["name"]),
        cpus=int(told.get("vCPUs") or 0),
        family=str(answer.get("family") or ""),
        gpus=int(told.get("GPUs") or 0),
        is_arm=told.get("CpuArchitectureType") == "Arm64",
        has_generation_2="V2" in str(told.get("HyperVGenerations", "V2")),
        has_premium_disks=told.get("PremiumIO", "True") == "True",
        has_fast_interface=told.get("AcceleratedNetworkingEnabled") == "True",
        has_spot=told.get("LowPriorityCapable", "True") == "True",
        is_confidential="ConfidentialComputingType" in told,
        is_refused=any(each.get("type") == "Location" for each in restrictions),
        refused_zones=frozenset(
            zone
            for each in restrictions
            if each.get("type") == "Zone"
            for zone in (each.get("restrictionInfo") or {}).get("zones") or []
        ),
        zones=frozenset(zone for each in places for zone in each.get("zones") or []),
    )


def is_same_region(told: object, region: str) -> bool:
    """Whether a location is a region: Azure also writes `East US`."""
    return str(told or "").lower().replace(" ", "") == region.lower()


def zone_of(request: GangRequest) -> str:
    """Azure counts the zones of a region: `2`, or `eastus-2`; empty: any.

    Catalogs do not name its zones, so it is a setting.
    """
    return (request.place.zone or request.settings.get("zone", "")).rpartition("-")[2]


def check_place(size: Size | None, request: GangRequest) -> Size:
    """The size, if this subscription may have it there."""
    region = request.place.region
    if size is None:
        raise _not_there(f"{region} has no machines of the size {request.instance_type}")
    if size.is_refused:
        hint = "ask for access in the Azure portal, or name another region"
        raise _not_there(f"this subscription may not have {size.name} in {region}", hint)
    if size.is_confidential:
        raise _not_there(
            f"{size.name} is a size for confidential machines, which are not made",
            scope=Scope.INSTANCE_TYPE,
        )
    if request.spot and not size.has_spot:
        error = _not_there(f"{size.name} is not to be had as a spot machine")
        error.spot_only = True
        raise error
    zone = zone_of(request)
    if zone and (zone not in size.zones or zone in size.refused_zones):
        allowed = sorted(size.zones - size.refused_zones)
        told = f"in the zones {', '.join(allowed)}" if allowed else "without a zone"
        raise _not_there(f"{size.name} is not to be had in zone {zone} of {region}, only {told}")
    return size


def _not_there(message: str, hint: str = "", scope: Scope = Scope.REGION) -> ProviderError:
    return ProviderError(f"Azure: {message}", trouble=Trouble.INVALID, scope=scope, hint=hint)


def left(usages: Iterable[Mapping[str, Any]], size: Size, *, spot: bool) -> int | None:
    """How many more machines quotas allow, which Azure counts in CPUs; None: they do not say."""
    free = {
        str(each["name"]["value"]).lower(): int(each["limit"]) - int(each["currentValue"])
        for each in usages
    }
    names = [SPOT_QUOTA] if spot else [size.family.lower(), ALL_QUOTA]
    told = [free[name] for name in names if name in free]
    return max(0, min(told) // size.cpus) if told and size.cpus else None
