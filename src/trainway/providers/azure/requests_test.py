"""What is asked of Azure, word for word."""

import base64
from dataclasses import dataclass, replace

import pytest

from trainway.providers.azure.requests import (
    disk,
    firewall,
    group_name,
    image,
    machine_name,
    network,
    resource_group,
    virtual_machine,
)
from trainway.providers.azure.sizes import Size, check_place, left, sizes
from trainway.providers.azure.stand_in_testing import USAGES, sku
from trainway.providers.base import GangRequest, Place
from trainway.providers.contract_testing import KEY
from trainway.providers.errors import ProviderError, Scope, Trouble

GROUP = "/subscriptions/s/resourceGroups/trainway-t1"
H100 = Size("Standard_ND96isr_H100_v5", 96, gpus=8, has_fast_interface=True)
CPU = Size("Standard_D8s_v5", 8, "standardDSv5Family", zones=frozenset("12"))
REQUEST = GangRequest(
    "t1", "server-1", "train", Place("eastus"), H100.name, 2, KEY, labels={"team": "vision"}
)


def test_a_machine_has_all_that_goes_with_it() -> None:
    text = base64.b64encode(f'#cloud-config\n{{"ssh_authorized_keys": ["{KEY}"]}}\n'.encode())
    assert virtual_machine(REQUEST, 1, H100, GROUP) == {
        "location": "eastus",
        "tags": {
            "team": "vision",
            "Name": "trainway-train-1",
            "trainway-server": "server-1",
            "trainway-cluster": "train",
            "trainway-token": "t1",
            "trainway-rank": "1",
        },
        "properties": {
            "hardwareProfile": {"vmSize": "Standard_ND96isr_H100_v5"},
            "storageProfile": {
                "imageReference": {
                    "publisher": "microsoft-dsvm",
                    "offer": "ubuntu-hpc",
                    "sku": "2204",
                    "version": "latest",
                },
                "osDisk": {
                    "createOption": "FromImage",
                    "deleteOption": "Delete",
                    "diskSizeGB": 128,
                    "managedDisk": {"storageAccountType": "StandardSSD_LRS"},
                },
            },
            "osProfile": {
                "computerName": "trainway-train-1",
                "adminUsername": "trainway",
                "customData": text.decode(),
                "linuxConfiguration": {
                    "disablePasswordAuthentication": True,
                    "ssh": {
                        "publicKeys": [
                            {"path": "/home/trainway/.ssh/authorized_keys", "keyData": KEY}
                        ]
                    },
                },
            },
            "networkProfile": {
                "networkApiVersion": "2022-11-01",
                "networkInterfaceConfigurations": [
                    {
                        "name": "trainway-train-1-interface",
                        "properties": {
                            "primary": True,
                            "deleteOption": "Delete",
                            "enableAcceleratedNetworking": True,
                            "networkSecurityGroup": {
                                "id": f"{GROUP}/providers/Microsoft.Network/"
                                "networkSecurityGroups/trainway"
                            },
                            "ipConfigurations": [
                                {
                                    "name": "main",
                                    "properties": {
                                        "primary": True,
                                        "subnet": {
                                            "id": f"{GROUP}/providers/Microsoft.Network/"
                                            "virtualNetworks/trainway/subnets/main"
                                        },
                                        "publicIPAddressConfiguration": {
                                            "name": "trainway-train-1-address",
                                            "sku": {"name": "Standard", "tier": "Regional"},
                                            "properties": {
                                                "deleteOption": "Delete",
                                                "publicIPAllocationMethod": "Static",
                                            },
                                        },
                                    },
                                }
                            ],
                        },
                    }
                ],
            },
        },
    }


def test_a_group_carries_what_finds_it_again() -> None:
    assert resource_group(REQUEST) == {
        "location": "eastus",
        "tags": {
            "trainway-server": "server-1",
            "trainway-cluster": "train",
            "trainway-token": "t1",
        },
    }
    long = replace(REQUEST, cluster="Ä" + "x" * 80, token="T" * 80)
    assert len(group_name(long.token)) <= 90
    assert len(machine_name(long, 100)) <= 64


def test_the_network_lets_in_who_is_meant_to_come() -> None:
    request = replace(REQUEST, ports=["8080", "9000-9010"], settings={"ssh_from": "10.1.0.0/16"})
    common = {
        "direction": "Inbound",
        "access": "Allow",
        "protocol": "Tcp",
        "sourcePortRange": "*",
        "destinationAddressPrefix": "*",
    }
    ssh = {"priority": 1000, "sourceAddressPrefix": "10.1.0.0/16", "destinationPortRanges": ["22"]}
    ports = ["8080", "9000-9010"]
    open_ = {"priority": 1010, "sourceAddressPrefix": "*", "destinationPortRanges": ports}
    assert firewall(request) == {
        "location": "eastus",
        "properties": {
            "securityRules": [
                {"name": "ssh", "properties": {**common, **ssh}},
                {"name": "ports", "properties": {**common, **open_}},
            ]
        },
    }
    assert network(request) == {
        "location": "eastus",
        "properties": {
            "addressSpace": {"addressPrefixes": ["10.0.0.0/16"]},
            "subnets": [{"name": "main", "properties": {"addressPrefix": "10.0.0.0/16"}}],
        },
    }


