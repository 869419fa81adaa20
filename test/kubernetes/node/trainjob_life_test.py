"""The life of a TrainJob in real pods: restart, suspension, deadline, time to live."""

from node_operator import NodeOperator, shell_runtime, trainjob
from shell_jobsets import HEARS

from trainway.json_types import Json

# Ends with the status of its child, which a test can kill; the first process of a pod it cannot.
FOREVER = {"numNodes": 2, "command": ["sh", "-c", f"{HEARS}; sleep 600 & wait $!"]}


def uids(pods: list[Json]) -> set[str]:
    return {pod["metadata"]["uid"] for pod in pods}


def kill(operator: NodeOperator, namespace: str, pod: Json) -> None:
    """Kill what a pod runs, as a crash would."""
    name = pod["metadata"]["name"]
    script = "kill -9 $(pidof sleep)"
    operator.cluster.kubectl("exec", "-n", namespace, name, "--", "sh", "-c", script)


def test_a_killed_pod_restarts_the_gang_as_often_as_the_failure_policy_allows(
    node_operator: NodeOperator, namespace: str
) -> None:
    node_operator.create(
        namespace,
        shell_runtime("gang", {"maxRestarts": 1}),
        trainjob("gang", "gang", FOREVER),
    )
    first = node_operator.wait_running(namespace, 2)
    kill(node_operator, namespace, first[0])

    node_operator.wait(
        namespace,
        lambda: not uids(first) & uids(node_operator.pods(namespace)),
        "both pods are replaced, not only the one that failed",
    )
    second = node_operator.wait_running(namespace, 2)
    jobset = node_operator.cluster.get("jobset", "gang", "-n", namespace)
    assert jobset["status"]["restarts"] == 1
    job = node_operator.job("trainjob", namespace, "gang") or {}
    assert not [c for c in job["status"].get("conditions", []) if c["type"] == "Failed"]

    kill(node_operator, namespace, second[1])
    failed = node_operator.wait_condition("trainjob", namespace, "gang", "Failed")
    assert failed["reason"] == "ReachedMaxRestarts"


def test_a_suspended_job_has_no_pods_until_it_is_resumed(
    node_operator: NodeOperator, namespace: str
) -> None:
    node_operator.create(namespace, shell_runtime("shell"), trainjob("pausing", "shell", FOREVER))
    first = node_operator.wait_running(namespace, 2)

    patch(node_operator, namespace, "pausing", '{"spec": {"suspend": true}}')
    node_operator.wait_condition("trainjob", namespace, "pausing", "Suspended")
    node_operator.wait(namespace, lambda: not node_operator.pods(namespace), "no pods are left")

    patch(node_operator, namespace, "pausing", '{"spec": {"suspend": false}}')
    node_operator.wait_condition("trainjob", namespace, "pausing", "Suspended", "False")
    second = node_operator.wait_running(namespace, 2)
    assert not uids(first) & uids(second)


def test_a_job_past_its_deadline_fails_and_its_pods_end(
    node_operator: NodeOperator, namespace: str
) -> None:
    node_operator.create(
        namespace,
        shell_runtime("shell"),
        trainjob("late", "shell", FOREVER, activeDeadlineSeconds=10),
    )
    node_operator.wait(
        namespace,
        lambda: both_run(node_operator, namespace) or has_failed(node_operator, namespace, "late"),
        "both pods run, unless that takes longer than the deadline",
    )
    failed = node_operator.wait_condition("trainjob", namespace, "late", "Failed")
    assert failed["reason"] == "DeadlineExceeded"
    node_operator.wait(namespace, lambda: not node_operator.pods(namespace), "no pods are left")


def both_run(operator: NodeOperator, namespace: str) -> bool:
    return [pod["status"]["phase"] for pod in operator.pods(namespace)] == ["Running"] * 2


def has_failed(operator: NodeOperator, namespace: str, name: str) -> bool:
    job = operator.job("trainjob", namespace, name) or {}
    return any(each["type"] == "Failed" for each in job.get("status", {}).get("conditions", []))


def test_a_finished_job_is_removed_with_all_it_made_after_its_time_to_live(
    node_operator: NodeOperator, namespace: str
) -> None:
    job = trainjob("brief", "shell", {"numNodes": 1, "command": ["true"]})
    job["metadata"]["annotations"] = {"trainway.dev/ttl-seconds-after-finished": "8"}
    node_operator.create(namespace, shell_runtime("shell"), job)
    node_operator.wait_condition("trainjob", namespace, "brief", "Complete")

    node_operator.wait(
        namespace,
        lambda: node_operator.job("trainjob", namespace, "brief") is None,
        "the TrainJob is removed",
    )
    node_operator.wait(
        namespace,
        lambda: not node_operator.cluster.get("jobsets,jobs,pods", "-n", namespace)["items"],
        "JobSet, Jobs and pods are removed with it",
    )


def patch(operator: NodeOperator, namespace: str, name: str, body: str) -> None:
    arguments = ("patch", "trainjob", name, "-n", namespace, "--type=merge", "-p", body)
    operator.cluster.kubectl(*arguments)


def test_pods_that_cannot_be_made_are_told_on_the_trainjob(
    node_operator: NodeOperator, namespace: str
) -> None:
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "team"},
        "spec": {"hard": {"pods": "0"}},
    }
    job = trainjob("blocked", "shell", {"numNodes": 1, "command": ["true"]})
    node_operator.create(namespace, quota, shell_runtime("shell"), job)

    def told() -> list[str]:
        return [
            str(event["message"])
            for event in node_operator.cluster.get("events", "-n", namespace)["items"]
            if event["involvedObject"]["kind"] == "TrainJob" and event["reason"] == "FailedCreate"
        ]

    node_operator.wait(namespace, lambda: bool(told()), "the TrainJob has an event")
    (message,) = told()
    assert message.startswith(
        "Job blocked-node-0 cannot create its pods: forbidden: exceeded quota"
    )
