from dataclasses import dataclass

import pytest

from trainway.compiler.compile import Input, Options, compile_objects
from trainway.json_types import Json
from trainway.operator.webhooks.mpijob import default, validate
from trainway.operator.webhooks.testing import creation, message, mpijob, patch, update


def test_what_the_controller_would_fill_in_is_filled_in() -> None:
    question = creation(mpijob())
    question.object["spec"].pop("slotsPerWorker", None)
    operations = patch(default(question))
    assert {operation["path"]: operation["value"] for operation in operations} == {
        "/spec/mpiReplicaSpecs/Launcher/replicas": 1,
        "/spec/mpiReplicaSpecs/Launcher/restartPolicy": "OnFailure",
        "/spec/mpiReplicaSpecs/Worker/restartPolicy": "Never",
        "/spec/runPolicy": {"cleanPodPolicy": "None"},
        "/spec/slotsPerWorker": 1,
    }


def test_what_is_given_stays() -> None:
    job = mpijob(runPolicy={"cleanPodPolicy": "All"}, slotsPerWorker=4)
    paths = [operation["path"] for operation in patch(default(creation(job)))]
    assert "/spec/runPolicy" not in paths
    assert "/spec/runPolicy/cleanPodPolicy" not in paths
    assert "/spec/slotsPerWorker" not in paths


@pytest.mark.parametrize(
    "spec", [{"mpiReplicaSpecs": None}, {"mpiReplicaSpecs": {"Launcher": 3}}, {"runPolicy": "x"}]
)
def test_what_is_no_mpijob_is_passed_on(spec: Json) -> None:
    question = creation(mpijob())
    question.object["spec"] |= spec
    assert default(question)["response"] == {"uid": "uid", "allowed": True}


@dataclass(frozen=True)
class Case:
    name: str
    spec: Json


CASES = [
    Case("no launcher", {"mpiReplicaSpecs": {}}),
    Case("negative", {"slotsPerWorker": -1, "runPolicy": {"backoffLimit": -1}}),
    Case("policies", {"runPolicy": {"cleanPodPolicy": "Some", "managedBy": "me"}}),
    Case("creation", {"launcherCreationPolicy": "Later"}),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_errors_are_those_of_the_offline_validation(case: Case) -> None:
    job = mpijob(**case.spec)
    offline = compile_objects([Input(job, "job.yaml")], Options())
    texts = [problem.message for problem in offline.errors]
    assert texts
    wanted = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    assert message(validate(creation(job))) == wanted


def test_an_unknown_role_is_warned_of() -> None:
    job = mpijob()
    job["spec"]["mpiReplicaSpecs"]["Wroker"] = {"replicas": 1}
    answer = validate(creation(job))
    assert answer["response"]["warnings"] == [
        'spec.mpiReplicaSpecs.Wroker: Unknown field: did you mean "Worker"?'
    ]


def test_a_wrong_job_that_is_stored_may_still_get_a_label() -> None:
    wrong = mpijob(slotsPerWorker=-1)
    labelled = mpijob(slotsPerWorker=-1)
    labelled["metadata"]["labels"] = {"a": "b"}
    assert message(validate(update(wrong, labelled))) == ""
    assert message(validate(update(wrong, mpijob(slotsPerWorker=-2)))) != ""
