"""What follows from a type of machine."""

from dataclasses import dataclass

import pytest

from trainway.providers.aws.instance_types import InstanceType, image, instance_type, quota_code

UBUNTU = "resolve:ssm:/aws/service/canonical/ubuntu/server"
LEARNING = "resolve:ssm:/aws/service/deeplearning/ami"


def test_what_ec2_says_of_a_type() -> None:
    answer = {
        "InstanceType": "p5.48xlarge",
        "VCpuInfo": {"DefaultVCpus": 192},
        "ProcessorInfo": {"SupportedArchitectures": ["x86_64"]},
        "GpuInfo": {"Gpus": [{"Manufacturer": "NVIDIA", "Name": "H100", "Count": 8}]},
        "NetworkInfo": {"EfaSupported": True, "EfaInfo": {"MaximumEfaInterfaces": 32}},
        "PlacementGroupInfo": {"SupportedStrategies": ["cluster", "spread"]},
    }
    assert instance_type(answer) == InstanceType(
        "p5.48xlarge", 192, "x86_64", "NVIDIA", efa_interfaces=32, gathers=True
    )
    assert instance_type({"InstanceType": "t3.micro"}) == InstanceType("t3.micro", 0)


@dataclass(frozen=True)
class Case:
    name: str
    kind: InstanceType
    given: str
    wanted: str


CASES = [
    Case(
        "plain",
        InstanceType("m5.large", 2),
        "",
        f"{UBUNTU}/24.04/stable/current/amd64/hvm/ebs-gp3/ami-id",
    ),
    Case(
        "arm",
        InstanceType("m7g.large", 2, "arm64"),
        "",
        f"{UBUNTU}/24.04/stable/current/arm64/hvm/ebs-gp3/ami-id",
    ),
    Case(
        "nvidia",
        InstanceType("p5.48xlarge", 192, accelerators="NVIDIA"),
        "",
        f"{LEARNING}/x86_64/base-oss-nvidia-driver-gpu-ubuntu-24.04/latest/ami-id",
    ),
    Case(
        "amd has no image of its own",
        InstanceType("g4ad.xlarge", 4, accelerators="AMD"),
        "",
        f"{UBUNTU}/24.04/stable/current/amd64/hvm/ebs-gp3/ami-id",
    ),
    Case(
        "trainium",
        InstanceType("trn1.2xlarge", 8, accelerators="AWS"),
        "",
        "resolve:ssm:/aws/service/neuron/dlami/base/ubuntu-24.04/latest/image_id",
    ),
    Case(
        "older ubuntu",
        InstanceType("m5.large", 2),
        "ubuntu-22.04",
        f"{UBUNTU}/22.04/stable/current/amd64/hvm/ebs-gp2/ami-id",
    ),
    Case("given", InstanceType("p5.48xlarge", 192, accelerators="NVIDIA"), "ami-1", "ami-1"),
    Case(
        "given by a parameter",
        InstanceType("m5.large", 2),
        "/team/image",
        "resolve:ssm:/team/image",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_image_fits_the_type(case: Case) -> None:
    assert image(case.kind, case.given) == case.wanted


@pytest.mark.parametrize(
    ("name", "spot", "code"),
    [
        ("m5.large", False, "L-1216C47A"),
        ("im4gn.large", False, "L-1216C47A"),
        ("t3.micro", True, "L-34B43A08"),
        ("g5.xlarge", False, "L-DB2E81BA"),
        ("gr6.4xlarge", True, "L-3819A6DF"),
        ("p4d.24xlarge", True, "L-7212CCBC"),
        ("p5.48xlarge", True, "L-C4BD4855"),
        ("p5en.48xlarge", False, "L-417A185B"),
        ("trn1.2xlarge", False, "L-2C3B7624"),
        ("mac2.metal", False, ""),
        ("hpc6a.48xlarge", False, ""),
        ("u-6tb1.metal", False, ""),
        ("", False, ""),
    ],
)
def test_the_quota_that_counts_a_type(name: str, spot: bool, code: str) -> None:
    assert quota_code(name, spot=spot) == code
