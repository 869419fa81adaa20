import json
from dataclasses import dataclass
from typing import Any

import pytest

from trainway.api.timeout import timeout_of
from trainway.json_types import Json
from trainway.runtimes import builtin_runtime
from trainway.sdk.manifests import Wishes, plain_objects, trainjob, with_wishes
from trainway.sdk.run_options import RunOptions
from trainway.sdk.run_target import objects_of
from trainway.sdk.tasks import run_objects

HIDDEN = "a-value-that-nobody-sees"
WISHES = Wishes(
    name="job", env={"PLAIN": "$(X)"}, secrets={"TOKEN": HIDDEN}, timeout=90, runtime=None
)
POD: Json = {"spec": {"containers": [{"name": "a", "env": [{"name": "TOKEN", "value": "old"}]}]}}
JOBSET: Json = {
    "apiVersion": "jobset.x-k8s.io/v1alpha2",
    "kind": "JobSet",
    "metadata": {"name": "job"},
    "spec": {"replicatedJobs": [{"name": "x", "template": {"spec": {"template": POD}}}] * 2},
}
MPIJOB: Json = {
    "apiVersion": "kubeflow.org/v2beta1",
    "kind": "MPIJob",
    "metadata": {"name": "job"},
    "spec": {"mpiReplicaSpecs": {"Launcher": {"template": POD}, "Worker": {"template": POD}}},
}
TRAINJOB: Json = {
    "apiVersion": "trainer.kubeflow.org/v1alpha1",
    "kind": "TrainJob",
    "metadata": {"name": "job"},
    "spec": {"runtimeRef": {"name": "torch-distributed"}},
}


def function() -> None:
    """Something to call."""


@dataclass(frozen=True)
class Case:
    name: str
    objects: list[Json]
    containers: int


CASES = [
    Case("command", plain_objects(WISHES, ["env"]), 1),
    Case("script", trainjob(WISHES, builtin_runtime("torch-distributed"), ["torchrun", "x"]), 1),
    Case("function", objects_of(function, WISHES, RunOptions()), 1),
    Case("trainjob", with_wishes([TRAINJOB], WISHES), 1),
    Case("jobset", with_wishes([JOBSET], WISHES), 2),
    Case("mpijob", with_wishes([MPIJOB], WISHES), 2),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_secrets_of_every_kind_are_in_a_secret_and_nowhere_else(case: Case) -> None:
    (secret,) = [obj for obj in case.objects if obj["kind"] == "Secret"]
    others = [obj for obj in case.objects if obj["kind"] != "Secret"]

    assert secret["stringData"] == {"TOKEN": HIDDEN}
    assert HIDDEN not in json.dumps(others)
    entries = list(_entries(others))
    referred = [item for item in entries if item["name"] == "TOKEN"]
    reference = {"secretKeyRef": {"name": secret["metadata"]["name"], "key": "TOKEN"}}
    assert referred == [{"name": "TOKEN", "valueFrom": reference}] * case.containers
    assert entries.count({"name": "PLAIN", "value": "$$(X)"}) == case.containers


def _entries(value: Any) -> Any:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from inner if name == "env" else _entries(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _entries(inner)


@pytest.mark.parametrize(
    ("objects", "found"),
    [
        (CASES[0].objects, (None, 90)),
        (CASES[3].objects, (90, None)),
        (CASES[4].objects, (None, 90)),
        (CASES[5].objects, (None, 90)),
        (run_objects("run: x", "x.yaml", Wishes(timeout=90)), (None, 90)),
    ],
)
def test_every_kind_can_have_a_timeout(
    objects: list[Json], found: tuple[int | None, int | None]
) -> None:
    job = objects[-1]
    assert (job["spec"].get("activeDeadlineSeconds"), timeout_of(job)) == found


def test_an_mpijob_has_its_timeout_where_the_operator_looks_for_it() -> None:
    assert CASES[5].objects[-1]["spec"]["runPolicy"] == {"activeDeadlineSeconds": 90}


def test_what_was_written_stays_as_it_was() -> None:
    assert POD["spec"]["containers"][0]["env"] == [{"name": "TOKEN", "value": "old"}]
