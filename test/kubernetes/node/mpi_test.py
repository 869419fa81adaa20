"""MPI in real pods: mpirun reaches the other pods over SSH, with the keys of the job."""

from node_operator import (
    EXAMPLES,
    NodeOperator,
    framework_program,
    give_host_programs,
    host_runtime,
    trainjob,
)

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


def allreduce() -> list[str]:
    return ["mpirun", framework_program("python"), str(EXAMPLES / "mpi_allreduce.py")]


def mpijob(name: str) -> dict[str, object]:
    launcher = {"containers": [{"name": "launcher", "command": allreduce(), "env": AS_ROOT}]}
    worker = {"containers": [{"name": "worker"}]}
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
