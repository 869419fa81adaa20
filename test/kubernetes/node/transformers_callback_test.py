"""The callback that transformers brings along reports to our status server, from inside a pod."""

from pathlib import Path

from cluster.access import REPOSITORY
from node_operator import NodeOperator, trainjob

from trainway.json_types import Json

PROGRAM = Path(__file__).with_name("tiny_transformer.py").relative_to(REPOSITORY)


def test_progress_of_transformers_is_in_the_status(
    node_operator: NodeOperator, host_namespace: str, builtin_runtimes: None
) -> None:
    job = trainjob("tiny", "torch-distributed", {"command": ["python", str(PROGRAM)]})
    job["spec"]["runtimeRef"]["kind"] = "ClusterTrainingRuntime"
    node_operator.create(host_namespace, job)

    def told() -> Json:
        found = node_operator.job("trainjob", host_namespace, "tiny") or {}
        status: Json = found.get("status", {}).get("trainerStatus", {})
        return status

    node_operator.wait(
        host_namespace, lambda: told().get("progressPercentage") == 0, "the start is reported"
    )
    assert metrics(told()) == {"total_steps": "8"}
    (pod,) = node_operator.wait_running(host_namespace, 1)
    node_operator.cluster.open_gate(pod, "/tmp/seen")
    node_operator.wait(
        host_namespace, lambda: told().get("progressPercentage") == 62, "step 5 of 8 is reported"
    )
    halfway = metrics(told())
    assert (halfway["current_step"], halfway["total_steps"]) == ("5", "8")
    assert float(halfway["loss"]) > 0
    assert told()["estimatedRemainingSeconds"] > 0

    node_operator.cluster.open_gate(pod, "/tmp/open")
    node_operator.wait_condition("trainjob", host_namespace, "tiny", "Complete")
    assert (told()["progressPercentage"], told()["estimatedRemainingSeconds"]) == (100, 0)
    assert float(metrics(told())["train_loss"]) > 0


def metrics(status: Json) -> dict[str, str]:
    return {each["name"]: each["value"] for each in status.get("metrics", ())}