def test_what_is_given_is_used() -> None:
    settings = {
        "subnet": "/s/subnet",
        "security_group": "/s/nsg",
        "address": "private",
        "user": "dev",
        "identity": "/s/identity",
        "spot_price": "2.5",
    }
    request = replace(
        REQUEST,
        settings=settings,
        spot=True,
        place=Place("eastus", "eastus-2"),
        reservation="/s/reserved",
        disk_gib=500,
        disk_tier="best",
        labels={"a/b": "no tag of Azure", "Azure-x": "neither"},
    )
    built = virtual_machine(request, 0, H100, GROUP)
    properties = built["properties"]
    assert built["zones"] == ["2"]
    assert built["identity"] == {
        "type": "UserAssigned",
        "userAssignedIdentities": {"/s/identity": {}},
    }
    assert not {"a/b", "Azure-x"} & set(built["tags"])
    assert properties["priority"] == "Spot"
    assert properties["evictionPolicy"] == "Delete"
    assert properties["billingProfile"] == {"maxPrice": 2.5}
    assert properties["capacityReservation"] == {"capacityReservationGroup": {"id": "/s/reserved"}}
    assert properties["storageProfile"]["osDisk"]["diskSizeGB"] == 500
    assert properties["storageProfile"]["osDisk"]["managedDisk"] == {
        "storageAccountType": "Premium_LRS"
    }
    plug = properties["networkProfile"]["networkInterfaceConfigurations"][0]["properties"]
    assert plug["networkSecurityGroup"] == {"id": "/s/nsg"}
    assert plug["ipConfigurations"][0]["properties"] == {
        "primary": True,
        "subnet": {"id": "/s/subnet"},
    }
    assert properties["osProfile"]["adminUsername"] == "dev"


@dataclass(frozen=True)
class ImageCase:
    size: Size
    named: str
    wanted: dict[str, str]


IMAGES = [
    ImageCase(CPU, "", {"offer": "ubuntu-24_04-lts", "sku": "server"}),
    ImageCase(replace(CPU, has_generation_2=False), "", {"sku": "server-gen1"}),
    ImageCase(replace(CPU, is_arm=True), "", {"sku": "server-arm64"}),
    ImageCase(Size("Standard_ND96isr_MI300X_v5", 96, gpus=8), "", {"sku": "2204-rocm"}),
    ImageCase(CPU, "a:b:c:1.0", {"publisher": "a", "offer": "b", "sku": "c", "version": "1.0"}),
    ImageCase(CPU, "/subscriptions/s/images/i", {"id": "/subscriptions/s/images/i"}),
    ImageCase(CPU, "/CommunityGalleries/g", {"communityGalleryImageId": "/CommunityGalleries/g"}),
    ImageCase(CPU, "/SharedGalleries/g", {"sharedGalleryImageId": "/SharedGalleries/g"}),
]


@pytest.mark.parametrize("case", IMAGES, ids=lambda case: f"{case.size.name} {case.named}")
def test_an_image_fits_the_size(case: ImageCase) -> None:
    assert case.wanted.items() <= image(replace(REQUEST, image=case.named), case.size).items()


def test_what_cannot_work_is_told_before_anything_is_made() -> None:
    with pytest.raises(ProviderError, match="no public image has the drivers") as caught:
        image(REQUEST, Size("Standard_NV36ads_A10_v5", 36, gpus=1))
    assert caught.value.scope is Scope.INSTANCE_TYPE
    with pytest.raises(ProviderError, match="'ubuntu' is none of Azure"):
        image(replace(REQUEST, image="ubuntu"), CPU)
    with pytest.raises(ProviderError, match="Azure has no 'ultra'"):
        disk(replace(REQUEST, disk_tier="ultra"), CPU)
    with pytest.raises(ProviderError, match="nobody reaches private addresses"):
        virtual_machine(replace(REQUEST, settings={"address": "private"}), 0, CPU, GROUP)
    with pytest.raises(ProviderError, match="takes no disks of the tier high"):
        disk(replace(REQUEST, disk_tier="high"), replace(CPU, has_premium_disks=False))


def test_sizes_say_what_this_subscription_may_have() -> None:
    plain = sku("Standard_D8s_v5", "standardDSv5Family", vCPUs="8")
    zone = {"type": "Zone", "restrictionInfo": {"zones": ["2"]}}
    found = sizes([plain, {"resourceType": "disks", "name": "x"}], "eastus")
    assert found == {"standard_d8s_v5": CPU}
    there = replace(REQUEST, instance_type="x", settings={"zone": "2"})
    assert check_place(CPU, there) is CPU
    with pytest.raises(ProviderError, match="has no machines of the size x") as caught:
        check_place(None, there)
    assert (caught.value.trouble, caught.value.scope) == (Trouble.INVALID, Scope.REGION)
    refused = sizes([{**plain, "restrictions": [{"type": "Location"}]}], "eastus")
    with pytest.raises(ProviderError, match="may not have Standard_D8s_v5 in eastus"):
        check_place(refused["standard_d8s_v5"], there)
    partly = sizes([{**plain, "restrictions": [zone]}], "eastus")["standard_d8s_v5"]
    with pytest.raises(ProviderError, match="zone 2 of eastus, only in the zones 1"):
        check_place(partly, there)


def test_sizes_that_cannot_be_made_as_they_are_wanted_are_refused() -> None:
    told = {"vCPUs": "8", "LowPriorityCapable": "False"}
    found = sizes([sku("A", "f", **told)], "eastus")["a"]
    with pytest.raises(ProviderError, match="A is not to be had as a spot machine") as caught:
        check_place(found, replace(REQUEST, spot=True))
    assert caught.value.spot_only
    secret = sizes([sku("B", "f", ConfidentialComputingType="SNP")], "eastus")["b"]
    with pytest.raises(ProviderError, match="B is a size for confidential machines") as caught:
        check_place(secret, REQUEST)
    assert caught.value.scope is Scope.INSTANCE_TYPE


def test_quotas_are_counted_in_cpus() -> None:
    assert left(USAGES, CPU, spot=False) == 2
    assert left(USAGES, CPU, spot=True) == 6
    assert left(USAGES, replace(CPU, family="unknown"), spot=False) == 10
    assert left([], CPU, spot=True) is None
