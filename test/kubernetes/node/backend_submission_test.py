"""Submission to a real cluster, once, whatever breaks in between."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final

import pytest
from cluster.access import Access
from cluster.identities import CONTEXT
from shell_jobsets import ShellJobSet

from trainway.backends.base import BackendSettings, Workload
from trainway.backends.kubernetes.backend import KubernetesBackend
from trainway.errors import ConflictError

Json = dict[str, Any]
Scene = Callable[[KubernetesBackend, Workload], Awaitable[None]]

FORMS: Final = ("jobset", "jobs")
SETTINGS: Final[Json] = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "settings"},
    "data": {"A": "1"},
}


def play(scene: Scene, cluster: Access, namespace: str, home: Path, form: str = "jobset") -> None:
    jobset = ShellJobSet("once", "true", suspend=True).manifest()
    jobset["metadata"]["annotations"] = {"trainway.dev/kubernetes-form": form}
    workload = Workload(
        id="0123456789ab",
        name="once",
        namespace=namespace,
        jobset=jobset,
        objects=[SETTINGS],
        workdir="/",
        environ={},
        port=29500,
        source=jobset,
        submitted=[SETTINGS],
    )
    target = f"{CONTEXT}/{namespace}"
    settings = BackendSettings(home, target, (str(cluster.kubeconfig),))

    async def run() -> None:
        backend = KubernetesBackend(settings, {})
        try:
            await backend.look()
            await scene(backend, workload)
        finally:
            await backend.close()

    asyncio.run(run())


def uids(cluster: Access, namespace: str) -> dict[str, str]:
    kinds = "jobsets,jobs,services,configmaps"
    items = cluster.get(kinds, "-n", namespace, "-l", "trainway.dev/job-id")["items"]
    return {f"{item['kind']}/{item['metadata']['name']}": item["metadata"]["uid"] for item in items}


@pytest.mark.parametrize("form", FORMS)
def test_a_server_that_died_before_it_took_note_makes_nothing_twice(
    form: str, node_cluster: Access, namespace: str, tmp_path: Path
) -> None:
    async def scene(backend: KubernetesBackend, workload: Workload) -> None:
        request = backend.plan(workload)
        await backend.rehearse(request)
        assert uids(node_cluster, namespace) == {}
        await backend.submit(request)
        made = uids(node_cluster, namespace)
        assert "ConfigMap/settings" in made
        (tmp_path / "jobs" / workload.id / "journal.jsonl").unlink()
        await backend.submit(request)
        assert uids(node_cluster, namespace) == made
        await backend.submit(request)
        with pytest.raises(ConflictError, match="already a ConfigMap settings"):
            await backend.rehearse(request)

    play(scene, node_cluster, namespace, tmp_path, form)


@pytest.mark.parametrize("form", FORMS)
def test_everything_goes_with_the_top_object(
    form: str, node_cluster: Access, namespace: str, tmp_path: Path
) -> None:
    async def scene(backend: KubernetesBackend, workload: Workload) -> None:
        request = backend.plan(workload)
        await backend.submit(request)
        items = node_cluster.get("jobs,configmaps", "-n", namespace, "-l", "trainway.dev/job-id")[
            "items"
        ]
        owners = [item["metadata"]["ownerReferences"][0]["kind"] for item in items]
        assert set(owners) == {request.handle["kind"]}
        await backend.cancel(request.handle)
        assert not {key for key in uids(node_cluster, namespace) if "ConfigMap" not in key}
        await backend.delete(request.handle)
        assert uids(node_cluster, namespace) == {}
        assert not (tmp_path / "jobs" / workload.id).exists()
        await backend.delete(request.handle)

    play(scene, node_cluster, namespace, tmp_path, form)


def test_an_object_of_another_is_not_touched(
    node_cluster: Access, namespace: str, tmp_path: Path
) -> None:
    theirs = ShellJobSet("once", "true", suspend=True).manifest()
    node_cluster.apply(theirs, namespace=namespace)

    async def scene(backend: KubernetesBackend, workload: Workload) -> None:
        request = backend.plan(workload)
        for attempt in (backend.rehearse, backend.submit):
            with pytest.raises(ConflictError, match="already a JobSet once") as caught:
                await attempt(request)
            assert "--name" in str(caught.value.hint)
        await backend.cancel(request.handle)
        await backend.delete(request.handle)
        assert uids(node_cluster, namespace) == {}
        kept = node_cluster.get("jobset", "once", "-n", namespace)
        assert "deletionTimestamp" not in kept["metadata"]

    play(scene, node_cluster, namespace, tmp_path)
