import re
from typing import Any

import pytest

from trainway.compiler.compile import Input, Options, Outcome, compile_objects
from trainway.compiler.restarts import exit_codes_of, with_max_restarts
from trainway.jobset.labels import MAX_RESTARTS, RECOVER_ON_EXIT_CODES
from trainway.json_types import Json
from trainway.runtimes import builtin_runtime


def job(runtime: str) -> Json:
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"name": "a", "annotations": {"mine": "kept"}},
        "spec": {"runtimeRef": {"name": runtime}},
    }


def compiled(obj: Json) -> Outcome:
    return compile_objects([Input(obj, "test")], Options(builtin_runtime=builtin_runtime))


def jobset(obj: Json) -> Any:
    outcome = compiled(obj)
    assert outcome.errors == []
    (found,) = (each for each in outcome.objects if each["kind"] == "JobSet")
    return found["spec"]


@pytest.mark.parametrize(
    ("restarts", "policy"), [(0, None), (3, {"maxRestarts": 3})], ids=["never", "three times"]
)
def test_only_the_whole_job_restarts(restarts: int, policy: Json | None) -> None:
    spec = jobset(with_max_restarts(job("deepspeed-distributed"), restarts))
    assert spec.get("failurePolicy") == policy
    for role in spec["replicatedJobs"]:
        assert role["template"]["spec"]["backoffLimit"] == 0
        assert role["template"]["spec"]["template"]["spec"]["restartPolicy"] == "Never"


def test_nothing_else_of_the_runtime_changes() -> None:
    plain = jobset(job("torch-distributed"))
    changed = jobset(with_max_restarts(job("torch-distributed"), 0))
    (role,) = changed["replicatedJobs"]
    del role["template"]["spec"]["backoffLimit"]
    del role["template"]["spec"]["template"]["spec"]["restartPolicy"]
    assert changed == plain


def test_downloads_may_be_tried_again() -> None:
    spec = jobset(with_max_restarts(job("torchtune-llama3.2-1b"), 0))
    limits = {
        role["name"]: role["template"]["spec"].get("backoffLimit")
        for role in spec["replicatedJobs"]
    }
    assert limits == {"dataset-initializer": None, "model-initializer": None, "node": 0}


@pytest.mark.parametrize("text", ["", "often", "-1", "1.5", "٣", "9" * 30, str(2**31)])
def test_what_is_no_count_is_an_error(text: str) -> None:
    given = with_max_restarts(job("torch-distributed"), 0)
    given["metadata"]["annotations"][MAX_RESTARTS] = text
    (error,) = compiled(given).errors
    assert f"metadata.annotations[{MAX_RESTARTS}]: Invalid value" in error.message
    assert "must be a number of restarts" in error.message


def test_other_annotations_stay() -> None:
    made = with_max_restarts(job("torch-distributed"), 2)
    assert made["metadata"]["annotations"] == {"mine": "kept", MAX_RESTARTS: "2"}


def test_some_exit_codes_restart_it_without_counting() -> None:
    spec = jobset(with_max_restarts(job("torchtune-llama3.2-1b"), 0, [33, 34]))
    rule = {
        "name": "recoverOnExitCodes",
        "action": "RestartJobSetAndIgnoreMaxRestarts",
        "onJobFailureReasons": ["PodFailurePolicy"],
        "targetReplicatedJobs": ["node"],
    }
    assert spec["failurePolicy"] == {"rules": [rule]}
    policies = [role["template"]["spec"].get("podFailurePolicy") for role in spec["replicatedJobs"]]
    matched = {"operator": "In", "values": [33, 34]}
    assert policies == [None, None, {"rules": [{"action": "FailJob", "onExitCodes": matched}]}]


@pytest.mark.parametrize(
    ("text", "codes"),
    [("", []), (" ", []), ("33", [33]), ("34, 33,34", [33, 34]), ("1,255", [1, 255])],
)
def test_exit_codes(text: str, codes: list[int]) -> None:
    assert exit_codes_of(text) == codes


@pytest.mark.parametrize("text", ["0", "256", "-1", "a", "33,", "1.5", "٣", "9" * 5000])
def test_what_are_no_exit_codes_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(text)):
        exit_codes_of(text)
    given = with_max_restarts(job("torch-distributed"), 0)
    given["metadata"]["annotations"][RECOVER_ON_EXIT_CODES] = text
    (error,) = compiled(given).errors
    assert f"metadata.annotations[{RECOVER_ON_EXIT_CODES}]: Invalid value" in error.message
    assert "must be exit codes from 1 to 255" in error.message
