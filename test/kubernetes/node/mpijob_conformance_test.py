"""MPIJobs on a cluster end as MPI Operator's do: the recorded cases of the conformance suite.

The folder is `shared/conformance` beside the repository. Its own comparison decides what counts as
different.
"""

import logging
import re
import subprocess
import sys
from typing import Final

import pytest
from cluster.access import REPOSITORY, Access
from cluster.images import BUSYBOX
from cluster.processes import wait_until
from jobset_comparison import AGAIN
from node_operator import PATIENCE_S, NodeOperator

log = logging.getLogger(__name__)

FOLDER: Final = REPOSITORY.parent / "shared" / "conformance"
CASES: Final = FOLDER / "mpijob-behaviour"


DIFFERENT: Final = re.compile(r"^FAIL (\S+)$", re.MULTILINE)
"""How the comparison names a case."""


@pytest.mark.skipif(not CASES.is_dir(), reason="no shared/conformance beside the repository")
def test_mpijobs_behave_as_recorded(node_operator: NodeOperator) -> None:
    """A case that differs is run again alone: some give a pod a few seconds to start."""
    cluster = node_operator.cluster
    done = compare(cluster, "--jobs", "2")
    for _ in range(AGAIN):
        if names := DIFFERENT.findall(done.stdout):
            log.warning("These cases differ, and are run again: %s", done.stdout)
            assert wait_until(lambda: not namespaces_of_cases(cluster), PATIENCE_S)
            again = [word for name in names for word in ("--case", name)]
            done = compare(cluster, "--jobs", "1", *again)
    assert done.returncode == 0, f"{done.stdout[-4000:]}\n{done.stderr[-2000:]}"


def compare(cluster: Access, *options: str) -> subprocess.CompletedProcess[str]:
    """Run the comparison."""
    words = [
        sys.executable,
        str(FOLDER / "compare_mpijob_behaviour.py"),
        *("--kubectl", f"{cluster.bin / 'kubectl'} --kubeconfig {cluster.kubeconfig}"),
        *("--image", BUSYBOX),
        *options,
        str(CASES),
    ]
    return subprocess.run(words, capture_output=True, text=True, check=False)


def namespaces_of_cases(cluster: Access) -> list[str]:
    """Those that the comparison has made, and that are not gone yet."""
    names = (item["metadata"]["name"] for item in cluster.get("namespaces")["items"])
    return [name for name in names if name.startswith("mpi-")]
