"""The examples end alike on this machine and on hosts, each on several of them."""

from collections.abc import Iterator

import pytest
from environments import TORCH, environment, require_mpirun
from example_table import EXAMPLES, HOSTS, LOCAL, Example, Place
from ssh_pool import SshPool, pool_of, until

from ssh_hosts import SshHosts

pytestmark = pytest.mark.xdist_group("ssh")


@pytest.fixture(scope="module")
def home(ssh_hosts: SshHosts, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SshPool]:
    require_mpirun()
    variables = environment(*TORCH).variables()
    with pool_of(ssh_hosts, tmp_path_factory.mktemp("home"), variables) as pool:
        yield pool


@pytest.fixture(scope="module")
def places(home: SshPool) -> dict[str, Place]:
    return {on: Place(home, on) for on in (LOCAL, HOSTS)}


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_an_example_ends_alike_on_hosts(
    example: Example, home: SshPool, places: dict[str, Place]
) -> None:
    before = [host.authorized_keys.read_text() for host in home.hosts.hosts]

    result = places[HOSTS].result(example)

    assert result == places[LOCAL].result(example)
    jobs = home.json("jobs", "list", "--all", "--name", example.name)["items"]
    (job,) = (each["metadata"]["id"] for each in jobs if home.placed(each["metadata"]["id"]))
    assert len(set(home.placements(job)[0].values())) >= 2
    home.run("jobs", "delete", job)
    until(lambda: home.left_on_hosts(job) == [], "something is left")
    assert [host.authorized_keys.read_text() for host in home.hosts.hosts] == before
