"""What is asked of Azure, as plain values.

All that is made for a request is in a resource group of its own, so that its end is the end of
everything: of machines, disks, interfaces, addresses, the network and its firewall.
"""

import base64
import re
from collections.abc import Mapping
from typing import Any, Final

from trainway.providers.azure.sizes import Size, zone_of
from trainway.providers.base import (
    CLUSTER_TAG,
    OWNER_TAG,
    TOKEN_TAG,
    Ability,
    GangRequest,
    tags,
)
from trainway.providers.cloud_init import user_data
from trainway.providers.errors import ProviderError, Scope, Trouble
from trainway.providers.settings import choice, price_of

SETTINGS: Final[Mapping[str, str]] = {
    "subnet": "the resource id of a subnet; otherwise a network is made for each cluster",
    "security_group": "the resource id of a network security group; otherwise one is made",
    "ssh_from": "from where ssh is let in, as a CIDR block",
    "zone": "the number of a zone; otherwise Azure chooses",
    "address": "public or private: whether machines have an address of the internet",
    "image": "an image, as `publisher:offer:sku:version` or as a resource id",
    "user": "who the key of the server belongs to on machines; otherwise `trainway`",
    "identity": "the resource id of a managed identity that machines have; otherwise none",
    "spot_price": "the most that an hour of a spot machine may cost",
}
_PAID: Final = (
    "an Azure machine that shuts down is paid for until it is deallocated, which only a server does"
)
MISSING: Final[Mapping[Ability, str]] = {
    Ability.SPOT_NOTICE: "Azure tells a spot machine 30 seconds before, inside of it only",
    Ability.FAST_NETWORK: "InfiniBand of Azure connects machines of a scale set, and none is made",
    Ability.END_BY_SHUTDOWN: _PAID,
    Ability.STOP_BY_SHUTDOWN: _PAID,
}
DISKS: Final[Mapping[str, str]] = {
    "": "StandardSSD_LRS",
    "low": "Standard_LRS",
    "medium": "StandardSSD_LRS",
    "high": "Premium_LRS",
    "best": "Premium_LRS",
}
PREMIUM: Final = "Premium_LRS"
DISK_GIB: Final = 128
DEFAULT_USER: Final = "trainway"
UBUNTU: Final = "Canonical:ubuntu-24_04-lts:server:latest"
UBUNTU_ARM: Final = "Canonical:ubuntu-24_04-lts:server-arm64:latest"
UBUNTU_OLD: Final = "Canonical:ubuntu-24_04-lts:server-gen1:latest"
NVIDIA: Final = "microsoft-dsvm:ubuntu-hpc:2204:latest"
AMD: Final = "microsoft-dsvm:ubuntu-hpc:2204-rocm:latest"
NO_IMAGE: Final = ("standard_nv", "standard_ng")
"""Sizes for pictures, whose GPUs want drivers that no public image has."""
NETWORK: Final = "providers/Microsoft.Network/virtualNetworks/trainway"
FIREWALL: Final = "providers/Microsoft.Network/networkSecurityGroups/trainway"
MACHINE: Final = "providers/Microsoft.Compute/virtualMachines"
ADDRESSES: Final = "10.0.0.0/16"
ANYWHERE: Final = "*"
_TAG: Final = re.compile(r"(?!microsoft|azure|windows)[^<>%&\\?/]{1,512}", re.IGNORECASE)


def group_name(token: str) -> str:
    """The resource group of a request, which is found by it: lists of Azure may lag behind."""
    return f"trainway-{_slug(token, 60)}"


def machine_name(request: GangRequest, rank: int) -> str:
    """No longer than Azure takes."""
    return f"trainway-{_slug(request.cluster)}-{rank}"


def _slug(text: str, most: int = 30) -> str:
    return re.sub(r"[^a-z0-9-]", "-", text.lower())[:most].strip("-")


def marks(request: GangRequest, rank: int) -> dict[str, str]:
    """Our tags, and labels of the user that Azure takes."""
    found = tags(request, rank)
    return {key: value[:256] for key, value in found.items() if _TAG.fullmatch(key)}


def owned_by(owner: str) -> str:
    """The filter that finds the resource groups of a server."""
    return f"tagName eq '{OWNER_TAG}' and tagValue eq '{owner.replace(chr(39), chr(39) * 2)}'"


def resource_group(request: GangRequest) -> dict[str, Any]:
    """What holds all of a request."""
    ours = {
        OWNER_TAG: request.owner,
        CLUSTER_TAG: request.cluster,
        TOKEN_TAG: request.token,
    }
    return {"location": request.place.region, "tags": ours}


def firewall(request: GangRequest) -> dict[str, Any]:
    """Who is let in: ssh, and the ports that a user wants open; the gang reaches itself anyway."""
    source = request.settings.get("ssh_from", ANYWHERE)
    rules = [_rule("ssh", 1000, source, ["22"])]
    if request.ports:
        rules.append(_rule("ports", 1010, ANYWHERE, list(request.ports)))
    return {"location": request.place.region, "properties": {"securityRules": rules}}


def _rule(name: str, priority: int, source: str, ports: list[str]) -> dict[str, Any]:
    return {
        "name": name,
        "properties": {
            "priority": priority,
            "direction": "Inbound",
            "access": "Allow",
            "protocol": "Tcp",
            "sourceAddressPrefix": source,
            "sourcePortRange": "*",
            "destinationAddressPrefix": "*",
            "destinationPortRanges": ports,
        },
    }


def network(request: GangRequest) -> dict[str, Any]:
    """A network of its own, in which only the machines of the request are."""
    return {
        "location": request.place.region,
        "properties": {
            "addressSpace": {"addressPrefixes": [ADDRESSES]},
            "subnets": [{"name": "main", "properties": {"addressPrefix": ADDRESSES}}],
        },
    }


