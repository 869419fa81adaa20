"""Submission to a real cluster, once, whatever breaks in between."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

import pytest
from cluster.access import Access
from cluster.identities import CONTEXT
from cluster.processes import wait_until
from shell_jobsets import ShellJobSet

from trainway.backends.base import BackendSettings, Workload
from trainway.backends.kubernetes.backend import KubernetesBackend
from trainway.errors import ConflictError, UnavailableError
from trainway.json_types import Json

Scene = Callable[[KubernetesBackend, Workload], Awaitable[None]]

FORMS: Final = ("jobset", "jobs")
PATIENCE_S: Final = 120.0
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


def test_a_webhook_that_does_not_answer_is_told_with_where_its_pods_are(
    node_cluster: Access, namespace: str, tmp_path: Path
) -> None:
    service = {"name": "jobset-webhook-service", "namespace": "away", "path": "/validate"}
    rule = {
        "apiGroups": ["jobset.x-k8s.io"],
        "apiVersions": ["v1alpha2"],
        "resources": ["jobsets"],
        "operations": ["CREATE"],
    }
    webhook = {
        "name": "vjobset.kb.io",
        "clientConfig": {"service": service},
        "rules": [rule],
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }
    kind = "ValidatingWebhookConfiguration"
    configuration = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": kind,
        "metadata": {"name": namespace},
        "webhooks": [webhook],
    }
    node_cluster.apply(configuration)
    told: list[UnavailableError] = []

    async def scene(backend: KubernetesBackend, workload: Workload) -> None:
        try:
            await backend.rehearse(backend.plan(workload))
        except UnavailableError as error:
            told.append(error)

    def is_told() -> bool:
        play(scene, node_cluster, namespace, tmp_path)
        return bool(told)

    try:
        # The API server learns of a webhook a moment after it is made.
        assert wait_until(is_told, PATIENCE_S)
    finally:
        node_cluster.kubectl("delete", kind, namespace)
    assert told[0].message == (
        "JobSet's controller does not answer (webhook vjobset.kb.io): the Service"
        " jobset-webhook-service in namespace away has no ready endpoints"
    )
    assert told[0].hint == f"look at its pods: kubectl --context {CONTEXT} get pods -n away"
