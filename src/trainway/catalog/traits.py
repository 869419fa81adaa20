"""What a machine type is like, told by its name: catalogs do not say it. Pure.

The names are the clouds' own: AWS writes `g` behind the generation of Graviton types, Azure `p`
among the letters of Ampere types.
"""

import re
from collections.abc import Mapping
from typing import Final

from trainway.catalog.offer import Trait

_ARM_ACCELERATORS: Final = ("gh200", "gb200", "gb300", "t4g")
"""Their hosts have ARM processors, whichever cloud has them."""
_PATTERNS: Final[Mapping[str, Mapping[Trait, str]]] = {
    "aws": {
        Trait.ARM: r"a1\.|mac2|mac-|[a-z]+[0-9]+[a-z-]*g[a-z0-9-]*\.",
        Trait.BURSTABLE: r"t[0-9][a-z]*\.",
        Trait.RETIRED: r"(t1|m1|m2|m3|c1|c3|cc2|cr1|g2|hi1|hs1|i2|p2|r3)\.",
    },
    "azure": {
        Trait.ARM: r"Standard_[A-Z]+[0-9]+(-[0-9]+)?[a-z]*p[a-z]*_",
        Trait.BURSTABLE: r"Standard_B[0-9]",
        Trait.RETIRED: r"Basic_|Standard_A[0-9]+$|Standard_(NC|NV)(6|12|24|24r)(_Promo)?$"
        r"|Standard_(NC|ND)[0-9]+r?s(_v2)?$|Standard_HB60",
        Trait.PROMOTIONAL: r".*_Promo$",
    },
    "gcp": {
        Trait.ARM: r"t2a-|c4a-|n4a-|a4x-",
        Trait.BURSTABLE: r"f1-|g1-|e2-(micro|small|medium)$",
    },
    "oci": {Trait.ARM: r"(VM|BM)\.Standard\.A[0-9]"},
    "lambda": {Trait.ARM: r".*_gh200"},
}
_COMPILED: Final = {
    cloud: tuple((trait, re.compile(pattern)) for trait, pattern in patterns.items())
    for cloud, patterns in _PATTERNS.items()
}
_OPT_IN: Final = {
    "aws": re.compile(
        r"af-south-1|ap-east-[12]|ap-south-2|ap-southeast-[3-7]|ca-west-1|eu-central-2"
        r"|eu-south-[12]|il-central-1|me-(south|central)-1|mx-central-1|us-gov-.*|cn-.*"
    ),
    "azure": re.compile(r"usgov.*|usdod.*|china.*"),
}
"""Regions that an account has only after it has asked for them."""

_FAST_NETWORKS: Final = {
    "aws": re.compile(
        r"(p3dn|p4d|p4de|trn1|trn1n|dl1|dl2q)\.|p5[a-z]*\.48xlarge|p6-.*|trn2[a-z]*\.48xlarge"
        r"|g4dn\.(8|12|16)xlarge|g4dn\.metal|(g5|g6|g6e)\.(8|12|16|24|48)xlarge|gr6\.8xlarge|hpc"
    ),
    "azure": re.compile(r"Standard_(H[BCX][0-9]|N[A-Z]+[0-9]+[a-z]*r[a-z]*(_|$))"),
    "gcp": re.compile(r"a3-(high|mega|ultra)gpu-8g|a4-highgpu-8g|a4x-|h4d-"),
    "oci": re.compile(r"BM\.GPU|BM\.HPC"),
    "nebius": re.compile(r"gpu-[a-z0-9]+-sxm.*_8gpu"),
}
"""Types of which the clouds say that EFA, GPUDirect or InfiniBand connects several of them."""


def has_fast_network(cloud: str, name: str) -> bool:
    """Whether machines of the type are known to be connected for gangs."""
    pattern = _FAST_NETWORKS.get(cloud)
    return pattern is not None and pattern.match(name) is not None


def traits(cloud: str, name: str, accelerator: str) -> frozenset[Trait]:
    """What is said of the type by its name, or by that of its accelerator."""
    found = {trait for trait, pattern in _COMPILED.get(cloud, ()) if pattern.match(name)}
    if accelerator.lower().startswith(_ARM_ACCELERATORS):
        found.add(Trait.ARM)
    return frozenset(found)


def is_opt_in(cloud: str, region: str) -> bool:
    """Whether an account has to ask for the region first."""
    pattern = _OPT_IN.get(cloud)
    return pattern is not None and pattern.fullmatch(region) is not None
