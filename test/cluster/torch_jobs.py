"""The smallest TrainJobs there are, for tests of operators as processes."""

import pytest
from cluster.access import Access
from operator_process import ensure_namespace

from trainway.json_types import Json
from trainway.kube.resources import TRAINING_RUNTIMES, TRAINJOBS
from trainway.runtimes import builtin_runtime

RUNTIME = "torch-distributed"


@pytest.fixture
def torch_runtime(api_cluster: Access, namespace: str) -> None:
    """All kinds, the operator's namespace, and the runtime of the jobs in the test's own."""
    api_cluster.install_jobset_crds()
    api_cluster.install_our_crds()
    ensure_namespace(api_cluster)
    found = builtin_runtime(RUNTIME)
    assert found is not None
    api_cluster.apply({**found, "kind": TRAINING_RUNTIMES.kind}, namespace=namespace)


def torch_job(name: str) -> Json:
    """A TrainJob of that runtime."""
    return {
        "apiVersion": TRAINJOBS.api_version,
        "kind": TRAINJOBS.kind,
        "metadata": {"name": name},
        "spec": {"runtimeRef": {"name": RUNTIME, "kind": TRAINING_RUNTIMES.kind}},
    }
