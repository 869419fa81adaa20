import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from trainway.backends.base import Workload
from trainway.backends.kubernetes.form import (
    JOBSET_API,
    KUEUE_API,
    MPIJOB_API,
    TRAINJOB_API,
    Form,
    Offer,
)
from trainway.backends.kubernetes.planning import losses, owned, plan, without_image
from trainway.backends.kubernetes.sites import Infra
from trainway.jobset.labels import EXPORT, MAX_RESTARTS, TIMEOUT_SECONDS
from trainway.json_types import Json

TESTDATA = Path(__file__).parent / "testdata"
INFRA = Infra(("/home/me/.kube/config",), "test", "", "ml")
RUNTIME = ("ClusterTrainingRuntime", "torch-distributed")
OFFER = Offer(frozenset({JOBSET_API, TRAINJOB_API, MPIJOB_API, KUEUE_API}), {RUNTIME: {}})
OWNER = {"apiVersion": TRAINJOB_API, "kind": "TrainJob", "name": "demo", "controller": True}


def jobset(**spec: Any) -> Json:
    container = {"name": "main", "image": "busybox", "command": ["true"]}
    template = {"spec": {"restartPolicy": "Never", "containers": [container]}}
    job = {"parallelism": 2, "completions": 2, "backoffLimit": 0, "template": template}
    role = {"name": "node", "replicas": 1, "groupName": "default", "template": {"spec": job}}
    return {
        "apiVersion": JOBSET_API,
        "kind": "JobSet",
        "metadata": {"name": "demo", "namespace": "ml", "ownerReferences": [OWNER]},
        "spec": {"replicatedJobs": [role], **spec},
    }


def submitted(kind: str, api: str, **more: Any) -> Json:
    metadata = {"name": "demo", "namespace": "ml", "labels": {"team": "vision"}, "uid": "old"}
    return {"apiVersion": api, "kind": kind, "metadata": metadata, "spec": {}, "status": {}, **more}


TRAINJOB = submitted("TrainJob", TRAINJOB_API, spec={"runtimeRef": {"name": "torch-distributed"}})
MPIJOB = submitted("MPIJob", MPIJOB_API, spec={"slotsPerWorker": 2})
SETTINGS = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "settings", "namespace": "ml"},
    "data": {"A": "1"},
}
KEYS = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "keys", "namespace": "ml"},
    "stringData": {"token": "s3cret"},
}
MADE = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "demo-hosts", "ownerReferences": [OWNER]},
    "data": {"hostfile": "x"},
}


def workload(source: Json, **more: Any) -> Workload:
    given = [SETTINGS, KEYS]
    return Workload(
        id="0123456789ab",
        name="demo",
        namespace="ml",
        jobset=more.pop("jobset", None) or jobset(),
        objects=[*given, MADE],
        workdir="/",
        environ={"HOME": "/home/me"},
        port=29500,
        source=source,
        submitted=given,
        **more,
    )


@dataclass(frozen=True)
class Case:
    name: str
    source: Json
    forced: str = ""
    spec: Json = field(default_factory=dict)


@pytest.mark.parametrize(
    "case",
    [
        Case("trainjob", TRAINJOB),
        Case("mpijob", MPIJOB),
        Case("jobset", jobset()),
        Case("trainjob-as-jobset", TRAINJOB, "jobset"),
        Case("jobset-as-jobs", jobset(), "jobs", {"suspend": True}),
    ],
    ids=lambda case: case.name,
)
def test_the_request_is_as_expected(case: Case) -> None:
    request = plan(workload(case.source, jobset=jobset(**case.spec)), INFRA, OFFER, case.forced)
    shown = {"handle": request.handle, "objects": json.loads(request.text())}
    expected = json.loads((TESTDATA / f"{case.name}.json").read_text())
    assert shown == expected


def test_values_of_secrets_are_sent_but_not_shown() -> None:
    request = plan(workload(TRAINJOB), INFRA, OFFER)
    assert "s3cret" not in request.text()
    assert request.companions[1]["stringData"] == {"token": "s3cret"}


def test_a_later_plan_keeps_to_the_handle_of_the_first() -> None:
    first = plan(workload(TRAINJOB), INFRA, OFFER)
    nothing = Infra((), "other", "")
    again = plan(workload(TRAINJOB, handle=first.handle), nothing, Offer(), "jobs")
    assert (again.handle, again.objects) == (first.handle, first.objects)
    plain = plan(workload(TRAINJOB), INFRA, Offer())
    assert plain.handle["form"] == Form.JOBS
    again = plan(workload(TRAINJOB, handle=plain.handle), nothing, OFFER)
    assert (again.handle, again.objects) == (plain.handle, plain.objects)


