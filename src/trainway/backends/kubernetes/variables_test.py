from typing import Any

from trainway.agent.kubelet.variables import VARIABLES
from trainway.backends.kubernetes.variables import OUTPUT, Told, in_jobset, in_source
from trainway.json_types import Json

TOLD = Told("0123456789ab", "demo")


def jobset(*containers: Json, **pod: Any) -> Json:
    template = {"spec": {"containers": list(containers), **pod}}
    role = {"name": "node", "template": {"spec": {"template": template}}}
    return {"kind": "JobSet", "spec": {"replicatedJobs": [role]}}


def pod_of(made: Json) -> Json:
    pod: Json = made["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    return pod


def texts(container: Json) -> dict[str, str | None]:
    return {entry["name"]: entry.get("value") for entry in container["env"]}


def test_every_container_is_told_all_of_the_table() -> None:
    given = jobset({"name": "main"}, {"name": "beside"}, initContainers=[{"name": "first"}])
    pod = pod_of(in_jobset(given, TOLD))
    for container in (*pod["initContainers"], *pod["containers"]):
        assert {variable.name for variable in VARIABLES} <= texts(container).keys()
        assert texts(container)["PYTHONUNBUFFERED"] == "1"
        mount = {"name": "trainway-output", "mountPath": OUTPUT}
        assert container["volumeMounts"] == [mount]
    assert pod["volumes"] == [{"name": "trainway-output", "emptyDir": {}}]
    assert "env" not in pod_of(given)["containers"][0]


def test_what_a_container_declares_counts_more_and_may_refer_to_it() -> None:
    env = [
        {"name": "FILE", "value": "$(TRAINWAY_RANK).log"},
        {"name": "TRAINWAY_OUTPUT_DIR", "value": "/data"},
        {"name": "TRAINWAY_JOB_ID", "value": "mine"},
    ]
    pod = pod_of(in_jobset(jobset({"name": "main", "env": env}), TOLD))
    (container,) = pod["containers"]
    names = [entry["name"] for entry in container["env"]]
    assert sorted(names) == sorted(set(names))
    assert names.index("TRAINWAY_RANK") < names.index("FILE")
    assert texts(container)["TRAINWAY_OUTPUT_DIR"] == "/data"
    assert texts(container)["TRAINWAY_JOB_ID"] == TOLD.id
    assert "volumes" not in pod
    assert "volumeMounts" not in container


def test_a_trainjob_tells_its_trainer() -> None:
    made = in_source({"kind": "TrainJob", "spec": {"runtimeRef": {"name": "torch"}}}, TOLD)
    trainer = made["spec"]["trainer"]
    assert {variable.name for variable in VARIABLES} <= texts(trainer).keys()
    assert texts(trainer)["TRAINWAY_JOB_NAME"] == "demo"


def test_pods_of_an_mpijob_know_their_rank_whichever_operator_makes_them() -> None:
    replicas = {
        kind: {"template": {"spec": {"containers": [{"name": "main"}]}}}
        for kind in ("Launcher", "Worker")
    }
    made = in_source({"kind": "MPIJob", "spec": {"mpiReplicaSpecs": replicas}}, TOLD)
    launcher, worker = (
        texts(made["spec"]["mpiReplicaSpecs"][kind]["template"]["spec"]["containers"][0])
        for kind in ("Launcher", "Worker")
    )
    assert (launcher["TRAINWAY_ROLE"], launcher["TRAINWAY_RANK"]) == ("launcher", "0")
    assert worker["TRAINWAY_ROLE"] == "worker"
    assert worker["TRAINWAY_RANK"] == "$(JOB_COMPLETION_INDEX)$(TRAINWAY_REPLICA_INDEX)"
    assert list(worker)[-1] == "TRAINWAY_RESTART_ATTEMPT"
