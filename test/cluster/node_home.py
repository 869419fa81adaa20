"""The command line on the node cluster: an installation for each module, and how --on names it."""

from collections.abc import Iterator

import pytest
from cluster.access import Access
from cluster.identities import CONTEXT
from installation import Installation, installed


@pytest.fixture(scope="module")
def home(node_cluster: Access, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """A Trainway whose server reaches the cluster; modules that need more have their own."""
    variables = {"KUBECONFIG": str(node_cluster.kubeconfig)}
    with installed(tmp_path_factory.mktemp("home"), variables) as installation:
        yield installation


@pytest.fixture
def on(host_namespace: str) -> str:
    """A namespace whose pods have this machine's programs, as --on names it."""
    return f"k8s/{CONTEXT}/{host_namespace}"
