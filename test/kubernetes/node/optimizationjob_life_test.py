"""A search over hyperparameters in real pods, whose trials report a loss."""

import sys
from pathlib import Path
from typing import Final

from node_operator import NodeOperator, host_runtime

from trainway.operator.optimizationjobs.testing import search

PYTHON: Final = str(Path(sys.base_prefix, "bin", "python3"))
TRAINING: Final = """
import json, os, ssl, urllib.request
rate = float(os.environ["KUBEFLOW_TRAINER_OPT_LR"])
metrics = [{"name": "loss", "value": str((rate - 2) ** 2)}]
status = {"progressPercentage": 100, "metrics": metrics, "lastUpdatedTime": "2026-01-31T12:00:00Z"}
token = open(os.environ["KUBEFLOW_TRAINER_SERVER_TOKEN"]).read()
request = urllib.request.Request(
    os.environ["KUBEFLOW_TRAINER_SERVER_URL"],
    json.dumps({"trainerStatus": status}).encode(),
    {"Authorization": "Bearer " + token, "Content-Type": "application/json"},
)
trusted = ssl.create_default_context(cafile=os.environ["KUBEFLOW_TRAINER_SERVER_CA_CERT"])
print(urllib.request.urlopen(request, context=trusted).status)
"""


def test_a_search_of_four_trials_ends_and_says_which_was_best(
    node_operator: NodeOperator, namespace: str
) -> None:
    trainer = {"numNodes": 1, "numProcPerNode": 1, "command": [PYTHON, "-c", TRAINING]}
    reference = {"name": "plain", "kind": "TrainingRuntime"}
    template = {"spec": {"runtimeRef": reference, "trainer": trainer}}
    wanted = search(4, "search", trainJobTemplate=template)
    node_operator.create(namespace, host_runtime("torch-distributed", "plain"), wanted)
    complete = node_operator.wait_condition("optimizationjob", namespace, "search", "Complete")
    assert complete["reason"] == "MaxTrialsReached"
    assert complete["message"] == ("4 trials: 4 succeeded; search-2 is the best, with loss 0")
    found = node_operator.job("optimizationjob", namespace, "search") or {}
    assert found["status"]["result"] == {
        "trainJobName": "search-2",
        "parameters": [{"name": "lr", "value": "2"}],
    }
    node_operator.cluster.kubectl("delete", "optimizationjob", "search", "-n", namespace)
    node_operator.wait(
        namespace,
        lambda: not node_operator.cluster.get("trainjobs,pods", "-n", namespace)["items"],
        "the trials are removed with the search",
    )
