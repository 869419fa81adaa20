"""Jobs on AWS get credentials that expire soon, if those are asked for; nobody else sees them."""

import json
import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from installation import Installation
from moto_cloud import MotoCloud
from renting_user import renting_user

from ssh_hosts import SshHosts
from trainway.providers.aws.provider import AwsProvider

pytestmark = pytest.mark.xdist_group("ssh")
ROLE = "arn:aws:iam::123456789012:role/training"


@pytest.mark.parametrize("wanted", ["session", ROLE])
def test_aws_gives_tokens_for_an_hour(aws: AwsProvider, wanted: str) -> None:
    found = aws.job_credentials({"job_credentials": wanted}, "dev")

    assert found is not None
    assert timedelta(minutes=55) < found.expires - datetime.now(UTC) < timedelta(minutes=65)
    assert json.loads(found.files["aws.json"])["SessionToken"]


def test_nothing_is_given_unless_it_is_asked_for(aws: AwsProvider, moto_cloud: MotoCloud) -> None:
    before = moto_cloud.calls()
    assert aws.job_credentials({"vpc": "vpc-1"}, "dev") is None
    assert moto_cloud.calls() == before


@pytest.fixture
def user(paired_cloud: MotoCloud, tmp_path: Path) -> Iterator[Installation]:
    """Somebody whose jobs may use a token."""
    with renting_user(paired_cloud, tmp_path, settings={"job_credentials": "session"}) as made:
        yield made


def test_a_job_finds_them_and_nobody_else(user: Installation, ssh_hosts: SshHosts) -> None:
    program = 'cat "$AWS_CONFIG_FILE"; env | grep -c AWS_; ls -l "$(dirname "$AWS_CONFIG_FILE")"'
    options = ["-c", "dev", "--infra", "aws", "--cpus", "2"]
    said = user.run("launch", "-y", *options, program)
    assert "credential_process = cat" in said
    assert "-rw------- " in said
    shown = user.run("jobs", "show", user.json("jobs", "list")["items"][0]["metadata"]["id"])

    pattern = ".trainway/host/*/credentials/aws.json"
    (file,) = [path for host in ssh_hosts.hosts for path in host.home.glob(pattern)]
    secret = json.loads(file.read_text())["SecretAccessKey"].encode()
    kept = [Path(folder, name) for folder, _, names in os.walk(user.home) for name in names]
    assert [path for path in kept if path.is_file() and secret in path.read_bytes()] == []
    assert secret.decode() not in said + shown
