"""What EC2 says of a type of machine, and what follows from it: image, network, quota."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

ARM: Final = "arm64"
UBUNTU: Final = (
    "/aws/service/canonical/ubuntu/server/{version}/stable/current/{cpu}/hvm/{disk}/ami-id"
)
UBUNTU_DISKS: Final = {"22.04": "ebs-gp2", "24.04": "ebs-gp3"}
LEARNING: Final = (
    "/aws/service/deeplearning/ami/{cpu}/base-oss-nvidia-driver-gpu-ubuntu-24.04/latest/ami-id"
)
NEURON: Final = "/aws/service/neuron/dlami/base/ubuntu-24.04/latest/image_id"
RESOLVE: Final = "resolve:ssm:"
STANDARD: Final = "acdhimrtz"
"""The families that share one quota."""
VARIANTS: Final[Mapping[str, str]] = {"im": "i", "is": "i"}
"""Families that count as another."""
ON_DEMAND_QUOTAS: Final[Mapping[str, str]] = {
    **dict.fromkeys(STANDARD, "L-1216C47A"),
    **dict.fromkeys(("g", "gr", "vt"), "L-DB2E81BA"),
    "p": "L-417A185B",
    "inf": "L-1945791B",
    "trn": "L-2C3B7624",
    "x": "L-7295265B",
    "f": "L-74FC7D96",
    "dl": "L-6E869C2A",
}
SPOT_QUOTAS: Final[Mapping[str, str]] = {
    **dict.fromkeys(STANDARD, "L-34B43A08"),
    **dict.fromkeys(("g", "gr", "vt"), "L-3819A6DF"),
    "p": "L-7212CCBC",
    "p5": "L-C4BD4855",
    "inf": "L-B5D1601B",
    "trn": "L-6B0D517C",
    "x": "L-E3A00192",
    "f": "L-88CF9481",
    "dl": "L-85EED4F7",
}


@dataclass(frozen=True)
class InstanceType:
    """One type of machine."""

    name: str
    cpus: int
    architecture: str = "x86_64"
    accelerators: str = ""
    """Who made its GPUs or other accelerators: `NVIDIA`, `AMD`, `AWS`, or nobody."""
    efa_interfaces: int = 0
    gathers: bool = False
    """Whether machines can be placed close to each other."""


def instance_type(answer: Mapping[str, Any]) -> InstanceType:
    """What an element of DescribeInstanceTypes says."""
    processor = answer.get("ProcessorInfo", {}).get("SupportedArchitectures", [])
    makers = [each.get("Manufacturer", "") for each in answer.get("GpuInfo", {}).get("Gpus", [])]
    neuron = "NeuronInfo" in answer or "InferenceAcceleratorInfo" in answer
    network = answer.get("NetworkInfo", {})
    efa = network.get("EfaInfo", {}).get("MaximumEfaInterfaces", 1)
    strategies = answer.get("PlacementGroupInfo", {}).get("SupportedStrategies", [])
    return InstanceType(
        name=str(answer["InstanceType"]),
        cpus=int(answer.get("VCpuInfo", {}).get("DefaultVCpus", 0)),
        architecture=ARM if ARM in processor else "x86_64",
        accelerators="AWS" if neuron else (makers[0].upper() if makers else ""),
        efa_interfaces=int(efa) if network.get("EfaSupported") else 0,
        gathers="cluster" in strategies,
    )


def image(kind: InstanceType, given: str) -> str:
    """The image of a machine, as RunInstances takes it; `given`: what the user wants.

    Names of AWS's own parameters are resolved by EC2 itself: so a repeated request stays the same
    even if there is a newer image meanwhile.
    """
    ubuntu_cpu = "arm64" if kind.architecture == ARM else "amd64"
    if given.startswith("ubuntu-") and (version := given.removeprefix("ubuntu-")) in UBUNTU_DISKS:
        disk = UBUNTU_DISKS[version]
        return RESOLVE + UBUNTU.format(version=version, cpu=ubuntu_cpu, disk=disk)
    if given.startswith("/"):
        return RESOLVE + given
    if given:
        return given
    if kind.accelerators == "NVIDIA":
        return RESOLVE + LEARNING.format(cpu=kind.architecture)
    if kind.accelerators == "AWS":
        return RESOLVE + NEURON
    return RESOLVE + UBUNTU.format(version="24.04", cpu=ubuntu_cpu, disk=UBUNTU_DISKS["24.04"])


def quota_code(name: str, *, spot: bool) -> str:
    """The quota that counts the CPUs of a type; empty: none that is known."""
    found = re.match(r"([a-z]+)(\d*)", name)
    if found is None:
        return ""
    family, generation = found.groups()
    quotas = SPOT_QUOTAS if spot else ON_DEMAND_QUOTAS
    names = (family + generation, VARIANTS.get(family, family))
    return next((quotas[each] for each in names if each in quotas), "")
