"""Volumes by their names: what they become, and where they cannot be had."""

from dataclasses import dataclass

import pytest

from trainway.compiler.named_volumes import (
    NamedVolume,
    annotated,
    problem,
    references,
    with_volumes,
)
from trainway.jobset.labels import VOLUMES
from trainway.json_types import Json

FOLDER = NamedVolume("corpus", "directory", "ssh/lab", "/srv/corpus")
CLAIM = NamedVolume("disk", "k8s-pvc", access_mode="ReadWriteOnce")


@dataclass(frozen=True)
class Case:
    name: str
    volume: NamedVolume
    place: str
    pods: int = 1
    problem: str = ""


CASES = [
    Case("at home", FOLDER, "ssh/lab", pods=4),
    Case("elsewhere", FOLDER, "ssh/other", problem="it is on ssh/lab, but the job goes to ssh/oth"),
    Case("a longer name", FOLDER, "ssh/lab2", problem="it is on ssh/lab, but"),
    Case("a partition", NamedVolume("a", "directory", "slurm/hpc", "/x"), "slurm/hpc/gpu"),
    Case("this machine", NamedVolume("a", "directory", "", "/x"), "local"),
    Case("any cluster", CLAIM, "k8s/team"),
    Case(
        "another cluster", NamedVolume("a", "k8s-pvc", "k8s/a"), "k8s/b", problem="it is on k8s/a"
    ),
    Case("no cluster", CLAIM, "local", problem="it is on kubernetes, but the job goes to local"),
    Case("too many pods", CLAIM, "k8s/team", 2, "ReadWriteOnce allows one node only, but the job"),
    Case("many readers", NamedVolume("a", "k8s-pvc", access_mode="ReadOnlyMany"), "k8s/t", 9),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_problem(case: Case) -> None:
    said = problem(case.volume, case.place, case.pods)
    assert said.startswith(case.problem) if case.problem else said == ""


def task(*names: str) -> Json:
    mounts = {f"/{name}": name for name in names}
    return {"kind": "Task", "metadata": {}, "spec": {"tasks": [{"task": {"volumes": mounts}}]}}


def jobset(*claims: str) -> Json:
    volumes = [
        {"name": f"v-{name}", "persistentVolumeClaim": {"claimName": name}} for name in claims
    ]
    mounts = [{"name": f"v-{name}", "mountPath": f"/{name}"} for name in claims]
    pod = {"spec": {"volumes": volumes, "containers": [{"name": "c", "volumeMounts": mounts}]}}
    role = {"name": "node", "template": {"spec": {"parallelism": 1, "template": pod}}}
    return {"kind": "JobSet", "metadata": {}, "spec": {"replicatedJobs": [role]}}


def pod_of(made: Json) -> Json:
    spec: Json = made["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    return spec


def test_references_are_found_wherever_they_stand() -> None:
    ephemeral = {"kind": "Task", "spec": {"tasks": [{"task": {"volumes": {"/x": {"size": 1}}}}]}}
    named = {"kind": "Task", "spec": {"tasks": [{"task": {"volumes": {"/x": {"name": "n"}}}}]}}
    assert references([task("a"), named, ephemeral, jobset("b", "a")]) == ["a", "n", "b"]
    for broken in ({"kind": "Task", "spec": None}, {"kind": "Task", "spec": {"tasks": [1]}}):
        assert references([broken]) == []


def test_a_folder_takes_the_place_of_the_claim() -> None:
    (source,) = annotated([task("corpus")], {"corpus": FOLDER})
    before = jobset("corpus")
    made, errors = with_volumes(before, source, "ssh/lab", in_pods=False)
    assert errors == []
    path = {"path": "/srv/corpus", "type": "Directory"}
    assert pod_of(made)["volumes"] == [{"name": "v-corpus", "hostPath": path}]
    assert "persistentVolumeClaim" in pod_of(before)["volumes"][0], "it was changed itself"


def test_what_may_only_be_read_is_mounted_so() -> None:
    shared = NamedVolume("corpus", "k8s-pvc", access_mode="ReadOnlyMany")
    (source,) = annotated([jobset("corpus")], {"corpus": shared})
    made, errors = with_volumes(source, source, "k8s/team", in_pods=True)
    assert errors == []
    (mount,) = pod_of(made)["containers"][0]["volumeMounts"]
    assert mount["readOnly"] is True


def test_a_task_without_pods_has_no_other_volumes() -> None:
    _, (said,) = with_volumes(jobset("nope"), task("nope"), "local", in_pods=False)
    assert said.startswith("role node, volume nope: there is no volume of that name; make it with")
    for source, in_pods in ((task("nope"), True), (jobset("nope"), False)):
        assert with_volumes(jobset("nope"), source, "x", in_pods=in_pods)[1] == []


@pytest.mark.parametrize("text", ["{", "[]", '{"a": 1}', '{"a": {"name": 1, "type": 2}}'])
def test_a_broken_annotation_means_nothing(text: str) -> None:
    source = {"kind": "JobSet", "metadata": {"annotations": {VOLUMES: text}}}
    assert with_volumes(jobset("a"), source, "local", in_pods=False) == (jobset("a"), [])
