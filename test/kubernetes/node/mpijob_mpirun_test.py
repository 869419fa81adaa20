"""An MPIJob as it is meant: mpirun in the launcher starts processes on the workers, through sshd."""

import asyncio
from typing import Any

import pytest
from cluster.access import Access
from cluster.images import HOSTROOT

from trainway.compiler.mpijob import ROLE_LABEL
from trainway.kube.resources import MPIJOBS
from trainway.operator.mpijobs.testing import mpijob
from trainway.operator.mpijobs.testing_cluster import stage

Json = dict[str, Any]

_PATIENCE_S = 120.0
_PROCESS = 'echo "rank $OMPI_COMM_WORLD_RANK of $OMPI_COMM_WORLD_SIZE on $(hostname)"'


def pod(*command: str) -> Json:
    """A pod with this machine's programs; without a command it does what a worker does."""
    container: Json = {
        "name": "main",
        "image": HOSTROOT,
        "volumeMounts": [{"name": "usr", "mountPath": "/usr", "readOnly": True}],
    }
    if command:
        container["command"] = list(command)
    usr = {"name": "usr", "hostPath": {"path": "/usr"}}
    return {"spec": {"containers": [container], "volumes": [usr]}}


def over(job: Json) -> bool:
    conditions = job.get("status", {}).get("conditions", [])
    return any(
        each["type"] in ("Succeeded", "Failed") and each["status"] == "True" for each in conditions
    )


@pytest.mark.parametrize("launcher_works", [False, True], ids=["drives", "works"])
def test_mpirun_reaches_the_workers(
    node_cluster: Access, namespace: str, launcher_works: bool
) -> None:
    node_cluster.install_our_crds()
    obj = mpijob(slotsPerWorker=2, runLauncherAsWorker=launcher_works)
    command = f"mpirun --allow-run-as-root sh -c '{_PROCESS}'"
    roles = obj["spec"]["mpiReplicaSpecs"]
    roles["Launcher"]["template"] = pod("sh", "-c", command)
    roles["Worker"]["template"] = pod()

    async def play() -> Json:
        async with stage(node_cluster.kubeconfig, namespace, patience=_PATIENCE_S) as here:
            await here.submit(obj)
            return await here.until(MPIJOBS, "pi", over)

    told = asyncio.run(play())
    selector = f"{ROLE_LABEL}=launcher"
    text = node_cluster.kubectl("logs", "-n", namespace, "-l", selector, "--tail=-1").stdout
    assert told["status"]["conditions"][-1]["type"] == "Succeeded", text
    hosts = ["pi-worker-0-0", "pi-worker-0-1"]
    hosts = ["pi-launcher-0-0", *hosts] if launcher_works else hosts
    ranks = [(rank, host) for rank, host in enumerate(host for host in hosts for _ in range(2))]
    lines = sorted(line for line in text.splitlines() if line.startswith("rank "))
    assert lines == [f"rank {rank} of {len(ranks)} on {host}" for rank, host in ranks]
