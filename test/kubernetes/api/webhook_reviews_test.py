"""The webhooks as the API server calls them: by URL, with a certificate of their own authority."""

import asyncio
import copy
import json
import ssl
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest
from cluster.control_plane import ControlPlane
from cluster.fixtures import running
from operator_process import ensure_namespace
from served_webhooks import HOST, NAMES, SECRET, SYSTEM, Served, keeper_of, serving

from trainway.api.trainjob import TrainJob
from trainway.json_types import Json
from trainway.kube.certificates import SERVING_LIFETIME, Certificates, renewed
from trainway.kube.errors import ApiError
from trainway.kube.resources import CLUSTER_TRAINING_RUNTIMES, SECRETS, TRAINJOBS
from trainway.operator.trainjobs.runtime_snapshot import runtime_text, snapshot

TRAINER: Final = "trainer.kubeflow.org/v1alpha1"
ANCESTOR: Final = "trainer.kubeflow.org/trainjob-ancestor-step"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """On a cluster of its own, since webhooks are everyone's business."""
    for cluster in running(ControlPlane):
        cluster.install_jobset_crds()
        cluster.install_our_crds()
        ensure_namespace(cluster, SYSTEM)
        with serving(cluster, tmp_path_factory.mktemp("certificates")) as webhooks:
            yield webhooks
        for kind in ("validatingwebhookconfigurations", "mutatingwebhookconfigurations"):
            cluster.kubectl("delete", kind, "--all")


@pytest.fixture
def space(served: Served, request: pytest.FixtureRequest) -> Iterator[str]:
    name = f"test-{abs(hash(request.node.name)) % 10**8}"
    served.cluster.create_namespace(name)
    yield name
    served.cluster.delete_namespace(name)


def runtime(name: str, namespace: str = "", **spec: Any) -> Json:
    template = {
        "metadata": {"labels": {ANCESTOR: "trainer"}},
        "spec": {"template": {"spec": {"containers": [{"name": "node", "image": "i"}]}}},
    }
    jobs = [{"name": "node", "template": template}]
    return {
        "apiVersion": TRAINER,
        "kind": "TrainingRuntime" if namespace else "ClusterTrainingRuntime",
        "metadata": {"name": name} | ({"namespace": namespace} if namespace else {}),
        "spec": {"mlPolicy": {"torch": {}}, "template": {"spec": {"replicatedJobs": jobs}}, **spec},
    }


def trainjob(name: str, namespace: str, on: str = "local", **spec: Any) -> Json:
    return {
        "apiVersion": TRAINER,
        "kind": "TrainJob",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"runtimeRef": {"name": on, "kind": "TrainingRuntime"}, **spec},
    }


def patch_of(manager: str, pool: str) -> Json:
    pod = {"spec": {"nodeSelector": {"pool": pool}}}
    jobs = [{"name": "node", "template": {"spec": {"template": pod}}}]
    return {
        "manager": manager,
        "trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": jobs}}},
    }


def test_a_job_without_its_runtime_is_denied(served: Served, space: str) -> None:
    assert served.refusal(trainjob("a", space)) == (
        'spec.runtimeRef: Invalid value: "local": trainingruntimes.trainer.kubeflow.org "local" not'
        " found: specified trainingRuntime must be created before the TrainJob is created"
    )


def test_all_errors_come_at_once(served: Served, space: str) -> None:
    served.create(runtime("local", space))
    job = trainjob(
        *("a", space),
        trainer={"env": [{"name": "PET_NNODES", "value": "1"}]},
        initializer={"model": {"env": [{"name": "ACCESS_TOKEN", "value": "x"}]}},
    )
    assert served.refusal(job) == (
        '[spec.runtimeRef: Invalid value: "local": must have model-initializer job when trainJob is'
        " configured with input modelConfig,"
        ' spec.trainer.env: Invalid value: [{"name":"PET_NNODES","value":"1"}]: must not have'
        " reserved envs, invalid envs configured: [PET_NNODES]]"
    )


