"""The cluster fixtures, for the tests in this folder."""

from cluster.fixtures import (
    api_cluster,
    namespace,
    node_cluster,
    pytest_collection_modifyitems,
    pytest_runtest_call,
    pytest_runtest_makereport,
    pytest_runtest_setup,
)
from node_operator import node_operator
from trainjob_world import trainjob_cluster, world

__all__ = [
    "api_cluster",
    "namespace",
    "node_cluster",
    "node_operator",
    "pytest_collection_modifyitems",
    "pytest_runtest_call",
    "pytest_runtest_makereport",
    "pytest_runtest_setup",
    "trainjob_cluster",
    "world",
]
