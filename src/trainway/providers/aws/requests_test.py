"""What is asked of EC2, word for word."""

from dataclasses import replace
from typing import Any

import pytest

from trainway.providers.aws.instance_types import InstanceType
from trainway.providers.aws.requests import Network, ingress, market, run_instances
from trainway.providers.base import GangRequest, Place
from trainway.providers.cloud_init import user_data
from trainway.providers.errors import ProviderError, Scope, Trouble

NETWORK = Network("subnet-0a1", "sg-1")
PLAIN = InstanceType("m5.large", 2)
FAST = InstanceType("p5.48xlarge", 192, "x86_64", "NVIDIA", efa_interfaces=32, gathers=True)
REQUEST = GangRequest(
    token="0123456789abcdef0123456789abcdef",  # noqa: S106 - the name of a request
    owner="s1",
    cluster="train",
    place=Place("us-east-1", "us-east-1a"),
    instance_type="m5.large",
    count=4,
    public_key="ssh-ed25519 AAAA server",
    labels={"team": "vision"},
)
TAGS = [
    {"Key": "Name", "Value": "trainway-train"},
    {"Key": "team", "Value": "vision"},
    {"Key": "trainway-cluster", "Value": "train"},
    {"Key": "trainway-server", "Value": "s1"},
    {"Key": "trainway-token", "Value": "0123456789abcdef0123456789abcdef"},
    {"Key": "trainway-user", "Value": "ubuntu"},
]
GOLDEN: dict[str, Any] = {
    "ClientToken": "3222a77d089e28f154d2011bc2f0b63d90dbe7ac9c6dffe102a9045c7bf6e32a",
    "MinCount": 4,
    "MaxCount": 4,
    "InstanceType": "m5.large",
    "ImageId": "resolve:ssm:/aws/service/canonical/ubuntu/server/24.04/stable/current/amd64/hvm/"
    "ebs-gp3/ami-id",
    "UserData": user_data("ssh-ed25519 AAAA server", may_shut_down=True),
    "InstanceInitiatedShutdownBehavior": "terminate",
    "MetadataOptions": {"HttpTokens": "required", "HttpEndpoint": "enabled"},
    "BlockDeviceMappings": [
        {
            "DeviceName": "/dev/sda1",
            "Ebs": {"VolumeType": "gp3", "VolumeSize": 128, "DeleteOnTermination": True},
        }
    ],
    "NetworkInterfaces": [
        {
            "DeviceIndex": 0,
            "SubnetId": "subnet-0a1",
            "Groups": ["sg-1"],
            "DeleteOnTermination": True,
            "AssociatePublicIpAddress": True,
        }
    ],
    "TagSpecifications": [
        {"ResourceType": "instance", "Tags": TAGS},
        {"ResourceType": "volume", "Tags": TAGS},
        {"ResourceType": "network-interface", "Tags": TAGS},
    ],
}


def test_a_gang_is_one_request() -> None:
    assert run_instances(REQUEST, PLAIN, NETWORK) == GOLDEN


def test_spot_machines_are_wanted_once() -> None:
    built = run_instances(replace(REQUEST, spot=True, ends_by_shutdown=False), PLAIN, NETWORK)

    assert built == GOLDEN | {
        "InstanceMarketOptions": {
            "MarketType": "spot",
            "SpotOptions": {
                "SpotInstanceType": "one-time",
                "InstanceInterruptionBehavior": "terminate",
            },
        },
        "TagSpecifications": [
            *GOLDEN["TagSpecifications"],
            {"ResourceType": "spot-instances-request", "Tags": TAGS},
        ],
    }