def test_a_queue_is_kept_where_the_trainjob_itself_is_not_sent() -> None:
    queue = {"kueue.x-k8s.io/queue-name": "gpus"}
    source = TRAINJOB | {"metadata": TRAINJOB["metadata"] | {"labels": queue}}
    request = plan(workload(source), INFRA, OFFER, "jobset")
    labels = request.top["metadata"]["labels"]
    assert labels == queue | {"trainway.dev/job-id": "0123456789ab"}
    assert request.handle["queue"] == "gpus"
    assert "queue" not in plan(workload(source), INFRA, Offer(), "jobset").handle
    assert losses(jobset(), source) == [
        "without JobSet in the cluster the label kueue.x-k8s.io/queue-name does nothing"
    ]


@pytest.mark.parametrize("form", ["jobset", "jobs"])
def test_the_jobs_of_one_with_a_timeout_end_with_nobody_there(form: str) -> None:
    made = jobset()
    source = {**made, "metadata": {**made["metadata"], "annotations": {TIMEOUT_SECONDS: "90"}}}
    request = plan(workload(source, jobset=made), INFRA, OFFER, form)
    if form == "jobset":
        (job,) = (role["template"] for role in request.top["spec"]["replicatedJobs"])
    else:
        (job,) = request.children
    assert job["spec"]["activeDeadlineSeconds"] == 90
    assert made == jobset()


def test_files_that_are_too_large_go_with_a_jobset() -> None:
    large = SETTINGS | {"data": {"A": "x" * 1_000_000}}
    given = workload(TRAINJOB)
    request = plan(
        Workload(**{**vars(given), "objects": [large], "submitted": [large]}), INFRA, OFFER
    )
    assert (request.handle["form"], request.companions) == ("jobset", ())
    assert request.archive is not None


def test_a_runtime_that_comes_along_is_a_companion() -> None:
    runtime = {
        "apiVersion": TRAINJOB_API,
        "kind": "TrainingRuntime",
        "metadata": {"name": "own"},
        "spec": {},
    }
    ref = {"runtimeRef": {"kind": "TrainingRuntime", "name": "own"}}
    given = workload(TRAINJOB | {"spec": ref})
    request = plan(Workload(**{**vars(given), "submitted": [runtime]}), INFRA, OFFER)
    assert [obj["kind"] for obj in request.objects] == ["TrainingRuntime", "TrainJob"]
    assert request.brings_runtime
    assert not plan(given, INFRA, OFFER).brings_runtime


def test_an_object_is_owned_by_the_top_one() -> None:
    top = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "demo", "uid": "u"}}
    child = owned({"kind": "Job", "metadata": {"name": "demo-node-0"}}, top)
    assert child["metadata"]["ownerReferences"] == [
        {
            "apiVersion": "v1",
            "kind": "Service",
            "name": "demo",
            "uid": "u",
            "blockOwnerDeletion": True,
        }
    ]


def test_a_job_that_goes_on_here_waits_for_its_output_whenever_it_is_planned() -> None:
    given = Workload(**{**vars(workload(TRAINJOB)), "continues": True})
    first = plan(given, INFRA, OFFER)
    again = plan(Workload(**{**vars(workload(TRAINJOB)), "handle": first.handle}), INFRA, OFFER)

    assert (first.handle["form"], first.handle["continues"]) == (Form.JOBSET, True)
    for request in (first, again):
        (role,) = request.top["spec"]["replicatedJobs"]
        pod = role["template"]["spec"]["template"]["spec"]
        assert [each["name"] for each in pod["initContainers"]] == ["trainway-arrival"]


