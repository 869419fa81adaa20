"""The same examples on this machine, on hosts and on Slurm. In pods: `test/kubernetes/node`."""

from collections.abc import Iterator

import pytest
from environments import TORCH, environment, require_mpirun
from example_table import EXAMPLES, HOSTS, LOCAL, SLURM, Example, Place, Yardstick
from failure_table import FAILURES, Failure, assert_it_is_told_as_documented
from installation import installed
from probe_table import SHELL, assert_a_job_finds_what_is_documented
from slurm_site import site_of
from ssh_pool import SshPool, pool_of, until

from slurm_cluster import SlurmCluster
from ssh_hosts import SshHosts
from trainway.agent.kubelet.control_group import ControlGroups

pytestmark = pytest.mark.engine  # torch
BACKENDS = [
    pytest.param("this_machine", id=LOCAL),
    pytest.param("hosts", id=HOSTS, marks=pytest.mark.xdist_group("ssh")),
    pytest.param("nodes", id=SLURM, marks=pytest.mark.xdist_group("slurm")),
]
"""The fixture of each."""
COLUMNS = {LOCAL: "local", HOSTS: "SSH hosts", SLURM: "Slurm"}


@pytest.fixture(scope="module")
def torch() -> dict[str, str]:
    """The variables of a shell that has all that examples need."""
    require_mpirun()
    return environment(*TORCH).variables() | {SHELL: "1"}


@pytest.fixture(scope="module")
def this_machine(
    torch: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Place]:
    with installed(tmp_path_factory.mktemp("local"), torch) as installation:
        yield Place(installation, LOCAL)


@pytest.fixture(scope="module")
def pool(
    torch: dict[str, str], ssh_hosts: SshHosts, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SshPool]:
    with pool_of(ssh_hosts, tmp_path_factory.mktemp("ssh"), torch) as made:
        yield made


@pytest.fixture
def hosts(pool: SshPool) -> Iterator[Place]:
    """At the end nothing of the jobs is left on them."""
    before = keys(pool)
    yield Place(pool, HOSTS, machines=2)
    listed = pool.json("jobs", "list", "--all")["items"]
    jobs = [job["metadata"]["id"] for job in listed if job["spec"]["backend"] == HOSTS]
    pool.run("jobs", "delete", *jobs)
    until(lambda: not any(pool.left_on_hosts(job) for job in jobs), "something is left")
    assert keys(pool) == before


@pytest.fixture(scope="module")
def nodes(
    torch: dict[str, str], slurm_cluster: SlurmCluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Place]:
    """What they give to a job that asks for no memory is too little for torch."""
    with site_of(slurm_cluster, tmp_path_factory.mktemp("slurm"), torch, mem="4G") as site:
        yield Place(site, SLURM, machines=2)


def keys(pool: SshPool) -> list[str]:
    return [host.authorized_keys.read_text() for host in pool.hosts.hosts]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_an_example_ends_alike_on_every_backend(
    example: Example, backend: str, yardstick: Yardstick, request: pytest.FixtureRequest
) -> None:
    place: Place = request.getfixturevalue(backend)

    on_this_machine = yardstick.result(place.installation, example)

    if place.on != LOCAL:
        assert place.result(example) == on_this_machine


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_job_finds_the_same_on_every_backend(
    backend: str, request: pytest.FixtureRequest
) -> None:
    place: Place = request.getfixturevalue(backend)

    assert_a_job_finds_what_is_documented(place, COLUMNS[place.on], is_limited=is_limited(place))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("failure", FAILURES, ids=str)
def test_a_failure_is_told_alike_on_every_backend(
    failure: Failure, backend: str, request: pytest.FixtureRequest
) -> None:
    place: Place = request.getfixturevalue(backend)
    if failure.name == "memory" and not is_limited(place):
        pytest.skip("no control group is delegated to this user, so that memory has no limit")

    assert_it_is_told_as_documented(failure, place)


def is_limited(place: Place) -> bool:
    """Whether memory limits hold: on Slurm they do in this cluster, elsewhere by control groups."""
    return place.on == SLURM or ControlGroups().available()
