"""Rented machines that were given their host key: the first who answers is not just believed."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from installation import Installation
from moto_cloud import MotoCloud
from renting_user import renting_user

pytestmark = pytest.mark.xdist_group("ssh")


@pytest.fixture
def user(paired_cloud: MotoCloud, tmp_path: Path) -> Iterator[Installation]:
    """Somebody whose machines start with a host key of his."""
    with renting_user(paired_cloud, tmp_path, settings={"host_keys": "given"}) as made:
        yield made


def test_machines_are_known_before_the_first_contact(
    user: Installation, paired_cloud: MotoCloud
) -> None:
    said = user.run(
        "launch", "-y", "-c", "dev", "--infra", "aws", "--cpus", "2", "--", "echo", "it is me"
    )
    assert "it is me" in said
    folder = user.home / "clouds"
    (private,) = folder.glob("host_key-*")
    assert private.stat().st_mode & 0o777 == 0o600
    (known,) = folder.glob("known_hosts-*")
    assert known.read_text().startswith("* ssh-ed25519 "), "nothing was learned from who answered"
    secret = private.read_text().splitlines()[2]
    for path in user.home.rglob("*"):
        if path.is_file() and path != private:
            assert secret.encode() not in path.read_bytes(), path

    user.run("down", "dev", "-y")
    assert paired_cloud.living() == []
    assert not [*folder.glob("host_key-*"), *folder.glob("known_hosts-*")]