def virtual_machine(request: GangRequest, rank: int, size: Size, group: str) -> dict[str, Any]:
    """One machine; disk, interface and address are made with it and go with it."""
    given = request.settings
    properties: dict[str, Any] = {
        "hardwareProfile": {"vmSize": size.name},
        "storageProfile": {
            "imageReference": image(request, size),
            "osDisk": disk(request, size),
        },
        "osProfile": login(request, rank),
        "networkProfile": {
            "networkApiVersion": "2022-11-01",
            "networkInterfaceConfigurations": [interface(request, rank, size, group)],
        },
    }
    if request.spot:
        price = given.get("spot_price")
        properties |= {
            "priority": "Spot",
            "evictionPolicy": "Delete",
            "billingProfile": {"maxPrice": price_of("azure", price) if price else -1},
        }
    if request.reservation:
        reserved = {"capacityReservationGroup": {"id": request.reservation}}
        properties["capacityReservation"] = reserved
    built: dict[str, Any] = {
        "location": request.place.region,
        "tags": marks(request, rank),
        "properties": properties,
    }
    if zone := zone_of(request):
        built["zones"] = [zone]
    if identity := given.get("identity"):
        built["identity"] = {"type": "UserAssigned", "userAssignedIdentities": {identity: {}}}
    return built


def image(request: GangRequest, size: Size) -> dict[str, str]:
    """What is named, or Microsoft's own for the processor and the GPUs of a size."""
    named = request.image or request.settings.get("image") or _own_image(size)
    if named.startswith("/CommunityGalleries/"):
        return {"communityGalleryImageId": named}
    if named.startswith("/SharedGalleries/"):
        return {"sharedGalleryImageId": named}
    if named.startswith("/"):
        return {"id": named}
    parts = named.split(":")
    if len(parts) != 4 or not all(parts):
        raise _invalid(
            f"the image {named!r} is none of Azure",
            Scope.CLOUD,
            "write `publisher:offer:sku:version`, or the resource id of an image",
        )
    return dict(zip(("publisher", "offer", "sku", "version"), parts, strict=True))


def _own_image(size: Size) -> str:
    if size.is_arm:
        return UBUNTU_ARM
    if not size.gpus:
        return UBUNTU if size.has_generation_2 else UBUNTU_OLD
    if "mi300" in size.name.lower():
        return AMD
    if size.name.lower().startswith(NO_IMAGE) or not size.has_generation_2:
        raise _invalid(
            f"no public image has the drivers for the GPUs of {size.name}",
            Scope.INSTANCE_TYPE,
            "name one of your own as clouds.azure.image; those of NC and ND sizes are known",
        )
    return NVIDIA


def disk(request: GangRequest, size: Size) -> dict[str, Any]:
    """The disk of a machine, which goes with it."""
    kind = DISKS.get(request.disk_tier)
    if kind is None:
        hint = f"one of {', '.join(each for each in DISKS if each)}"
        raise _invalid(f"disk_tier: Azure has no {request.disk_tier!r}", Scope.CLOUD, hint)
    if kind == PREMIUM and not size.has_premium_disks:
        message = f"disk_tier: {size.name} takes no disks of the tier {request.disk_tier}"
        raise _invalid(message, Scope.INSTANCE_TYPE, "a size with an `s` in its name takes them")
    return {
        "createOption": "FromImage",
        "deleteOption": "Delete",
        "diskSizeGB": request.disk_gib or DISK_GIB,
        "managedDisk": {"storageAccountType": kind},
    }


def login(request: GangRequest, rank: int) -> dict[str, Any]:
    """Who gets in: nobody with a password."""
    user, key = request.settings.get("user", DEFAULT_USER), request.public_key.strip()
    keys = [{"path": f"/home/{user}/.ssh/authorized_keys", "keyData": key}]
    return {
        "computerName": machine_name(request, rank),
        "adminUsername": user,
        "customData": base64.b64encode(user_data(key, host_key=request.host_key).encode()).decode(),
        "linuxConfiguration": {
            "disablePasswordAuthentication": True,
            "ssh": {"publicKeys": keys},
        },
    }


def interface(request: GangRequest, rank: int, size: Size, group: str) -> dict[str, Any]:
    """Where a machine is plugged in. `group` is the path of its resource group."""
    given = request.settings
    plug: dict[str, Any] = {
        "primary": True,
        "subnet": {"id": given.get("subnet") or f"{group}/{NETWORK}/subnets/main"},
    }
    is_public = choice("azure", given, "address", ("public", "private")) == "public"
    if not is_public and not given.get("subnet"):
        message = "clouds.azure.address: nobody reaches private addresses of a network that is made"
        raise _invalid(message, Scope.CLOUD, "say with clouds.azure.subnet where machines are")
    if is_public:
        plug["publicIPAddressConfiguration"] = {
            "name": f"{machine_name(request, rank)}-address",
            "sku": {"name": "Standard", "tier": "Regional"},
            "properties": {"deleteOption": "Delete", "publicIPAllocationMethod": "Static"},
        }
    return {
        "name": f"{machine_name(request, rank)}-interface",
        "properties": {
            "primary": True,
            "deleteOption": "Delete",
            "enableAcceleratedNetworking": size.has_fast_interface,
            "networkSecurityGroup": {"id": given.get("security_group") or f"{group}/{FIREWALL}"},
            "ipConfigurations": [{"name": "main", "properties": plug}],
        },
    }


def _invalid(message: str, scope: Scope, hint: str) -> ProviderError:
    return ProviderError(f"Azure: {message}", trouble=Trouble.INVALID, scope=scope, hint=hint)
