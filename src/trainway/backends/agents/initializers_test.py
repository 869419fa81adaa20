from typing import Any

from trainway.backends.agents import fitness
from trainway.backends.agents.initializers import PROGRAM, PROGRAM_PATH, as_processes
from trainway.backends.base import Workload
from trainway.compiler.initializer_steps import IN_VAIN
from trainway.data.initializer.archive import NAME
from trainway.jobset.labels import ISOLATION
from trainway.json_types import Json

MOUNT = {"name": "initializer", "mountPath": "/workspace"}
STEP = "trainer.kubeflow.org/trainjob-ancestor-step"
CLAIM = {"name": "initializer", "persistentVolumeClaim": {"claimName": "data"}}


def role(name: str, *volumes: Json, **container: Any) -> Json:
    made = {"name": name, "image": "x", **container}
    pod = {"spec": {"containers": [made], "volumes": list(volumes)}}
    return {
        "name": name,
        "template": {"metadata": {"labels": {STEP: name}}, "spec": {"template": pod}},
    }


def jobset(*roles: Json, **annotations: str) -> Json:
    return {"metadata": {"annotations": annotations}, "spec": {"replicatedJobs": list(roles)}}


def planned(found: Json, *python: str) -> Workload:
    return as_processes(Workload("id", "demo", "ns", found, [], "/", {}, 20_000), python)


def pods(workload: Workload) -> dict[str, Json]:
    roles = workload.jobset["spec"]["replicatedJobs"]
    return {role["name"]: role["template"]["spec"]["template"]["spec"] for role in roles}


FETCHES = role("dataset-initializer", volumeMounts=[MOUNT], env=[{"name": "STORAGE_URI"}])
TRAINS = role("node", command=["train"], volumeMounts=[{"name": "initializer", "mountPath": "/w"}])
BESIDE = role("beside", command=["look"])


def test_on_this_machine_the_installed_program_runs() -> None:
    found = planned(jobset(FETCHES, TRAINS), "py", "-P")

    fetches, trains = pods(found)["dataset-initializer"], pods(found)["node"]
    assert fetches["containers"][0]["command"] == [
        *("py", "-P", "-m", "trainway.data.initializer", "dataset"),
        *("--cached", "--target", "/workspace/dataset"),
    ]
    assert trains == pods(planned(jobset(TRAINS)))["node"]
    assert found.objects == []


def test_to_hosts_the_program_travels_and_each_host_is_filled() -> None:
    found = planned(jobset(FETCHES, TRAINS, BESIDE))

    fetches, trains = pods(found)["dataset-initializer"], pods(found)["node"]
    (first,) = trains["initContainers"]
    for container in (fetches["containers"][0], first):
        assert container["command"][:3] == ["python3", f"{PROGRAM_PATH}/{NAME}", "dataset"]
        assert MOUNT in container["volumeMounts"]
        assert container["env"] == [{"name": "STORAGE_URI"}]
    (program,) = found.objects
    volume = {"name": PROGRAM, "configMap": {"name": program["metadata"]["name"]}}
    assert volume in fetches["volumes"]
    assert volume in trains["volumes"]
    assert list(program["binaryData"]) == [NAME]
    assert pods(found)["beside"] == pods(planned(jobset(BESIDE)))["beside"]
    assert planned(found.jobset).jobset == found.jobset  # a plan that is made again


def test_what_waits_for_a_cache_mounts_nothing() -> None:
    env = [{"name": "STORAGE_URI", "value": "cache://127.0.0.1:15042"}]
    waits = role("dataset-initializer", env=env)
    (container,) = pods(planned(jobset(waits, TRAINS), "py"))["dataset-initializer"]["containers"]
    assert container["command"][:4] == ["py", "-m", "trainway.data.initializer", "dataset"]
    assert fitness.errors(planned(jobset(waits, TRAINS), "py").jobset) == []

    travels = planned(jobset(waits, TRAINS))
    (container,) = pods(travels)["dataset-initializer"]["containers"]
    assert [mount["name"] for mount in container["volumeMounts"]] == [PROGRAM]
    assert pods(travels)["node"] == pods(planned(jobset(TRAINS)))["node"]


def test_the_same_claim_under_another_name_is_filled() -> None:
    other = {"name": "w", "persistentVolumeClaim": {"claimName": "data"}}
    trains = role("node", other, command=["t"], volumeMounts=[{"name": "w", "mountPath": "/data"}])
    fetches = role("dataset-initializer", CLAIM, volumeMounts=[MOUNT])
    scratch = role(
        "more",
        {"name": "initializer", "emptyDir": {}},
        command=["t"],
        volumeMounts=[MOUNT],
    )

    found = pods(planned(jobset(fetches, trains, scratch)))

    (first,) = found["node"]["initContainers"]
    assert {"name": "w", "mountPath": "/workspace"} in first["volumeMounts"]
    assert "initContainers" not in found["more"]


def test_what_would_be_in_vain_is_tried_once() -> None:
    job = planned(jobset(FETCHES)).jobset["spec"]["replicatedJobs"][0]["template"]["spec"]

    assert job["template"]["spec"]["restartPolicy"] == "Never"
    (rule,) = job["podFailurePolicy"]["rules"]
    assert (rule["action"], rule["onExitCodes"]["values"]) == ("FailJob", [IN_VAIN])


def test_what_has_a_command_or_runs_in_its_image_stays_as_it_is() -> None:
    own = role("dataset-initializer", command=["fetch"], volumeMounts=[MOUNT])
    contained = jobset(FETCHES, **{ISOLATION: "container"})

    for found in (jobset(own, TRAINS), contained):
        assert planned(found).jobset is found


def test_an_initializer_without_a_workspace_still_needs_a_command() -> None:
    assert fitness.errors(jobset(FETCHES)) == []
    (error,) = fitness.errors(jobset(role("dataset-initializer")))
    assert "command: Required value" in error
