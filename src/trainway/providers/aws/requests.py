"""What is asked of EC2, as plain dicts: built here, printed anywhere, sent by `calls`."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from trainway.providers import cloud_init
from trainway.providers.aws.instance_types import InstanceType, image
from trainway.providers.base import (
    CLUSTER_TAG,
    OWNER_TAG,
    RANK_TAG,
    GangRequest,
    tags,
)
from trainway.providers.errors import ProviderError, Scope, Trouble
from trainway.providers.settings import choice, price_of

SETTINGS: Final[Mapping[str, str]] = {
    "vpc": "the network; otherwise the default one of the region, or one that is made",
    "subnet": "the subnet, which says the zone too",
    "security_group": "the firewall; otherwise one is made for each cluster",
    "key_name": "a key pair that is let in beside Trainway's key",
    "instance_profile": "the name or ARN of the role that machines have",
    "job_credentials": "session, or the ARN of a role: what jobs may use for an hour at a time",
    "image": "an AMI, the name of a public parameter, ubuntu-22.04 or ubuntu-24.04",
    "user": "who one is on machines of that image",
    "ssh_from": "from where ssh is let in, as a CIDR block",
    "address": "public or private: whether machines have an address of the internet",
    "efa": "one, all or none: how many of its fast network interfaces a machine uses",
    "spot_price": "the most that an hour of a spot machine may cost",
    "reservation_type": "capacity or capacity-block: what a reservation is",
}
USER_TAG: Final = "trainway-user"
DEFAULT_USER: Final = "ubuntu"
DISK_GIB: Final = 128
ROOT_DEVICE: Final = "/dev/sda1"
DISKS: Final[Mapping[str, Mapping[str, Any]]] = {
    "": {"VolumeType": "gp3"},
    "low": {"VolumeType": "gp3"},
    "medium": {"VolumeType": "gp3", "Iops": 3500, "Throughput": 250},
    "high": {"VolumeType": "gp3", "Iops": 7000, "Throughput": 600},
    "best": {"VolumeType": "gp3", "Iops": 16_000, "Throughput": 1000},
    "ultra": {"VolumeType": "io2", "Iops": 20_000},
}
TAGGED_WITH_MACHINES: Final = ("instance", "volume", "network-interface")


@dataclass(frozen=True)
class Network:
    """Where a gang is plugged in."""

    subnet: str
    security_group: str
    placement_group: str = ""


def group_name(owner: str, cluster: str) -> str:
    """What the firewall and the placement group of a cluster are called."""
    return f"trainway-{owner}-{cluster}"


def ours(owner: str, cluster: str = "") -> list[dict[str, Any]]:
    """The filter that finds what a server has made, or has made for one cluster."""
    found = [{"Name": f"tag:{OWNER_TAG}", "Values": [owner]}]
    if cluster:
        found.append({"Name": f"tag:{CLUSTER_TAG}", "Values": [cluster]})
    return found


def tag_list(marks: Mapping[str, str]) -> list[dict[str, str]]:
    """Tags as EC2 takes them."""
    return [{"Key": key, "Value": value} for key, value in sorted(marks.items())]


def specification(kind: str, marks: Mapping[str, str]) -> dict[str, Any]:
    """Tags for something that is being made."""
    return {"ResourceType": kind, "Tags": tag_list(marks)}


def shared_tags(request: GangRequest) -> dict[str, str]:
    """What all machines of a gang carry.

    They are made in one call, so their ranks are told by the index that EC2 gives each of them.
    """
    found = tags(request, 0) | {
        "Name": request.name,
        USER_TAG: request.settings.get("user", DEFAULT_USER),
    }
    del found[RANK_TAG]
    return found


def run_instances(request: GangRequest, kind: InstanceType, network: Network) -> dict[str, Any]:
    """All machines of a gang, or none; asked again, it finds the first."""
    kinds = [*TAGGED_WITH_MACHINES, *(["spot-instances-request"] if request.spot else [])]
    marks = shared_tags(request)
    stops = not request.ends_by_shutdown and not request.spot
    built: dict[str, Any] = {
        "ClientToken": client_token(request, network),
        "MinCount": request.count,
        "MaxCount": request.count,
        "InstanceType": request.instance_type,
        "ImageId": image(kind, request.image or request.settings.get("image", "")),
        "UserData": cloud_init.user_data(
            request.public_key, host_key=request.host_key, may_shut_down=True
        ),
        "InstanceInitiatedShutdownBehavior": "stop" if stops else "terminate",
        "MetadataOptions": {"HttpTokens": "required", "HttpEndpoint": "enabled"},
        "BlockDeviceMappings": [{"DeviceName": ROOT_DEVICE, "Ebs": disk(request)}],
        "NetworkInterfaces": interfaces(request, kind, network),
        "TagSpecifications": [specification(each, marks) for each in kinds],
    }
    if network.placement_group:
        built["Placement"] = {"GroupName": network.placement_group}
    if key := request.settings.get("key_name"):
        built["KeyName"] = key
    if profile := request.settings.get("instance_profile"):
        built["IamInstanceProfile"] = {"Arn" if profile.startswith("arn:") else "Name": profile}
    return built | market(request)


def client_token(request: GangRequest, network: Network) -> str:
    """Another server or subnet is another request; EC2 takes 64 characters."""
    content = f"{request.owner}/{request.token}/{network.subnet}"
    return hashlib.sha256(content.encode()).hexdigest()


def disk(request: GangRequest) -> dict[str, Any]:
    """The disk of each machine, which goes with it."""
    kind = DISKS.get(request.disk_tier)
    if kind is None:
        raise ProviderError(
            f"disk_tier: AWS has no {request.disk_tier!r}",
            trouble=Trouble.INVALID,
            scope=Scope.CLOUD,
            hint=f"one of {', '.join(each for each in DISKS if each)}",
        )
    size = request.disk_gib or DISK_GIB
    return {**kind, "VolumeSize": size, "DeleteOnTermination": True}


def market(request: GangRequest) -> dict[str, Any]:
    """How machines are paid for: on demand, spot, or out of what was reserved."""
    if request.spot:
        options = {"SpotInstanceType": "one-time", "InstanceInterruptionBehavior": "terminate"}
        if price := request.settings.get("spot_price"):
            options["MaxPrice"] = str(price_of("aws", price))
        return {"InstanceMarketOptions": {"MarketType": "spot", "SpotOptions": options}}
    if not request.reservation:
        return {}
    kind = choice("aws", request.settings, "reservation_type", ("capacity", "capacity-block"))
    by_group = request.reservation.startswith("arn:")
    key = "CapacityReservationResourceGroupArn" if by_group else "CapacityReservationId"
    target = {"CapacityReservationTarget": {key: request.reservation}}
    block = {"InstanceMarketOptions": {"MarketType": "capacity-block"}}
    return {"CapacityReservationSpecification": target} | (
        block if kind == "capacity-block" else {}
    )


def interfaces(request: GangRequest, kind: InstanceType, network: Network) -> list[dict[str, Any]]:
    """Its plugs: EC2 gives no public address to a machine that has several."""
    used = choice("aws", request.settings, "efa", ("one", "all", "none"))
    public = choice("aws", request.settings, "address", ("public", "private")) == "public"
    fast = 0 if used == "none" or request.count == 1 else kind.efa_interfaces
    if used == "all" and public and fast > 1:
        raise ProviderError(
            f"clouds.aws.efa: {request.instance_type} has {fast} fast interfaces, and machines "
            "that use several get no public address from AWS",
            trouble=Trouble.INVALID,
            scope=Scope.CLOUD,
            hint="set clouds.aws.address to private where the server reaches the subnet, or efa to "
            "one",
        )
    plain: dict[str, Any] = {
        "SubnetId": network.subnet,
        "Groups": [network.security_group],
        "DeleteOnTermination": True,
    }
    first: dict[str, Any] = {"DeviceIndex": 0, **plain, "AssociatePublicIpAddress": public}
    if not fast:
        return [first]
    more = [
        {"DeviceIndex": 1, "NetworkCardIndex": card, "InterfaceType": "efa", **plain}
        for card in range(1, fast if used == "all" else 1)
    ]
    if more:
        del first["AssociatePublicIpAddress"]
    return [{**first, "InterfaceType": "efa"}, *more]


def ingress(group: str, ports: Sequence[str], ssh_from: str) -> list[dict[str, Any]]:
    """Who is let in: ssh, members of the gang, and the ports that a user wants open."""
    rules: list[dict[str, Any]] = [
        {"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": group}]},
        _open("22", ssh_from),
    ]
    return rules + [_open(each, "0.0.0.0/0") for each in ports]


def egress(group: str) -> dict[str, Any]:
    """EFA wants to be told that members may send to each other."""
    inside = {"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": group}]}
    return {"GroupId": group, "IpPermissions": [inside]}


def _open(ports: str, source: str) -> dict[str, Any]:
    first, _, last = ports.partition("-")
    return {
        "IpProtocol": "tcp",
        "FromPort": int(first),
        "ToPort": int(last or first),
        "IpRanges": [{"CidrIp": source}],
    }