def test_a_container_without_an_image_is_named() -> None:
    made = jobset()
    assert without_image(made) == []
    pod = made["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    del pod["containers"][0]["image"]
    (problem,) = without_image(made)
    assert problem.startswith("container main of node has no image")


def test_a_job_whose_output_is_wanted_is_held_and_begins_with_what_there_was() -> None:
    metadata = {**TRAINJOB["metadata"], "annotations": {EXPORT: "s3://bucket/run"}}
    first = plan(workload({**TRAINJOB, "metadata": metadata}), INFRA, OFFER)
    again = Workload(**{**vars(workload(TRAINJOB)), "handle": first.handle})

    assert (first.handle["form"], first.handle["held"]) == (Form.JOBSET, True)
    (role,) = first.top["spec"]["replicatedJobs"]
    pod = role["template"]["spec"]["template"]["spec"]
    assert [each["name"] for each in pod["initContainers"]] == ["trainway-arrival"]
    assert [each["name"] for each in pod["containers"]] == ["main", "trainway-holder"]
    assert plan(again, INFRA, OFFER).top["spec"] == first.top["spec"]
    assert "held" not in plan(workload(TRAINJOB), INFRA, OFFER).handle


def trained(name: str = "node", container: str = "node", **spec: Any) -> Workload:
    """A TrainJob of a runtime whose trainer is called so."""
    made = jobset()
    role = made["spec"]["replicatedJobs"][0]
    role["name"] = name
    role["template"]["spec"]["template"]["spec"]["containers"][0]["name"] = container
    return workload({**TRAINJOB, "spec": {**TRAINJOB["spec"], **spec}}, jobset=made)


def launched() -> Workload:
    """A TrainJob of MPI, whose launcher is a role too."""
    made = trained()
    launcher = {**made.jobset["spec"]["replicatedJobs"][0], "name": "launcher"}
    made.jobset["spec"]["replicatedJobs"].insert(0, launcher)
    return made


OURS = Offer(OFFER.apis, OFFER.runtimes, frozenset({MAX_RESTARTS}))


def test_a_trainjob_that_our_operator_runs_has_a_volume_for_its_output() -> None:
    request = plan(trained(), INFRA, OURS)
    assert (request.handle["form"], request.handle["output"]) == (Form.SOURCE, True)
    (patch,) = request.top["spec"]["runtimePatches"]
    assert patch["manager"] == "trainway.dev/output"
    (role,) = patch["trainingRuntimeSpec"]["template"]["spec"]["replicatedJobs"]
    pod = role["template"]["spec"]["template"]["spec"]
    assert pod["volumes"] == [{"name": "trainway-output", "emptyDir": {}}]
    mount = {"name": "trainway-output", "mountPath": "/opt/trainway/output"}
    assert pod["containers"] == [{"name": "node", "volumeMounts": [mount]}]
    env = {each["name"]: each.get("value") for each in request.top["spec"]["trainer"]["env"]}
    assert env["TRAINWAY_OUTPUT_DIR"] == "/opt/trainway/output"
    again = plan(replace(trained(), handle=request.handle), INFRA, Offer())
    assert again.top == request.top, "whatever the cluster understands later"


OWN_OUTPUT = {"env": [{"name": "TRAINWAY_OUTPUT_DIR", "value": "/data"}]}
PATCHES = [{"manager": f"acme.io/{number}"} for number in range(16)]


@pytest.mark.parametrize(
    ("given", "offer"),
    [
        (trained(), OFFER),
        (trained("trainer"), OURS),
        (launched(), OURS),
        (trained(container="main"), OURS),
        (trained(trainer=OWN_OUTPUT), OURS),
        (trained(runtimePatches=PATCHES), OURS),
    ],
    ids=[
        "another operator",
        "another role",
        "a launcher",
        "another container",
        "its own",
        "many patches",
    ],
)
def test_a_trainjob_goes_without_that_volume_where_it_cannot_be_had(
    given: Workload, offer: Offer
) -> None:
    request = plan(given, INFRA, offer)
    assert request.handle["form"] == Form.SOURCE
    assert "output" not in request.handle
    known = (given.source or {})["spec"].get("runtimePatches")
    assert request.top["spec"].get("runtimePatches") == known


def replicated(**container: Any) -> Json:
    """An MPIJob whose workers have this container."""

    def replica(**more: Any) -> Json:
        return {"template": {"spec": {"containers": [{"name": "main", **more}, {"name": "side"}]}}}

    roles = {"Launcher": replica(), "Worker": replica(**container)}
    return {**MPIJOB, "spec": {"mpiReplicaSpecs": roles}}


def test_an_mpijob_that_our_operator_runs_has_a_volume_for_its_output_in_all_pods() -> None:
    request = plan(workload(replicated()), INFRA, OURS)
    assert (request.handle["form"], request.handle["output"]) == (Form.SOURCE, True)
    for replica in request.top["spec"]["mpiReplicaSpecs"].values():
        pod = replica["template"]["spec"]
        assert pod["volumes"] == [{"name": "trainway-output", "emptyDir": {}}]
        for each in pod["containers"]:
            assert each["volumeMounts"] == [
                {"name": "trainway-output", "mountPath": "/opt/trainway/output"}
            ]
            env = {entry["name"]: entry.get("value") for entry in each["env"]}
            assert env["TRAINWAY_OUTPUT_DIR"] == "/opt/trainway/output"
    again = plan(replace(workload(replicated()), handle=request.handle), INFRA, Offer())
    assert again.top == request.top, "whatever the cluster understands later"


@pytest.mark.parametrize(
    ("given", "offer"),
    [(replicated(), OFFER), (replicated(**OWN_OUTPUT), OURS)],
    ids=["another operator", "its own"],
)
def test_an_mpijob_goes_without_that_volume_where_it_cannot_be_had(
    given: Json, offer: Offer
) -> None:
    request = plan(workload(given), INFRA, offer)
    assert "output" not in request.handle
    pods = [each["template"]["spec"] for each in request.top["spec"]["mpiReplicaSpecs"].values()]
    assert not any("volumes" in pod for pod in pods)
