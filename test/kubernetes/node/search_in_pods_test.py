"""Searches whose trials are jobs in pods: see `test/e2e/search_scenario.py`."""

from pathlib import Path

import pytest
from cluster.access import Access
from cluster.identities import CONTEXT
from installation import installed
from search_scenario import assert_two_searches_run


@pytest.mark.usefixtures("node_operator", "builtin_runtimes")
def test_searches_in_pods(node_cluster: Access, host_namespace: str, tmp_path: Path) -> None:
    on = f"k8s/{CONTEXT}/{host_namespace}"
    with installed(tmp_path / "home", {"KUBECONFIG": str(node_cluster.kubeconfig)}) as home:
        assert_two_searches_run(home, on, tmp_path)
