"""The clouds as pytest fixtures. Without moto tests are skipped; in CI they fail."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest
import yaml
from installation import Installation, installed
from moto_cloud import REGION, MotoCloud, moto_process, paired

from ssh_hosts import SshHosts

if TYPE_CHECKING:
    from trainway.providers.aws.provider import AwsProvider

CATALOG: Final = (
    "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,GpuInfo,Price,SpotPrice,"
    "Region,AvailabilityZone,Arch\n"
    f"m5.large,,,2.0,8.0,,0.096,0.04,{REGION},{REGION}a,x86_64\n"
    f"m5.large,,,2.0,8.0,,0.097,0.05,{REGION},{REGION}b,x86_64\n"
)


@pytest.fixture(scope="session")
def moto_session() -> Iterator[MotoCloud]:
    """One process for all tests of a worker."""
    with moto_process() as cloud:
        yield cloud


@pytest.fixture
def moto_cloud(moto_session: MotoCloud) -> MotoCloud:
    """An AWS in which nothing is yet; its machines are records."""
    moto_session.reset()
    return moto_session


@pytest.fixture
def aws(moto_cloud: MotoCloud, monkeypatch: pytest.MonkeyPatch) -> "AwsProvider":
    """The provider, with an AWS in which nothing is yet."""
    for name, value in moto_cloud.variables().items():
        monkeypatch.setenv(name, value)
    return provider_of(moto_cloud.port)


@cache
def provider_of(_: int) -> "AwsProvider":
    """Shared by tests: its client of EC2 takes a second to make."""
    from trainway.providers.aws.provider import AwsProvider  # noqa: PLC0415 - boto3 is slow

    return AwsProvider()


@pytest.fixture
def paired_cloud(moto_session: MotoCloud, ssh_hosts: SshHosts) -> Iterator[MotoCloud]:
    """An AWS whose machines are the hosts of the tests: four at once."""
    with paired(moto_session, ssh_hosts) as cloud:
        yield cloud


@pytest.fixture
def user(paired_cloud: MotoCloud, tmp_path: Path) -> Iterator[Installation]:
    """Somebody with credentials for AWS, and a catalog with one type in two zones."""
    home, catalog = tmp_path / "home", tmp_path / "catalog"
    home.mkdir()
    catalog.mkdir()
    (catalog / "aws.csv").write_text(CATALOG)
    settings = {"user": "root", "shutdown_command": "true"}
    (home / "config.yaml").write_text(yaml.safe_dump({"clouds": {"aws": settings}}))
    variables = {
        "TRAINWAY_CATALOG": str(catalog),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        **paired_cloud.variables(),
    }
    with installed(home, variables) as made:
        yield made
        made.run("down", "--all", "--yes")