def test_a_job_right_after_its_runtime_is_accepted(served: Served, space: str) -> None:
    """The watch of runtimes has not seen it yet; thirty times, as one would be luck."""

    async def main() -> int:
        for number in range(30):
            name = f"r{number}"
            one = runtime(f"{space}-{name}")
            await served.client.create(CLUSTER_TRAINING_RUNTIMES, one)
            job = trainjob(name, space, on=one["metadata"]["name"])
            del job["spec"]["runtimeRef"]["kind"]
            await served.client.create(TRAINJOBS, job, space)
            await served.client.delete(CLUSTER_TRAINING_RUNTIMES, one["metadata"]["name"])
        return len((await served.client.list(TRAINJOBS, space)).items)

    assert served.run(main()) == 30


def test_a_job_right_after_a_change_of_its_runtime_is_judged_by_the_change(
    served: Served, space: str
) -> None:
    served.create(runtime("local", space))
    served.create(trainjob("first", space))
    changed = runtime("local", space)
    job = copy.deepcopy(changed["spec"]["template"]["spec"]["replicatedJobs"][0])
    job["name"] = "late"
    changed["spec"]["template"]["spec"]["replicatedJobs"].append(job)
    pod = {"spec": {"nodeSelector": {"a": "b"}}}
    entry = patch_of("a.io/x", "a")
    jobs = [{"name": "late", "template": {"spec": {"template": pod}}}]
    entry["trainingRuntimeSpec"]["template"]["spec"]["replicatedJobs"] = jobs
    second = trainjob("second", space, runtimePatches=[entry])

    async def main() -> Json:
        await served.client.apply(changed, field_manager="test")
        return await served.client.create(TRAINJOBS, second, space)

    assert served.run(main())["metadata"]["name"] == "second"


def test_a_job_right_after_a_change_of_its_runtime_is_refused_for_the_change(
    served: Served, space: str
) -> None:
    """Thirty times, as one would be luck: the runtime was used just before it changed."""
    torch, flux = runtime("local", space), runtime("local", space, mlPolicy={"flux": {}})
    job = trainjob("odd", space, trainer={"numProcPerNode": 0})

    async def main() -> list[str]:
        said = []
        for number in range(30):
            await served.client.apply(torch, field_manager="test")
            await served.client.create(TRAINJOBS, trainjob(f"a{number}", space), space)
            await served.client.apply(flux, field_manager="test")
            with pytest.raises(ApiError) as caught:
                await served.client.create(TRAINJOBS, job, space)
            said.append(caught.value.message)
        return said

    assert all("spec.trainer.numProcPerNode" in message for message in served.run(main()))


def test_patches_are_stamped(served: Served, space: str) -> None:
    served.create(runtime("local", space))
    job = trainjob("a", space, suspend=True, runtimePatches=[patch_of("a.io/x", "a")])
    job["spec"]["runtimePatches"].append(
        {**patch_of("a.io/y", "a"), "time": "2026-01-01T00:00:00Z"}
    )
    before = datetime.now(UTC).replace(microsecond=0)
    served.create(job)
    stored = served.cluster.get("trainjob", "a", "-n", space)
    first, second = (entry["time"] for entry in stored["spec"]["runtimePatches"])
    assert before <= datetime.fromisoformat(first) <= datetime.now(UTC)
    assert second == "2026-01-01T00:00:00Z"
    job["spec"]["runtimePatches"][1] = patch_of("a.io/y", "b")
    served.cluster.apply(job)
    stored = served.cluster.get("trainjob", "a", "-n", space)
    times = [entry["time"] for entry in stored["spec"]["runtimePatches"]]
    assert times[0] == first
    assert datetime.fromisoformat(times[1]) >= before


