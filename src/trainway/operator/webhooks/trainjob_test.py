import copy
from dataclasses import dataclass, field
from typing import Any

import pytest

from trainway.api.runtime import ClusterTrainingRuntime
from trainway.api.trainjob import TrainJob
from trainway.compiler.trainjob import Target
from trainway.json_types import Json
from trainway.operator.webhooks import testing
from trainway.operator.webhooks.parsing import parsed
from trainway.operator.webhooks.review import Question
from trainway.operator.webhooks.testing import creation, message, patch, patch_of, trainjob, update
from trainway.operator.webhooks.trainjob import (
    Facts,
    as_stored,
    default,
    needs_validation,
    patches_changed,
    validate,
)

NOW = "2026-11-15T12:00:00Z"
THEN = "2026-01-01T00:00:00Z"
TARGET = Target()


def runtime(**more: Any) -> ClusterTrainingRuntime:
    return ClusterTrainingRuntime.parse(testing.defaulted(testing.runtime(**more)))


def answer(question: Question, facts: Facts) -> Json:
    job = parsed(question.object, TrainJob)
    assert isinstance(job, TrainJob)
    return validate(question, job, facts, TARGET)


def times(old: list[Json] | None, new: list[Json]) -> list[str]:
    """The times of the patches after the webhook."""
    job = trainjob(runtimePatches=copy.deepcopy(new))
    question = creation(job) if old is None else update(trainjob(runtimePatches=old), job)
    for operation in patch(default(question, NOW)):
        index = int(operation["path"].split("/")[3])
        assert operation["path"] == f"/spec/runtimePatches/{index}/time"
        new[index]["time"] = operation["value"]
    return [entry.get("time", "") for entry in new]


def test_times_of_patches_on_create() -> None:
    assert times(None, [patch_of("a.io/x"), patch_of("a.io/y", time=THEN)]) == [NOW, THEN]


def test_times_of_patches_on_update() -> None:
    old = [patch_of("a.io/same", time=THEN), patch_of("a.io/changed", time=THEN)]
    new = [
        patch_of("a.io/same"),
        patch_of("a.io/changed", node="b", time=THEN),
        patch_of("a.io/new"),
        patch_of("a.io/given", time=THEN),
    ]
    assert times(old, new) == [THEN, NOW, NOW, THEN]


@pytest.mark.parametrize(
    "job",
    [trainjob(), trainjob(runtimePatches=[]), trainjob(runtimePatches=[{"manager": 3}])],
    ids=["none", "empty", "not valid"],
)
def test_nothing_to_stamp_is_passed_on(job: Json) -> None:
    assert default(creation(job), NOW)["response"] == {"uid": "uid", "allowed": True}


KUEUE = "system:serviceaccount:kueue-system:kueue-controller-manager"
OVERRIDE = {"targetJobs": [{"name": "node"}], "spec": {"nodeSelector": {"pool": "spot"}}}
CPU = {"requests": {"cpu": 1, "memory": "1024Mi"}}


def written(old: Json, new: Json, user: str) -> Json:
    """The fields of the spec that the webhook changes when a user writes it."""
    operations = patch(default(update(old, new, user), NOW))
    return {operation["path"]: operation.get("value") for operation in operations}


def test_what_kueue_does_not_know_it_cannot_take_away() -> None:
    old = trainjob(
        suspend=True,
        trainer={"resourcesPerNode": CPU},
        activeDeadlineSeconds=60,
        runtimePatches=[patch_of("a.io/x", time=THEN)],
    )
    spelled = {"requests": {"cpu": "1", "memory": "1Gi"}}
    new = trainjob(
        suspend=True, trainer={"resourcesPerNode": spelled}, podTemplateOverrides=[OVERRIDE]
    )
    assert written(old, new, KUEUE) == {
        "/spec/activeDeadlineSeconds": 60,
        "/spec/runtimePatches": [patch_of("a.io/x", time=THEN)],
        "/spec/trainer/resourcesPerNode/requests/cpu": 1,
        "/spec/trainer/resourcesPerNode/requests/memory": "1024Mi",
    }
    assert written(old, new, "alice") == {}


def test_labels_that_kueue_adds_are_dropped_by_the_api_server() -> None:
    job = trainjob(suspend=True, labels={"kueue.x-k8s.io/queue-name": "team-a"})
    assert isinstance(parsed(as_stored(job), TrainJob), TrainJob)
    assert as_stored(trainjob()) == trainjob()


def test_what_a_queue_decides_kueue_may_take_back() -> None:
    old = trainjob(podTemplateOverrides=[OVERRIDE], runtimePatches=[patch_of("a.io/x", time=THEN)])
    new = trainjob(suspend=True, runtimePatches=[patch_of("a.io/x", node="b")])
    assert written(old, new, KUEUE) == {"/spec/runtimePatches/0/time": NOW}


@dataclass(frozen=True)
class Case:
    name: str
    spec: Json
    message: str
    facts: Facts = field(default_factory=lambda: Facts(runtime()))


