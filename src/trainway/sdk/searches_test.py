"""What `trainway tune` is asked for, as the search that the server takes."""

from dataclasses import dataclass
from typing import Any

import pytest

from trainway.errors import InvalidError, TrainwayError, UsageError
from trainway.sdk.manifests import Wishes
from trainway.sdk.searches import SearchOptions, first_trials, in_manifest, names_in, search_of

JOB = """
apiVersion: trainer.kubeflow.org/v1alpha1
kind: OptimizationJob
metadata: {name: demo, annotations: {trainway.dev/pruning: median}}
spec:
  objectives: [{metric: loss}]
  parameters: [{name: lr, searchSpace: {categorical: {choices: ["1", "2"]}}}]
  trainJobTemplate:
    metadata: {labels: {team: nlp}}
    spec: {runtimeRef: {name: torch-distributed}}
"""


@dataclass(frozen=True)
class Case:
    text: str
    space: dict[str, Any]


@pytest.mark.parametrize(
    "case",
    [
        Case("8,16,32", {"categorical": {"choices": ["8", "16", "32"]}}),
        Case("adam", {"categorical": {"choices": ["adam"]}}),
        Case("http://a:1", {"categorical": {"choices": ["http://a:1"]}}),
        Case("localhost:80", {"categorical": {"choices": ["localhost:80"]}}),
        Case("1:2,2:1", {"categorical": {"choices": ["1:2", "2:1"]}}),
        Case("log:1e-5:.1", {"logUniform": {"min": "1e-05", "max": "0.1"}}),
        Case("uniform:-1:2", {"uniform": {"min": "-1.0", "max": "2.0"}}),
        Case("int:2:8", {"uniform": {"min": "2", "max": "8", "type": "Int"}}),
    ],
    ids=lambda case: case.text,
)
def test_a_parameter_is_a_list_or_a_range(case: Case) -> None:
    found = search_of(SearchOptions([f"x={case.text}"], "loss"))
    assert found["spec"]["parameters"] == [{"name": "x", "searchSpace": case.space}]
    assert found["spec"]["numTrials"] == 20


def test_all_that_can_be_asked_for() -> None:
    given = SearchOptions(["a=1,2", "b=x,y,z"], "acc:max", None, 4, "grid", "halving")
    found = search_of(given)
    assert found["spec"]["objectives"] == [{"metric": "acc", "direction": "Maximize"}]
    assert (found["spec"]["numTrials"], found["spec"]["parallelTrials"]) == (6, 4)
    assert found["annotations"] == {"trainway.dev/pruning": "successive-halving"}
    assert names_in(found) == ["a", "b"]
    assert first_trials(found)[:2] == [{"a": "1", "b": "x"}, {"a": "1", "b": "y"}]
    tpe = search_of(SearchOptions(["a=1,2"], "loss", 3, 9, "tpe", None, 5))
    assert tpe["annotations"] == {"trainway.dev/algorithm": "tpe"}
    assert tpe["spec"]["searchAlgorithm"] == {"random": {"seed": 5}}
    assert tpe["spec"]["parallelTrials"] == 3


@dataclass(frozen=True)
class Wrong:
    options: SearchOptions
    message: str
    error: type[TrainwayError] = UsageError


@pytest.mark.parametrize(
    "case",
    [
        Wrong(SearchOptions([], "loss"), "there is nothing to search"),
        Wrong(SearchOptions(["lr"], "loss"), "--param lr: it must be a name and its values"),
        Wrong(SearchOptions(["a=1", "a=2"], "loss"), "the parameter a has --param twice"),
        Wrong(SearchOptions(["lr=@x"], "loss"), "the values of --param cannot be in a file"),
        Wrong(SearchOptions(["lr=log:0:1"], "loss"), "'log:0:1' is not a range of values for lr"),
        Wrong(SearchOptions(["9=1"], "loss"), "'9' cannot be the name of a parameter"),
        Wrong(SearchOptions(["a=1"], "loss:up"), "--objective loss:up: it must be a metric"),
        Wrong(
            SearchOptions(["a=int:1:9"], "loss", algorithm="grid"),
            "Grid search requires all parameters to be Categorical",
            InvalidError,
        ),
        Wrong(
            SearchOptions(["a=1"], "loss", trials=101),
            "must be less than or equal to 100",
            InvalidError,
        ),
    ],
    ids=lambda case: case.message,
)
def test_what_is_wrong_is_said(case: Wrong) -> None:
    with pytest.raises(case.error, match="(?s)" + case.message.replace("(", r"\(")):
        search_of(case.options)


def test_an_optimizationjob_is_its_trial_and_its_search() -> None:
    found = in_manifest(JOB, "job.yaml", Wishes())
    assert found is not None
    (trial,), search = found
    assert (trial["kind"], trial["metadata"]["name"]) == ("TrainJob", "demo")
    assert trial["metadata"]["labels"] == {"team": "nlp"}
    assert "annotations" not in trial["metadata"]
    assert search["annotations"] == {"trainway.dev/pruning": "median"}
    assert "trainJobTemplate" not in search["spec"]
    assert in_manifest("kind: TrainJob", "job.yaml", Wishes()) is None
    assert in_manifest("# no OptimizationJob", "job.yaml", Wishes()) is None
    with pytest.raises(UsageError, match="it contains 2 searches"):
        in_manifest(f"{JOB}---{JOB}", "job.yaml", Wishes())
    wrong = JOB.replace("median", "often")
    with pytest.raises(InvalidError, match=r'OptimizationJob/demo: metadata.*"often"'):
        in_manifest(wrong, "job.yaml", Wishes())


@pytest.mark.parametrize("text", ["logg:1e-3:1", "1e-3:1", "log:1:1e-3", "uniform:1"])
def test_a_range_that_is_misspelt_is_not_tried_as_a_value(text: str) -> None:
    with pytest.raises(UsageError, match="is not a range of values for lr") as caught:
        search_of(SearchOptions([f"lr={text}"], "loss"))
    assert "log:1e-5:1e-1" in (caught.value.hint or "")