def test_deprecated_runtimes_are_warned_of(served: Served, space: str) -> None:
    old = runtime(f"old-{space}")
    old["metadata"]["labels"] = {"trainer.kubeflow.org/support": "deprecated"}
    done = served.create(old)
    name = f'ClusterTrainingRuntime "old-{space}" is deprecated'
    assert done.stderr.startswith(f"Warning: {name}")
    job = trainjob("a", space, on=f"old-{space}")
    del job["spec"]["runtimeRef"]["kind"]
    assert served.create(job).stderr.startswith(f"Warning: Referenced {name}")


@pytest.mark.parametrize("cluster_wide", [True, False])
def test_d8_runtimes_are_judged_when_new_and_when_changed(
    served: Served, space: str, cluster_wide: bool
) -> None:
    good = runtime(f"r-{space}") if cluster_wide else runtime("r", space)
    bad = copy.deepcopy(good)
    job = bad["spec"]["template"]["spec"]["replicatedJobs"][0]
    job["template"]["spec"]["template"]["spec"]["containers"][0]["name"] = "main"
    reason = (
        "spec.template.spec.replicatedJobs[0].template.spec.template.spec.containers: Invalid"
        ' value: ["main"]: must contain the required container for the ancestor: trainer'
    )
    assert served.refusal(bad) == reason
    served.create(good)
    assert served.refusal(bad, "replace") == reason
    bad["metadata"] |= {
        "name": f"{bad['metadata']['name']}-2",
        "labels": {"trainer.kubeflow.org/webhook-validation": "disabled"},
    }
    served.create(bad)


def test_mpijobs_are_defaulted_and_judged(served: Served, space: str) -> None:
    template = {"spec": {"containers": [{"name": "mpi", "image": "i"}]}}
    job: Json = {
        "apiVersion": "kubeflow.org/v2beta1",
        "kind": "MPIJob",
        "metadata": {"name": "a", "namespace": space},
        "spec": {
            "mpiReplicaSpecs": {
                "Launcher": {"template": template},
                "Worker": {"template": template},
            }
        },
    }
    assert served.refusal(job) == (
        "spec.mpiReplicaSpecs[Worker].replicas: Invalid value: 0: must be greater than or equal to"
        " 1, and the default is 0; for a job without workers, leave out Worker"
    )
    job["spec"]["mpiReplicaSpecs"]["Worker"]["replicas"] = 2
    served.create(job)
    stored = served.cluster.get("mpijob", "a", "-n", space)["spec"]
    assert stored["runPolicy"]["cleanPodPolicy"] == "None"
    assert stored["mpiReplicaSpecs"]["Launcher"]["restartPolicy"] == "OnFailure"
    job["spec"]["runPolicy"] = {"cleanPodPolicy": "Some"}
    assert served.refusal(job, "replace") == (
        'spec.runPolicy.cleanPodPolicy: Unsupported value: "Some": supported values: "None",'
        ' "Running", "All"'
    )


def test_d7_updates_are_judged_by_the_snapshot(served: Served, space: str) -> None:
    served.create(runtime("local", space))
    job = trainjob("a", space, suspend=True)
    served.create(job)
    live = served.cluster.get("trainingruntime", "local", "-n", space)
    owner = served.cluster.get("trainjob", "a", "-n", space)
    served.cluster.apply(snapshot(TrainJob.parse(owner).metadata, runtime_text(live)))
    served.cluster.kubectl("delete", "trainingruntime", "local", "-n", space)
    job["spec"]["runtimePatches"] = [patch_of("a.io/x", "a")]
    served.cluster.apply(job)
    assert "not found" in served.refusal(trainjob("b", space))


def test_what_changes_nothing_passes_without_a_runtime(served: Served, space: str) -> None:
    served.create(runtime("local", space))
    served.create(trainjob("a", space))
    served.cluster.kubectl("delete", "trainingruntime", "local", "-n", space)
    served.cluster.kubectl("label", "trainjob", "a", "x=y", "-n", space)
    served.cluster.kubectl(
        *("patch", "trainjob", "a", "-n", space, "--type=merge"), '-p={"spec":{"suspend":true}}'
    )


