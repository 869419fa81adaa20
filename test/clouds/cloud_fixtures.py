"""The clouds as pytest fixtures. Without moto tests are skipped; in CI they fail."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from installation import Installation
from moto_cloud import MotoCloud, moto_process, paired
from renting_user import renting_user

from ssh_hosts import SshHosts

if TYPE_CHECKING:
    from trainway.providers.aws.provider import AwsProvider


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
    with renting_user(paired_cloud, tmp_path) as made:
        yield made