MISSING = (
    'spec.runtimeRef: Invalid value: "torch": clustertrainingruntimes.trainer.kubeflow.org "torch"'
    " not found: specified clusterTrainingRuntime must be created before the TrainJob is created"
)
CASES = [
    Case("fine", {"trainer": {"numNodes": 2}}, ""),
    Case("no runtime", {}, MISSING, Facts()),
    Case(
        "not a runtime",
        {"runtimeRef": {"name": "x", "kind": "Deployment", "apiGroup": "apps"}},
        'spec.runtimeRef: Invalid value: "Deployment.apps": unsupported runtime: use'
        " ClusterTrainingRuntime.trainer.kubeflow.org or TrainingRuntime.trainer.kubeflow.org",
    ),
    Case(
        "two errors",
        {
            "trainer": {"env": [{"name": "PET_NNODES", "value": "1"}]},
            "runtimePatches": [patch_of("nothing")],
        },
        '[spec.trainer.env: Invalid value: [{"name":"PET_NNODES","value":"1"}]: must not have'
        " reserved envs, invalid envs configured: [PET_NNODES],"
        ' spec.runtimePatches[0].manager: Invalid value: "nothing": must be a domain-prefixed path'
        ' (such as "acme.io/foo")]',
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_new_job(case: Case) -> None:
    result = answer(creation(trainjob(**case.spec)), case.facts)
    assert message(result) == case.message
    assert result["response"]["allowed"] is (not case.message)


def test_a_deprecated_runtime_is_warned_of() -> None:
    old = testing.runtime()
    old["metadata"]["labels"] = {"trainer.kubeflow.org/support": "deprecated"}
    facts = Facts(ClusterTrainingRuntime.parse(testing.defaulted(old)))
    (warning,) = answer(creation(trainjob()), facts)["response"]["warnings"]
    assert warning.startswith('Referenced ClusterTrainingRuntime "torch" is deprecated')


def test_d9_every_priority_class_of_a_volcano_gang_must_exist() -> None:
    obj = testing.runtime(podGroupPolicy={"volcano": {}})
    pod = obj["spec"]["template"]["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]
    pod["spec"]["priorityClassName"] = "high"
    found = ClusterTrainingRuntime.parse(testing.defaulted(obj))
    refused = message(answer(creation(trainjob()), Facts(found)))
    assert refused == (
        'spec.templateSpec.priorityClassName: Invalid value: "high": PriorityClass "high" doesn\'t'
        ' exist: priorityclasses.scheduling.k8s.io "high" not found'
    )
    there = Facts(found, priority_classes=frozenset({"high"}))
    assert message(answer(creation(trainjob()), there)) == ""


@dataclass(frozen=True)
class Change:
    name: str
    was_suspended: bool
    is_suspended: bool
    message: str
    active: tuple[str, ...] = ()


FORBIDDEN = "spec.runtimePatches: Forbidden: RuntimePatches "
CHANGES = [
    Change("while suspended", True, True, ""),
    Change("and resumed", True, False, ""),
    Change("and suspended", False, True, ""),
    Change(
        *("while it runs", False, False),
        f"{FORBIDDEN}can only be modified when the TrainJob is suspended before or after the"
        " update",
    ),
    Change(
        *("with pods left", True, True),
        f"{FORBIDDEN}cannot be modified when the JobSet's ReplicatedJob node is still active",
        ("node",),
    ),
]


@pytest.mark.parametrize("case", CHANGES, ids=lambda case: case.name)
def test_patches_change_only_while_nothing_runs(case: Change) -> None:
    old = trainjob(suspend=case.was_suspended, runtimePatches=[patch_of("a.io/x")])
    new = trainjob(suspend=case.is_suspended, runtimePatches=[patch_of("a.io/x", node="b")])
    question = update(old, new)
    assert patches_changed(question)
    facts = Facts(runtime(), active_jobs=case.active)
    assert message(answer(question, facts)) == case.message


def test_an_update_of_nothing_that_matters_needs_no_look_at_the_cluster() -> None:
    relabelled = trainjob()
    relabelled["metadata"]["labels"] = {"a": "b"}
    assert not needs_validation(update(trainjob(), relabelled))
    assert not needs_validation(update(trainjob(), trainjob(suspend=True)))
    assert needs_validation(update(trainjob(), trainjob(trainer={"numNodes": 2})))
    assert needs_validation(creation(trainjob()))


def test_a_quantity_that_the_schema_lets_pass_is_refused() -> None:
    job = trainjob(trainer={"resourcesPerNode": {"requests": {"cpu": "1e1.5"}}})
    errors = parsed(creation(job).object, TrainJob)
    assert isinstance(errors, list)
    assert ", ".join(map(str, errors)) == (
        'spec.trainer.resourcesPerNode.requests.cpu: Invalid value: "1e1.5": must be a quantity'
        " such as 500m, 1Gi or 1e3"
    )


def test_what_our_types_do_not_take_is_named() -> None:
    job = trainjob(trainer={"image": 3})
    errors = parsed(creation(job).object, TrainJob)
    assert isinstance(errors, list)
    assert [str(error) for error in errors] == [
        'spec.trainer.image: Invalid value: "integer": must be of type string'
    ]