def test_patches_may_not_change_while_pods_run(served: Served, space: str) -> None:
    served.create(runtime("local", space))
    job = trainjob("a", space, suspend=True, runtimePatches=[patch_of("a.io/x", "a")])
    served.create(job)
    jobs = runtime("local", space)["spec"]["template"]["spec"]["replicatedJobs"]
    jobset = {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "a", "namespace": space},
        "spec": {"replicatedJobs": jobs},
    }
    served.create(jobset)
    counts = dict.fromkeys(("ready", "succeeded", "failed", "suspended"), 0)
    status = {"replicatedJobsStatus": [{"name": "node", "active": 1, **counts}]}
    body = json.dumps({"status": status})
    patch = ("patch", "jobset", "a", "-n", space, "--subresource=status", "--type=merge", "-p")
    served.cluster.kubectl(*patch, body)
    job["spec"]["runtimePatches"] = [patch_of("a.io/x", "b")]
    assert served.refusal(job, "replace") == (
        "spec.runtimePatches: Forbidden: RuntimePatches cannot be modified when the JobSet's"
        " ReplicatedJob node is still active"
    )
    served.cluster.kubectl(*patch, body.replace('"active": 1', '"active": 0'))
    served.cluster.kubectl("replace", "-f", "-", input=json.dumps(job))


def test_priority_classes_of_a_volcano_gang_must_exist(served: Served, space: str) -> None:
    gang = runtime("local", space, podGroupPolicy={"volcano": {}})
    pod = gang["spec"]["template"]["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]
    pod["spec"]["priorityClassName"] = space
    served.create(gang)
    assert f'PriorityClass "{space}" doesn\'t exist' in served.refusal(trainjob("a", space))
    served.cluster.kubectl("create", "priorityclass", space, "--value=7")
    served.create(trainjob("a", space))


# Certificates


def stored(served: Served) -> Certificates:
    return Certificates.from_secret(served.run(served.client.get(SECRETS, SECRET, SYSTEM)))


def test_replicas_agree_on_one_certificate(served: Served, tmp_path: Path) -> None:
    served.cluster.kubectl("delete", "secret", SECRET, "-n", SYSTEM)

    async def main() -> set[str]:
        keepers = [keeper_of(served.client, tmp_path / str(number)) for number in range(5)]
        await asyncio.gather(*(keeper.refresh() for keeper in keepers))
        await served.keeper.refresh()
        return {keeper.authorities for keeper in (*keepers, served.keeper)}

    assert served.run(main()) == {stored(served).authorities}


def test_a_certificate_is_renewed_and_trusted_without_a_restart(served: Served, space: str) -> None:
    old, _ = renewed(None, NAMES, datetime.now(UTC) - SERVING_LIFETIME * 0.75)
    body = {"data": old.secret_data()}
    served.run(served.client.patch(SECRETS, SECRET, SYSTEM, body))
    served.run(served.keeper.refresh())
    fresh = stored(served)
    assert fresh.authorities == old.authorities
    assert fresh.certificate != old.certificate
    assert presented(served) == fresh.certificate
    assert "not found" in served.refusal(trainjob("a", space))


def presented(served: Served) -> str:
    """The certificate that a new connection gets."""
    return ssl.get_server_certificate((HOST, served.port))


def test_a_configuration_that_lost_its_authority_gets_it_back(served: Served, space: str) -> None:
    name = ("validatingwebhookconfiguration", "validator.trainer.kubeflow.org")
    body = '[{"op": "remove", "path": "/webhooks/0/clientConfig/caBundle"}]'
    served.cluster.kubectl("patch", *name, "--type=json", "-p", body)
    served.failure(trainjob("a", space), lambda text: "failed to verify certificate" in text)
    served.run(served.keeper.refresh())
    assert "not found" in served.refusal(trainjob("a", space))