def test_what_is_given_is_used() -> None:
    settings = {"key_name": "mine", "instance_profile": "trainer", "image": "ami-1", "user": "dev"}
    request = replace(
        REQUEST, settings=settings, disk_gib=500, disk_tier="high", ends_by_shutdown=False
    )
    built = run_instances(request, PLAIN, NETWORK)

    assert built["KeyName"] == "mine"
    assert built["IamInstanceProfile"] == {"Name": "trainer"}
    assert built["ImageId"] == "ami-1"
    assert built["InstanceInitiatedShutdownBehavior"] == "stop"
    assert {"Key": "trainway-user", "Value": "dev"} in built["TagSpecifications"][0]["Tags"]
    assert built["BlockDeviceMappings"][0]["Ebs"] == {
        "VolumeType": "gp3",
        "Iops": 7000,
        "Throughput": 600,
        "VolumeSize": 500,
        "DeleteOnTermination": True,
    }
    assert run_instances(replace(request, image="ami-2"), PLAIN, NETWORK)["ImageId"] == "ami-2"


def test_a_gang_with_a_fast_network_is_placed_together() -> None:
    network = replace(NETWORK, placement_group="trainway-s1-train")
    built = run_instances(replace(REQUEST, instance_type="p5.48xlarge"), FAST, network)

    assert built["Placement"] == {"GroupName": "trainway-s1-train"}
    (plug,) = built["NetworkInterfaces"]
    assert (plug["InterfaceType"], plug["AssociatePublicIpAddress"]) == ("efa", True)


def test_all_fast_interfaces_are_for_private_networks() -> None:
    settings = {"efa": "all", "address": "private"}
    built = run_instances(replace(REQUEST, settings=settings), FAST, NETWORK)

    plugs = built["NetworkInterfaces"]
    assert len(plugs) == 32
    assert [each.get("NetworkCardIndex", 0) for each in plugs] == list(range(32))
    assert not any("AssociatePublicIpAddress" in each for each in plugs)

    with pytest.raises(ProviderError, match="32 fast interfaces") as caught:
        run_instances(replace(REQUEST, settings={"efa": "all"}), FAST, NETWORK)
    assert (caught.value.trouble, caught.value.scope) == (Trouble.INVALID, Scope.CLOUD)


def test_one_machine_needs_no_fast_network() -> None:
    built = run_instances(replace(REQUEST, count=1), FAST, NETWORK)

    assert built["NetworkInterfaces"] == GOLDEN["NetworkInterfaces"]


def test_what_was_reserved_is_used() -> None:
    by_id = {"CapacityReservationTarget": {"CapacityReservationId": "cr-1"}}
    assert market(replace(REQUEST, reservation="cr-1")) == {
        "CapacityReservationSpecification": by_id
    }
    block = replace(REQUEST, reservation="cr-1", settings={"reservation_type": "capacity-block"})
    assert market(block)["InstanceMarketOptions"] == {"MarketType": "capacity-block"}
    group = "arn:aws:resource-groups:us-east-1:1:group/x"
    assert market(replace(REQUEST, reservation=group)) == {
        "CapacityReservationSpecification": {
            "CapacityReservationTarget": {"CapacityReservationResourceGroupArn": group}
        }
    }


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"disk_tier": "fastest"}, "disk_tier: AWS has no 'fastest'"),
        ({"spot": True, "settings": {"spot_price": "-1"}}, "spot_price: '-1' is not a price"),
        ({"settings": {"efa": "some"}}, "clouds.aws.efa: 'some' is none of one, all, none"),
    ],
)
def test_a_wrong_word_is_named(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ProviderError, match=message):
        run_instances(replace(REQUEST, **change), PLAIN, NETWORK)


def test_the_firewall_lets_in_ssh_the_gang_and_what_is_wanted() -> None:
    rules = ingress("sg-1", ["8080", "9000-9010"], "192.0.2.0/24")

    assert rules == [
        {"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": "sg-1"}]},
        _tcp(22, 22, "192.0.2.0/24"),
        _tcp(8080, 8080, "0.0.0.0/0"),
        _tcp(9000, 9010, "0.0.0.0/0"),
    ]


def _tcp(first: int, last: int, source: str) -> dict[str, Any]:
    ranges = [{"CidrIp": source}]
    return {"IpProtocol": "tcp", "FromPort": first, "ToPort": last, "IpRanges": ranges}
