"""JobSets that are run with `--on k8s/test` end as recorded on a real Kubernetes.

The same cases run as plain Jobs, as on a cluster without JobSet.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest
import yaml
from cluster.access import Access
from cluster.images import BUSYBOX
from cluster.processes import wait_until
from installation import Installation, installed
from jobset_comparison import CASES, NAMES, Comparison

AT_ONCE: Final = 6
"""Some cases give a pod three to five seconds to start, whatever else runs on the machine."""
PATIENCE_S: Final = 180.0
LITERAL: Final = ("single", "what-a-container-is-told")

pytestmark = pytest.mark.skipif(not CASES.is_dir(), reason="no shared/conformance here")


@pytest.fixture
def compared(
    node_cluster: Access, namespace: str, tmp_path: Path
) -> Iterator[Callable[[str], Comparison]]:
    """Compares an installation whose context `test` is the cluster; sees what it leaves there."""
    homes: list[Installation] = []

    def make(form: str) -> Comparison:
        file = kubeconfig_with_test(node_cluster, namespace, tmp_path / "kubeconfig")
        variables = {"KUBECONFIG": str(file), "TRAINWAY_KUBERNETES_FORM": form}
        homes.append(Installation(tmp_path / "home", variables))
        return Comparison(homes[0], "k8s/test", BUSYBOX, AT_ONCE)

    yield make
    for home in homes:
        with installed(home.home, home.variables):
            pass
    kinds = "jobsets,jobs,pods,services,configmaps,secrets"
    place = ("-n", namespace, "-l", "trainway.dev/job-id")
    assert wait_until(lambda: not node_cluster.get(kinds, *place)["items"], PATIENCE_S)


@pytest.mark.parametrize("form", ["jobset", "jobs"])
def test_jobsets_behave_as_recorded(form: str, compared: Callable[[str], Comparison]) -> None:
    assert compared(form).differences(NAMES) == {}


def test_the_comparison_itself_agrees_over_the_command_line(
    compared: Callable[[str], Comparison],
) -> None:
    with compared("").literally(*LITERAL):
        pass


def kubeconfig_with_test(cluster: Access, namespace: str, file: Path) -> Path:
    """A kubeconfig whose context `test` is the cluster and the namespace."""
    config = yaml.safe_load(cluster.kubeconfig.read_text())
    chosen = next(each for each in config["contexts"] if each["name"] == config["current-context"])
    context = {**chosen["context"], "namespace": namespace}
    config["contexts"] = [{"name": "test", "context": context}]
    file.write_text(yaml.safe_dump({**config, "current-context": "test"}))
    return file
