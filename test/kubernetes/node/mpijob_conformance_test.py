"""MPIJobs on a cluster end as MPI Operator's do: the recorded cases of the conformance suite.

The folder is `shared/conformance` beside the repository. Its own comparison decides what counts as
different.
"""

import subprocess
import sys
from typing import Final

import pytest
from cluster.access import REPOSITORY
from cluster.images import BUSYBOX
from node_operator import NodeOperator

FOLDER: Final = REPOSITORY.parent / "shared" / "conformance"
CASES: Final = FOLDER / "mpijob-behaviour"


@pytest.mark.skipif(not CASES.is_dir(), reason="no shared/conformance beside the repository")
def test_mpijobs_behave_as_recorded(node_operator: NodeOperator) -> None:
    cluster = node_operator.cluster
    done = subprocess.run(
        [
            sys.executable,
            str(FOLDER / "compare_mpijob_behaviour.py"),
            *("--kubectl", f"{cluster.bin / 'kubectl'} --kubeconfig {cluster.kubeconfig}"),
            *("--image", BUSYBOX, "--jobs", "2"),
            str(CASES),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout[-4000:]}\n{done.stderr[-2000:]}"
