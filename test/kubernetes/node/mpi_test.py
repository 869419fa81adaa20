"""MPI in real pods: mpirun reaches the other pods over SSH, with the keys of the job."""

import json

from node_operator import (
    EXAMPLES,
    NodeOperator,
    framework_program,
    give_host_programs,
    host_runtime,
    trainjob,
)

from trainway.json_types import Json

AS_ROOT = [
    {"name": "OMPI_ALLOW_RUN_AS_ROOT", "value": "1"},
    {"name": "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "value": "1"},
]


def test_a_trainjob_runs_mpirun_over_its_nodes(node_operator: NodeOperator, namespace: str) -> None:
    node_operator.create(
        namespace,
        host_runtime("deepspeed-distributed", "mpi"),
        trainjob("allreduce", "mpi", {"numNodes": 2, "numProcPerNode": 1, "command": allreduce()}),
    )
    node_operator.wait_condition("trainjob", namespace, "allreduce", "Complete")
    log = node_operator.log(namespace, "jobset.sigs.k8s.io/replicatedjob-name=launcher")
    assert "rank 0 of 2 on allreduce-launcher-0-0\n" in log, log
    assert "rank 1 of 2 on allreduce-node-0-0\n" in log, log
    assert "sum 3" in log, log


def test_an_mpijob_runs_mpirun_over_its_workers(
    node_operator: NodeOperator, namespace: str
) -> None:
    node_operator.create(namespace, mpijob("allreduce"))
    node_operator.wait_condition("mpijob", namespace, "allreduce", "Succeeded")
    log = node_operator.log(namespace, "training.kubeflow.org/job-role=launcher")
    for rank, worker in enumerate([0, 0, 1, 1]):
        assert f"rank {rank} of 4 on allreduce-worker-0-{worker}\n" in log, log
    assert "sum 10" in log, log


def test_workers_of_an_mpijob_that_somebody_stops_come_back(
    node_operator: NodeOperator, namespace: str
) -> None:
    node_operator.create(namespace, mpijob("gang", when_told(allreduce())))
    role = "training.kubeflow.org/job-role"
    running = node_operator.wait_running(namespace, 3)

    delete(node_operator, namespace, member(running, role, "worker", "0"))
    evict(node_operator, namespace, member(running, role, "worker", "1"))

    again = wait_replaced(node_operator, namespace, running, 2)
    tell(node_operator, namespace, member(again, role, "launcher", "0"))
    node_operator.wait_condition("mpijob", namespace, "gang", "Succeeded")
    log = node_operator.log(namespace, f"{role}=launcher")
    assert "rank 3 of 4 on gang-worker-0-1\n" in log, log


def test_nodes_of_a_trainjob_with_mpi_that_somebody_stops_come_back(
    node_operator: NodeOperator, namespace: str
) -> None:
    trainer = {"numNodes": 3, "numProcPerNode": 1, "command": when_told(allreduce())}
    node_operator.create(
        namespace, host_runtime("deepspeed-distributed", "mpi"), trainjob("gang", "mpi", trainer)
    )
    role = "jobset.sigs.k8s.io/replicatedjob-name"
    running = node_operator.wait_running(namespace, 3)

    delete(node_operator, namespace, member(running, role, "node", "0"))
    evict(node_operator, namespace, member(running, role, "node", "1"))
    running = wait_replaced(node_operator, namespace, running, 2)

    suspend(node_operator, namespace, "gang", suspended=True)
    node_operator.wait(namespace, lambda: not node_operator.pods(namespace), "no pod is left")
    suspend(node_operator, namespace, "gang", suspended=False)

    again = wait_replaced(node_operator, namespace, running, 3)
    tell(node_operator, namespace, member(again, role, "launcher", "0"))
    node_operator.wait_condition("trainjob", namespace, "gang", "Complete")
    log = node_operator.log(namespace, f"{role}=launcher")
    assert "rank 2 of 3 on gang-node-0-1\n" in log, log


def allreduce() -> list[str]:
    return ["mpirun", framework_program("python"), str(EXAMPLES / "mpi_allreduce.py")]


def when_told(command: list[str]) -> list[str]:
    """Wait for a file, then do it; or end at once when told to, as a first process does not."""
    wait = "trap 'exit 143' TERM; until [ -e /tmp/go ]; do sleep 0.2; done"
    return ["sh", "-c", f"{wait}; {' '.join(command)}"]


def tell(node_operator: NodeOperator, namespace: str, pod: Json) -> None:
    name = pod["metadata"]["name"]
    node_operator.cluster.kubectl("exec", "-n", namespace, name, "--", "touch", "/tmp/go")


def delete(node_operator: NodeOperator, namespace: str, pod: Json) -> None:
    name = pod["metadata"]["name"]
    node_operator.cluster.kubectl("delete", "pod", "-n", namespace, name, "--wait=false")


def evict(node_operator: NodeOperator, namespace: str, pod: Json) -> None:
    node_operator.cluster.evict(namespace, pod["metadata"]["name"])


def suspend(node_operator: NodeOperator, namespace: str, name: str, *, suspended: bool) -> None:
    change = json.dumps({"spec": {"suspend": suspended}})
    node_operator.cluster.kubectl(
        "patch", "trainjob", "-n", namespace, name, "--type=merge", "-p", change
    )


def member(pods: list[Json], role_label: str, role: str, index: str) -> Json:
    """The pod of a role with that index."""
    wanted = {role_label: role, "batch.kubernetes.io/job-completion-index": index}
    (found,) = (pod for pod in pods if wanted.items() <= pod["metadata"]["labels"].items())
    return found


def wait_replaced(
    node_operator: NodeOperator, namespace: str, before: list[Json], number: int
) -> list[Json]:
    """Wait until so many pods are others than before, and all are ready."""
    old = {pod["metadata"]["uid"] for pod in before}
    found: list[Json] = []

    def are_there() -> bool:
        found[:] = [pod for pod in node_operator.pods(namespace) if is_ready(pod)]
        others = [pod for pod in found if pod["metadata"]["uid"] not in old]
        return len(found) == len(before) and len(others) == number

    node_operator.wait(namespace, are_there, f"{number} pods are replaced")
    return found


def is_ready(pod: Json) -> bool:
    conditions = pod["status"].get("conditions", [])
    return ("Ready", "True") in [(each["type"], each["status"]) for each in conditions]


def mpijob(name: str, command: list[str] | None = None) -> Json:
    main = {"name": "launcher", "command": command or allreduce(), "env": AS_ROOT}
    launcher: Json = {"containers": [main]}
    worker: Json = {"containers": [{"name": "worker"}]}
    for pod in (launcher, worker):
        give_host_programs(pod)
    return {
        "apiVersion": "kubeflow.org/v2beta1",
        "kind": "MPIJob",
        "metadata": {"name": name},
        "spec": {
            "slotsPerWorker": 2,
            "launcherCreationPolicy": "WaitForWorkersReady",
            "runPolicy": {"cleanPodPolicy": "Running", "backoffLimit": 1},
            "mpiReplicaSpecs": {
                "Launcher": {
                    "replicas": 1,
                    "restartPolicy": "Never",
                    "template": {"spec": launcher},
                },
                "Worker": {"replicas": 2, "template": {"spec": worker}},
            },
        },
    }
