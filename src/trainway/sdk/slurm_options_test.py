import json
from typing import Any

import pytest

from trainway.errors import UsageError
from trainway.jobset.labels import SLURM_OPTIONS
from trainway.sdk.slurm_options import counts_at, parsed, with_options

JOB: dict[str, Any] = {"kind": "TrainJob", "metadata": {"name": "a"}}


def test_options_are_words_or_switches() -> None:
    texts = ["qos=high", "exclusive", "constraint=a=b", "requeue=false", "nice=5"]
    assert parsed(texts) == {
        "qos": "high",
        "exclusive": True,
        "constraint": "a=b",
        "requeue": False,
        "nice": "5",
    }


@pytest.mark.parametrize("text", ["=high", "--=x", ""])
def test_an_option_has_a_name(text: str) -> None:
    with pytest.raises(UsageError, match="the name is missing"):
        parsed([text])


@pytest.mark.parametrize("kind", ["TrainJob", "MPIJob", "JobSet", "Task"])
def test_the_job_carries_them(kind: str) -> None:
    job, other = {**JOB, "kind": kind}, {"kind": "ConfigMap"}
    changed, kept = with_options([job, other], {"qos": "high"}, "slurm/hpc")
    assert json.loads(changed["metadata"]["annotations"][SLURM_OPTIONS]) == {"qos": "high"}
    assert kept == other
    assert "annotations" not in job["metadata"]


def test_they_count_more_than_those_of_the_job() -> None:
    said = {SLURM_OPTIONS: '{"qos": "low", "account": "lab"}', "other": "kept"}
    job = {"kind": "JobSet", "metadata": {"annotations": said}}
    (changed,) = with_options([job], {"qos": "high"}, "slurm")
    annotations = changed["metadata"]["annotations"]
    assert json.loads(annotations[SLURM_OPTIONS]) == {"qos": "high", "account": "lab"}
    assert annotations["other"] == "kept"


def test_without_options_nothing_changes() -> None:
    assert with_options([JOB], {}, None) == [JOB]


@pytest.mark.parametrize("on", [None, "local", "ssh/lab", "slurmish/x"])
def test_they_are_for_slurm(on: str | None) -> None:
    with pytest.raises(UsageError, match="options of Slurm"):
        with_options([JOB], {"qos": "high"}, on)


@pytest.mark.parametrize("text", ["{", "[]"])
def test_an_annotation_that_is_none_is_said(text: str) -> None:
    job = {"kind": "JobSet", "metadata": {"annotations": {SLURM_OPTIONS: text}}}
    with pytest.raises(UsageError, match="not a JSON object"):
        with_options([job], {"qos": "high"}, "slurm")


@pytest.mark.parametrize(
    ("place", "among", "counts"),
    [
        ("slurm/hpc", "slurm/hpc,local", True),
        ("local", "slurm/hpc, local", False),
        ("ssh/lab", "local,ssh/lab,slurm", False),
        ("local", "ssh/lab,local", True),
        ("local", "local", True),
        ("local", "any", False),
        ("slurm/hpc", "any", True),
        ("ssh/lab", None, False),
    ],
)
def test_of_several_places_they_are_for_those_on_slurm(
    place: str, among: str | None, counts: bool
) -> None:
    assert counts_at(place, among) is counts
