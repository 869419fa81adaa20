"""An API server that belongs to the test: it can be killed, and all of its keys are known."""

import asyncio

import pytest
from cluster.access import Access
from cluster.control_plane import ControlPlane


def own(cluster: Access) -> ControlPlane:
    """The cluster as one that the test may hurt; of another the test does not run."""
    if not isinstance(cluster, ControlPlane):
        pytest.skip("cannot stop the API server of an existing cluster")
    return cluster


async def restart(cluster: ControlPlane) -> None:
    """Kill the API server and start it again; by this thread, for it dies with its thread."""
    cluster.kill_api_server()
    cluster.launch_api_server()
    await asyncio.to_thread(cluster.wait_for_api_server)
