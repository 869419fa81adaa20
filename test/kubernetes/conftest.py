"""What the tests on all clusters have: a namespace each, and no test that is left out unseen."""

from cluster.fixtures import (
    namespace,
    pytest_collection_modifyitems,
    pytest_runtest_call,
    pytest_runtest_makereport,
    pytest_runtest_setup,
)

__all__ = [
    "namespace",
    "pytest_collection_modifyitems",
    "pytest_runtest_call",
    "pytest_runtest_makereport",
    "pytest_runtest_setup",
]
