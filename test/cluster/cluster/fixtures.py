"""The clusters as pytest fixtures: one for many tests, a fresh namespace per test.

Where a cluster cannot be had its tests are skipped with the reason; in CI they fail, whatever the
reason of the skip, so that no cluster test is left out unseen.
"""

import os
import uuid
from collections.abc import Collection, Generator, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Final, NoReturn

import pytest

from cluster.access import REPOSITORY, Access, ExistingCluster
from cluster.control_plane import ControlPlane
from cluster.kueue import require_kueue, start_kueue
from cluster.kwok import KwokCluster
from cluster.leader_worker_sets import leader_worker_sets, require_leader_worker_sets
from cluster.node import NodeCluster
from cluster.scheduler_plugins import require_gang_scheduler, start_gang_scheduler
from cluster.unavailable import UnavailableError

TESTS: Final = REPOSITORY / "test" / "kubernetes"
SHARED: Final = ("api_cluster", "upstream_cluster", "kwok_cluster", "kueue")
"""Fixtures that take long to start and are used by several files."""
LONG: Final = (
    *("api_cluster", "kwok_cluster"),
    *("cluster_faults_test", "chart_life_test", "permissions_test"),
    "kueue",
    "backend_moving_test",
    "jobset_conformance_test",
    "examples_in_pods_test",
    "backend_life_test",
    "kubeflow_sdk_test",
    "backend_files_test",
    "mpijob_conformance_test",
    "mpi_test",
    "backend_logs_test",
    "backend_outage_test",
)
"""Groups of tests that take long, the longest first; before them those with clusters of their own,
since the cluster of the others is not there yet."""
IN_CI: Final = os.environ.get("CI") == "true"
ON_EXISTING: Final = os.environ.get("TRAINWAY_TEST_CLUSTER") == "existing"


@pytest.fixture(scope="package")
def api_cluster() -> Iterator[Access]:
    """etcd and an API server, or the existing cluster."""
    yield from running(ControlPlane)


@pytest.fixture(scope="session")
def node_cluster() -> Iterator[Access]:
    """A whole cluster that runs pods, with the JobSet controller; or the existing cluster."""
    yield from running(NodeCluster)


@pytest.fixture(scope="package")
def kwok_cluster() -> Iterator[KwokCluster]:
    """A cluster of nodes that only pretend."""
    if ON_EXISTING:
        raise UnavailableError("an existing cluster has nodes of its own")
    with KwokCluster() as cluster:
        yield cluster


@pytest.fixture(scope="session")
def kueue(node_cluster: Access) -> Access:
    """The node cluster with Kueue, which stays for the rest of the session."""
    if isinstance(node_cluster, ControlPlane):
        node_cluster.install_our_crds()
        start_kueue(node_cluster)
    else:
        require_kueue(node_cluster)
    return node_cluster


@pytest.fixture(scope="session")
def gang_scheduler(node_cluster: Access) -> Access:
    """The node cluster with a scheduler that places gangs, which stays for the session."""
    if isinstance(node_cluster, ControlPlane):
        start_gang_scheduler(node_cluster)
    else:
        require_gang_scheduler(node_cluster)
    return node_cluster


@pytest.fixture(scope="module")
def grouping(node_cluster: Access) -> Iterator[Access]:
    """The node cluster with LeaderWorkerSet, which goes with the last test of the module."""
    if isinstance(node_cluster, ControlPlane):
        with leader_worker_sets(node_cluster):
            yield node_cluster
    else:
        require_leader_worker_sets(node_cluster)
        yield node_cluster


def running(size: type[ControlPlane]) -> Iterator[Access]:
    """A cluster of this size for as long as the fixture lives."""
    if ON_EXISTING:
        yield ExistingCluster()
        return
    cluster = size()
    cluster.start()
    try:
        yield cluster
    finally:
        cluster.stop()


@pytest.fixture
def namespace(request: pytest.FixtureRequest) -> Iterator[str]:
    """A namespace of its own on the cluster that the test uses."""
    larger = [each for each in ("node_cluster", "kwok_cluster") if each in request.fixturenames]
    cluster: Access = request.getfixturevalue(larger[0] if larger else "api_cluster")
    with fresh_namespace(cluster) as name:
        yield name


@contextmanager
def fresh_namespace(cluster: Access) -> Iterator[str]:
    """A namespace that nobody else has; its content is deleted in the background."""
    name = f"test-{uuid.uuid4().hex[:10]}"
    cluster.create_namespace(name)
    try:
        yield name
    finally:
        cluster.delete_namespace(name)


def unavailable(reason: str) -> NoReturn:
    """Skip the test; in CI fail it."""
    if IN_CI:
        pytest.fail(f"cannot be had: {reason}")
    pytest.skip(f"cannot be had: {reason}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup() -> Generator[None, None, None]:
    """What a fixture cannot get is a reason to skip."""
    with skipping():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None, None, None]:
    """What a test cannot get is a reason to skip."""
    with skipping():
        return (yield)


@contextmanager
def skipping() -> Iterator[None]:
    try:
        yield
    except UnavailableError as error:
        unavailable(str(error))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """In CI a cluster test that is skipped has failed, unless the test itself says when it is."""
    report = yield
    if IN_CI and report.skipped and item.get_closest_marker("skipif") is None:
        report.outcome = "failed"
    return report


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Say which tests go to one worker: each worker has clusters of its own.

    They are a group for all tests that start the same part of a cluster, or else for each file.
    Those groups come first that take longest: else a worker that gets one last is waited for by
    all others.
    """
    own = {item: shared_by(getattr(item, "fixturenames", ())) for item in items}
    of_file = {item.path: name for item, name in own.items() if name}
    groups: dict[pytest.Item, str] = {}
    for item in items:
        if is_cluster_test(item.path):
            groups[item] = own[item] or of_file.get(item.path) or item.path.stem
            item.add_marker(pytest.mark.xdist_group(groups[item]))
    ranks = {group: rank for rank, group in enumerate(LONG)}
    items.sort(key=lambda item: ranks.get(groups.get(item, ""), len(ranks)))


@cache
def is_cluster_test(path: Path) -> bool:
    """Whether a file has tests of a cluster; asked for each of thousands of tests."""
    return TESTS in path.parents


def shared_by(fixtures: Collection[str]) -> str:
    """The first of the shared fixtures that is among these; empty if there is none."""
    return next((name for name in SHARED if name in fixtures), "")
