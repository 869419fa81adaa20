"""What the pages Infra, Queues and Runtimes are told of a cluster, by the real client over HTTP."""

import asyncio
from pathlib import Path

from kubernetes_stub import HOSTILE, NO_QUOTA, stub_cluster

from trainway.backends.base import BackendSettings
from trainway.backends.kubernetes.backend import KubernetesBackend


def test_a_cluster_tells_its_nodes_queues_and_runtimes(tmp_path: Path) -> None:
    async def ask(kubeconfig: Path) -> None:
        backend = KubernetesBackend(BackendSettings(tmp_path, "stub", (str(kubeconfig),)), {})
        try:
            nodes = {node.name: node for node in await backend.nodes()}
            assert set(nodes) == {"gpu-a", "gpu-b", HOSTILE}
            first = nodes["gpu-a"]
            assert (str(first.free_cpus), first.gpus, first.free_gpus) == ("12", 8, 3)
            assert (first.sort, first.problem) == ("NVIDIA-H100", "")
            assert "cordoned" in nodes["gpu-b"].problem
            (state,) = await backend.queue_states()
            assert (state.queue.name, state.queue.cluster_queue) == ("team", "all")
            assert [(each.name, each.position, each.reason) for each in state.waiting] == [
                ("first", 1, NO_QUOTA),
                ("second", 2, HOSTILE),
            ]
            _, gpus = state.queue.quotas
            assert [str(amount) for amount in (gpus.nominal, gpus.used, gpus.borrowed)] == [
                "8", "9", "1",
            ]  # fmt: skip
            await backend.look()
            assert [each["metadata"]["name"] for each in backend.runtimes()] == ["of-the-cluster"]
        finally:
            await backend.close()

    with stub_cluster(tmp_path) as kubeconfig:
        asyncio.run(ask(kubeconfig))
