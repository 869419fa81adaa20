"""Machines of the AWS of tests are hosts: they let our key in, and lose everything at their end."""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from moto_cloud import REGION, MotoCloud
from patience import PATIENCE_S, until

from ssh_hosts import SshHosts, generate_key
from trainway.providers.aws.provider import AwsProvider
from trainway.providers.base import GangRequest, Machine, Place
from trainway.providers.contract_testing import OWNER, gang, ids
from trainway.providers.errors import ProviderError, Trouble

pytestmark = pytest.mark.xdist_group("ssh")
OPTIONS = {
    "BatchMode": "yes",
    "StrictHostKeyChecking": "no",
    "UserKnownHostsFile": "/dev/null",
    "ConnectTimeout": "5",
    "ServerAliveInterval": "1",  # a machine that ends says nothing to those who are on it
}


@pytest.fixture
def aws(paired_cloud: MotoCloud, monkeypatch: pytest.MonkeyPatch) -> AwsProvider:
    for name, value in paired_cloud.variables().items():
        monkeypatch.setenv(name, value)
    return AwsProvider()


@pytest.fixture
def key(tmp_path: Path) -> Path:
    """The key of a server, which no host knows yet."""
    path = tmp_path / "key"
    generate_key(path)
    return path


def wanted(key: Path, count: int) -> GangRequest:
    public = key.with_suffix(".pub").read_text()
    request = gang(Place(REGION, f"{REGION}a"), "m5.large", count)
    return replace(request, public_key=public, settings={"user": "root"})


def ssh(machine: Machine, key: Path, command: str) -> str | None:
    """What a command says there; None: one cannot get in."""
    options = [f"-o{name}={value}" for name, value in OPTIONS.items()]
    where = f"{machine.user}@{machine.public_address}"
    done = subprocess.run(
        ["ssh", "-F", "/dev/null", *options, "-i", str(key), where, command],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    return done.stdout.strip() if done.returncode == 0 else None


def test_a_gang_of_four_is_four_hosts(
    aws: AwsProvider, paired_cloud: MotoCloud, ssh_hosts: SshHosts, key: Path
) -> None:
    made = aws.create(wanted(key, 4))
    names = [ssh(each, key, "hostname; sleep 600 >/dev/null 2>&1 & touch left") for each in made]
    assert sorted(filter(None, names)) == ["h0", "h1", "h2", "h3"]
    with pytest.raises(ProviderError) as caught:
        aws.create(wanted(key, 1))
    assert caught.value.trouble is Trouble.CAPACITY

    paired_cloud.take(made[2].id)
    replacement = wanted(key, 1)
    (again,) = aws.create(replacement)
    assert again.public_address == made[2].public_address
    assert ssh(again, key, "ls") == ""
    host = next(each for each in ssh_hosts.hosts if each.address == again.public_address)
    assert [each for each in host.processes() if "600" in each.words] == []
    assert len(aws.find(REGION, OWNER)) == 4

    aws.end(REGION, ids(aws.find(REGION, OWNER)))
    until(
        lambda: all(ssh(each, key, "true") is None for each in made),
        "hosts still let in the key of machines that are ended",
    )


def test_a_stopped_machine_is_off_and_keeps_its_files(
    aws: AwsProvider, ssh_hosts: SshHosts, key: Path
) -> None:
    (machine,) = aws.create(replace(wanted(key, 1), ends_by_shutdown=False))
    host = next(each for each in ssh_hosts.hosts if each.address == machine.public_address)
    assert ssh(machine, key, "touch kept") == ""
    aws.stop(REGION, [machine.id])
    until(lambda: not host.is_on, "the host of a stopped machine is on")
    aws.start(REGION, [machine.id])
    until(lambda: ssh(machine, key, "ls") == "kept", "a started machine has lost its files")
