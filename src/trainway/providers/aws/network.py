"""Where machines are plugged in: networks and firewalls that are given, or made and found again.

Everything is made so that a call that was killed can be repeated: it is looked for first, by tags
that it got in the same call that made it.
"""

import time
from collections.abc import Callable, Mapping
from typing import Any, Final

from trainway.providers.aws.answers import Subnet, one_for_each_zone, subnet
from trainway.providers.aws.calls import AwsCalls
from trainway.providers.aws.instance_types import InstanceType
from trainway.providers.aws.refusals import AwsError
from trainway.providers.aws.requests import (
    egress,
    group_name,
    ingress,
    ours,
    specification,
)
from trainway.providers.base import CLUSTER_TAG, OWNER_TAG, GangRequest
from trainway.providers.errors import ProviderError, Scope, Trouble

EVERYWHERE: Final = "0.0.0.0/0"
VPC_BLOCK: Final = "10.71.0.0/16"
SUBNET_BLOCK: Final = "10.71.{}.0/20"
SUBNETS: Final = 16
EXISTS: Final = frozenset(
    {
        "InvalidGroup.Duplicate",
        "InvalidPermission.Duplicate",
        "InvalidPlacementGroup.Duplicate",
        "Resource.AlreadyAssociated",
        "RouteAlreadyExists",
    }
)
USED: Final = frozenset({"DependencyViolation", "InvalidPlacementGroup.InUse"})
ATTEMPTS: Final = 6
PAUSE_S: Final = 5.0
GONE: Final = frozenset(
    {"InvalidGroup.NotFound", "InvalidGroupId.Malformed", "InvalidPlacementGroup.Unknown"}
)


