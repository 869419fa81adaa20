"""A search over hyperparameters in real pods, whose trials report a loss."""

import sys
from pathlib import Path
from typing import Final

from node_operator import NodeOperator, host_runtime

from trainway.json_types import Json

PYTHON: Final = str(Path(sys.base_prefix, "bin", "python3"))
TRAINING: Final = """
import json, os, ssl, urllib.request
rate = float(os.environ["KUBEFLOW_TRAINER_OPT_LR"])
metrics = [{"name": "loss", "value": str((rate - 3) ** 2)}]
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
    space = {"categorical": {"choices": ["1", "2", "3", "4"]}}
    trainer = {"numNodes": 1, "numProcPerNode": 1, "command": [PYTHON, "-c", TRAINING]}
    reference = {"name": "plain", "kind": "TrainingRuntime"}
    search: Json = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "OptimizationJob",
        "metadata": {"name": "search"},
        "spec": {
            "objectives": [{"metric": "loss"}],
            "searchAlgorithm": {"grid": {}},
            "parameters": [{"name": "lr", "searchSpace": space}],
            "numTrials": 4,
            "parallelTrials": 2,
            "trainJobTemplate": {"spec": {"runtimeRef": reference, "trainer": trainer}},
        },
    }
    node_operator.create(namespace, host_runtime("torch-distributed", "plain"), search)
    complete = node_operator.wait_condition("optimizationjob", namespace, "search", "Complete")
    assert complete["reason"] == "MaxTrialsReached"
    assert complete["message"] == ("4 trials: 4 succeeded; search-2 is the best, with loss 0")
    found = node_operator.job("optimizationjob", namespace, "search") or {}
    assert found["status"]["result"] == {
        "trainJobName": "search-2",
        "parameters": [{"name": "lr", "value": "3"}],
    }
    node_operator.cluster.kubectl("delete", "optimizationjob", "search", "-n", namespace)
    node_operator.wait(
        namespace,
        lambda: not node_operator.cluster.get("trainjobs,pods", "-n", namespace)["items"],
        "the trials are removed with the search",
    )
