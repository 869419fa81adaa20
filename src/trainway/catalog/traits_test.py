from dataclasses import dataclass

import pytest

from trainway.catalog.local_disks import local_disk
from trainway.catalog.offer import Trait
from trainway.catalog.traits import has_fast_network, is_opt_in, traits


@dataclass(frozen=True)
class Case:
    cloud: str
    name: str
    traits: str = ""
    accelerator: str = ""


CASES = [
    Case("aws", "m6i.large"),
    Case("aws", "m6g.large", "arm64"),
    Case("aws", "c7gn.xlarge", "arm64"),
    Case("aws", "im4gn.large", "arm64"),
    Case("aws", "a1.large", "arm64"),
    Case("aws", "g4dn.xlarge", "", "T4"),
    Case("aws", "gr6.4xlarge", "", "L4"),
    Case("aws", "g5g.xlarge", "arm64", "T4g"),
    Case("aws", "p6-b200.48xlarge", "", "B200"),
    Case("aws", "t3.large", "burstable"),
    Case("aws", "t4g.large", "arm64 burstable"),
    Case("aws", "m3.large", "retired"),
    Case("azure", "Standard_D4s_v5"),
    Case("azure", "Standard_D4ps_v5", "arm64"),
    Case("azure", "Standard_B2pts_v2", "arm64 burstable"),
    Case("azure", "Standard_NC6s_v3", "", "V100"),
    Case("azure", "Standard_NC6s_v2", "retired", "P100"),
    Case("azure", "Standard_NC12_Promo", "promotional retired", "K80"),
    Case("azure", "Standard_DS3_v2_Promo", "promotional"),
    Case("azure", "Basic_A3", "retired"),
    Case("azure", "Standard_A2_v2"),
    Case("gcp", "t2a-standard-4", "arm64"),
    Case("gcp", "e2-medium", "burstable"),
    Case("gcp", "e2-standard-4"),
    Case("oci", "VM.Standard.A1.Flex$_4_24", "arm64"),
    Case("lambda", "gpu_1x_gh200", "arm64", "GH200"),
    Case("shadeform", "lambda_gh200", "arm64", "GH200"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_a_name_tells(case: Case) -> None:
    found = traits(case.cloud, case.name, case.accelerator)
    assert found == frozenset(map(Trait, case.traits.split()))


@pytest.mark.parametrize(
    ("cloud", "region", "expected"),
    [
        ("aws", "us-east-1", False),
        ("aws", "af-south-1", True),
        ("aws", "us-gov-west-1", True),
        ("oci", "af-johannesburg-1", False),
        ("azure", "usgovvirginia", True),
    ],
)
def test_which_regions_have_to_be_enabled(cloud: str, region: str, expected: bool) -> None:
    assert is_opt_in(cloud, region) is expected


@pytest.mark.parametrize(
    ("cloud", "name", "is_fast"),
    [
        ("aws", "p4d.24xlarge", True),
        ("aws", "p5.48xlarge", True),
        ("aws", "p5.4xlarge", False),
        ("aws", "g5.xlarge", False),
        ("aws", "g5.12xlarge", True),
        ("azure", "Standard_ND96isr_H100_v5", True),
        ("azure", "Standard_NC24ads_A100_v4", False),
        ("azure", "Standard_HB120rs_v3", True),
        ("gcp", "a3-highgpu-8g", True),
        ("gcp", "a3-highgpu-1g", False),
        ("lambda", "gpu_8x_h100", False),
    ],
)
def test_networks_for_gangs(cloud: str, name: str, is_fast: bool) -> None:
    assert has_fast_network(cloud, name) is is_fast


def test_disks_inside_of_machines_are_known_by_name() -> None:
    assert local_disk("aws", "p4d.24xlarge") == (8000, "nvme")
    assert local_disk("azure", "Standard_ND96asr_v4") == (6000, "ssd")
    assert local_disk("aws", "m6i.large") == local_disk("nobody", "p4d.24xlarge") == (0, "")
