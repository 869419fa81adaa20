"""The clusters as pytest fixtures: one per test session, a fresh namespace per test.

Where a cluster cannot be had its tests are skipped with the reason; in CI they fail, whatever the
reason of the skip, so that no cluster test is left out unseen.
"""

import os
import uuid
from collections.abc import Generator, Iterator
from typing import Final, NoReturn

import pytest

from cluster.access import Access, ExistingCluster
from cluster.control_plane import ControlPlane
from cluster.node import NodeCluster
from cluster.unavailable import UnavailableError

IN_CI: Final = os.environ.get("CI") == "true"
ON_EXISTING: Final = os.environ.get("TRAINWAY_TEST_CLUSTER") == "existing"


@pytest.fixture(scope="session")
def api_cluster() -> Iterator[Access]:
    """etcd and an API server, or the existing cluster."""
    yield from running(ControlPlane)


@pytest.fixture(scope="session")
def node_cluster() -> Iterator[Access]:
    """A whole cluster that runs pods, with the JobSet controller; or the existing cluster."""
    yield from running(NodeCluster)


def running(size: type[ControlPlane]) -> Iterator[Access]:
    """A cluster of this size for as long as the fixture lives."""
    try:
        if ON_EXISTING:
            yield ExistingCluster()
            return
        cluster = size()
        cluster.start()
    except UnavailableError as error:
        unavailable(str(error))
    try:
        yield cluster
    finally:
        cluster.stop()


@pytest.fixture
def namespace(request: pytest.FixtureRequest) -> Iterator[str]:
    """A namespace of its own on the cluster that the test uses."""
    uses_node = "node_cluster" in request.fixturenames
    cluster: Access = request.getfixturevalue("node_cluster" if uses_node else "api_cluster")
    name = f"test-{uuid.uuid4().hex[:10]}"
    cluster.kubectl("create", "namespace", name)
    yield name
    cluster.kubectl("delete", "namespace", name, "--wait=false")


def unavailable(reason: str) -> NoReturn:
    """Skip the test; in CI fail it."""
    if IN_CI:
        pytest.fail(f"cannot be had: {reason}")
    pytest.skip(f"cannot be had: {reason}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """In CI a skipped cluster test is a failed one."""
    report = yield
    if IN_CI and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
    return report


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All tests of the API server go to one worker, which has the one cluster of the run."""
    for item in items:
        if "api_cluster" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.xdist_group("api-cluster"))