class AwsNetwork:
    """The networks of an account."""

    def __init__(self, calls: AwsCalls, pause: Callable[[float], None] = time.sleep) -> None:
        self._calls = calls
        self._pause = pause

    def subnets(self, request: GangRequest) -> list[Subnet]:
        """Where the gang may be; made if there is nothing, and nothing was given."""
        region, given = request.place.region, request.settings
        if name := given.get("subnet"):
            found = self._list(region, "subnets", SubnetIds=[name])
            chosen = one_for_each_zone([subnet(each) for each in found], request.place.zone)
        else:
            vpc = given.get("vpc") or self._default_vpc(region) or self._own_vpc(request)
            chosen = one_for_each_zone(self._subnets_of(region, vpc), request.place.zone)
        if not chosen:
            where = request.place.zone or region
            raise ProviderError(
                f"AWS: the network has no subnet in {where}",
                trouble=Trouble.OTHER,  # it holds for all types of machine there
                scope=Scope.ZONE if request.place.zone else Scope.REGION,
                hint="name one with clouds.aws.subnet, or another network with clouds.aws.vpc",
            )
        return chosen

    def security_group(self, request: GangRequest, vpc: str) -> str:
        """The firewall of the cluster."""
        if given := request.settings.get("security_group"):
            return given
        region = request.place.region
        name = group_name(request.owner, request.cluster)
        found = self._own_group(request, vpc)
        if not found:
            try:
                answer = self._send(
                    region,
                    "create_security_group",
                    GroupName=name,
                    Description=f"machines of the cluster {request.cluster} of Trainway",
                    VpcId=vpc,
                    TagSpecifications=[specification("security-group", _cluster_tags(request))],
                )
                found = str(answer["GroupId"])
            except AwsError as error:
                if error.aws_code not in EXISTS:
                    raise
                found = self._own_group(request, vpc)
        ssh_from = request.settings.get("ssh_from", EVERYWHERE)
        for rule in ingress(found, request.ports, ssh_from):
            self._ensure(
                region, "authorize_security_group_ingress", GroupId=found, IpPermissions=[rule]
            )
        self._ensure(region, "authorize_security_group_egress", **egress(found))
        return found

    def placement_group(self, request: GangRequest, kind: InstanceType) -> str:
        """Close to each other, where a gang has a network that is worth it."""
        if request.count == 1 or not kind.gathers or not kind.efa_interfaces:
            return ""
        if request.settings.get("efa") == "none":
            return ""
        name = group_name(request.owner, request.cluster)
        self._ensure(
            request.place.region,
            "create_placement_group",
            GroupName=name,
            Strategy="cluster",
            TagSpecifications=[specification("placement-group", _cluster_tags(request))],
        )
        return name

    def release(self, region: str, owner: str, cluster: str) -> None:
        """Remove what was made for a cluster; raises if machines that are ending still use it."""
        filters = ours(owner, cluster)
        for each in self._list(region, "placement_groups", Filters=filters):
            self._remove(region, "delete_placement_group", GroupName=each["GroupName"])
        for each in self._list(region, "security_groups", Filters=filters):
            self._remove(region, "delete_security_group", GroupId=each["GroupId"])

    def _own_group(self, request: GangRequest, vpc: str) -> str:
        filters = [
            *ours(request.owner, request.cluster),
            {"Name": "vpc-id", "Values": [vpc]},
        ]
        found = self._list(request.place.region, "security_groups", Filters=filters)
        return str(found[0]["GroupId"]) if found else ""

    def _default_vpc(self, region: str) -> str:
        filters = [{"Name": "is-default", "Values": ["true"]}]
        found = self._list(region, "vpcs", Filters=filters)
        return str(found[0]["VpcId"]) if found else ""

    def _subnets_of(self, region: str, vpc: str) -> list[Subnet]:
        filters = [{"Name": "vpc-id", "Values": [vpc]}]
        return [subnet(each) for each in self._list(region, "subnets", Filters=filters)]

    def _own_vpc(self, request: GangRequest) -> str:
        """A network of the server's own, with a subnet in each zone, found again by its tags."""
        region, marks = request.place.region, {OWNER_TAG: request.owner, "Name": "trainway"}
        found = self._list(region, "vpcs", Filters=ours(request.owner))
        if found:
            vpc = str(found[0]["VpcId"])
        else:
            tagged = [specification("vpc", marks)]
            answer = self._send(region, "create_vpc", CidrBlock=VPC_BLOCK, TagSpecifications=tagged)
            vpc = str(answer["Vpc"]["VpcId"])
        names = {"VpcId": vpc, "EnableDnsHostnames": {"Value": True}}
        self._send(region, "modify_vpc_attribute", **names)
        self._gateway(request, vpc, marks)
        self._make_subnets(region, vpc, marks)
        return vpc

    def _gateway(self, request: GangRequest, vpc: str, marks: Mapping[str, str]) -> None:
        """The way to the internet."""
        region = request.place.region
        found = self._list(region, "internet_gateways", Filters=ours(request.owner))
        if not found:
            tagged = [specification("internet-gateway", marks)]
            answer = self._send(region, "create_internet_gateway", TagSpecifications=tagged)
            found = [answer["InternetGateway"]]
        gateway = str(found[0]["InternetGatewayId"])
        if not found[0].get("Attachments"):
            self._ensure(region, "attach_internet_gateway", InternetGatewayId=gateway, VpcId=vpc)
        filters = [
            {"Name": "vpc-id", "Values": [vpc]},
            {"Name": "association.main", "Values": ["true"]},
        ]
        for table in self._list(region, "route_tables", Filters=filters):
            route = {"RouteTableId": table["RouteTableId"], "DestinationCidrBlock": EVERYWHERE}
            self._ensure(region, "create_route", **route, GatewayId=gateway)

    def _make_subnets(self, region: str, vpc: str, marks: Mapping[str, str]) -> None:
        having = {each.zone for each in self._subnets_of(region, vpc)}
        filters = [{"Name": "zone-type", "Values": ["availability-zone"]}]
        zones = self._send(region, "describe_availability_zones", Filters=filters)
        names = sorted(each["ZoneName"] for each in zones["AvailabilityZones"])
        for number, zone in enumerate(names[:SUBNETS]):
            if zone in having:
                continue
            made = self._send(
                region,
                "create_subnet",
                VpcId=vpc,
                AvailabilityZone=zone,
                CidrBlock=SUBNET_BLOCK.format(number * 16),
                TagSpecifications=[specification("subnet", marks)],
            )
            attribute: dict[str, Any] = {"MapPublicIpOnLaunch": {"Value": True}}
            name = made["Subnet"]["SubnetId"]
            self._send(region, "modify_subnet_attribute", SubnetId=name, **attribute)

    def _list(self, region: str, what: str, **request: Any) -> list[dict[str, Any]]:
        key = "".join(word.capitalize() for word in what.split("_"))
        return self._calls.pages(region, f"describe_{what}", key, **request)

    def _send(self, region: str, operation: str, **request: Any) -> dict[str, Any]:
        return self._calls.send("ec2", region, operation, **request)

    def _ensure(self, region: str, operation: str, **request: Any) -> None:
        """Make something that may be there already."""
        try:
            self._send(region, operation, **request)
        except AwsError as error:
            if error.aws_code not in EXISTS:
                raise

    def _remove(self, region: str, operation: str, **request: Any) -> None:
        """Remove something that may be gone already; machines that are ending use it a while."""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                self._send(region, operation, **request)
            except AwsError as error:
                if error.aws_code in GONE:
                    return
                if error.aws_code not in USED or attempt == ATTEMPTS:
                    raise
                self._pause(PAUSE_S)
            else:
                return


def _cluster_tags(request: GangRequest) -> dict[str, str]:
    marks = {OWNER_TAG: request.owner, CLUSTER_TAG: request.cluster, "Name": request.name}
    return {**request.labels, **marks}
