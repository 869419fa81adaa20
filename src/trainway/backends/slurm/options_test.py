import json
from dataclasses import dataclass, field
from typing import Any

import pytest

from trainway.backends.slurm import options
from trainway.backends.slurm.testing import jobset, role
from trainway.jobset.labels import SLURM_OPTIONS, TASK_OPTIONS
from trainway.json_types import Json


@dataclass(frozen=True)
class Case:
    name: str
    data: Any
    wanted: list[str] = field(default_factory=list)


@pytest.mark.parametrize(
    "case",
    [
        Case("nothing", {}),
        Case("all sorts", {"qos": "high", "nice": 5, "exclusive": True, "exclude": ["a", "b"]}),
        Case("short and long", {"-p": "main", "--time": "1:00", "gpus_per_node": 2}),
        Case("left out", {"exclusive": None}),
        Case("no object", ["qos"], ["must be an object: options of sbatch by their names"]),
        Case("no name", {"a b": 1}, ["a b: must be the name of an option of sbatch"]),
        Case(
            "ours",
            {"--output": "x"},
            [f"--output: cannot be set: {options.OWNED['output']}"],
        ),
        Case(
            "ours in short",
            {"J": "x"},
            ["J: cannot be set: name the job: --name, or metadata.name"],
        ),
        Case(
            "an object",
            {"qos": {"a": 1}},
            ["qos: must be text, a number, true or false, or a list of words"],
        ),
        Case("another line", {"qos": "a\n#SBATCH --uid=0"}, ["qos: must be one line"]),
    ],
    ids=lambda case: case.name,
)
def test_what_is_wrong_is_said(case: Case) -> None:
    assert list(options.errors(case.data)) == case.wanted


def test_every_option_has_its_long_name() -> None:
    read = options.read(
        {"-p": "main", "--Time": "1:00", "gpus_per_node": 2, "x": ["a", "b"], "b": None, "s": True}
    )
    assert read == {
        "partition": "main",
        "time": "1:00",
        "gpus-per-node": "2",
        "exclude": "a,b",
        "s": True,
    }


@pytest.mark.parametrize(
    ("layers", "wanted"),
    [
        (({"qos": "a"}, {"qos": "b"}), {"qos": "b"}),
        (({"exclusive": True}, {"exclusive": False}), {}),
        (({"mem": "1G"}, {"mem-per-cpu": "2G"}), {"mem-per-cpu": "2G"}),
        (({"gres": "gpu:1"}, {"gpus-per-node": "2"}), {"gpus-per-node": "2"}),
        (({"no-requeue": True}, {"requeue": True}), {"requeue": True}),
        (({"qos": "a"}, {"account": "b"}), {"qos": "a", "account": "b"}),
    ],
)
def test_the_last_one_counts(layers: tuple[Json, ...], wanted: Json) -> None:
    assert options.merged(*layers) == wanted


def annotated(name: str, value: Any) -> Json:
    made = jobset(role("node"))
    text = value if isinstance(value, str) else json.dumps(value)
    made["metadata"]["annotations"] = {name: text}
    return made


TASK = {"node": {"config": {"slurm": {"sbatch_options": {"qos": "low", "exclusive": True}}}}}


def test_the_annotation_counts_before_the_config_of_a_task() -> None:
    compiled = annotated(TASK_OPTIONS, TASK)
    assert options.of_job({}, compiled) == ({"qos": "low", "exclusive": True}, [])
    source = annotated(SLURM_OPTIONS, {"qos": "high"})
    assert options.of_job(source, compiled)[0] == {"qos": "high", "exclusive": True}


def test_the_partition_for_cpus_is_for_jobs_without_gpus() -> None:
    task = {"node": {"config": {"slurm": {"cpu_partition": "thin"}}}}
    compiled = annotated(TASK_OPTIONS, task)
    assert options.of_job({}, compiled)[0] == {"partition": "thin"}
    compiled["spec"] = jobset(role("node", **{"nvidia.com/gpu": 1}))["spec"]
    assert options.of_job({}, compiled)[0] == {}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "must be an object: options of sbatch by their names"),
        ("[" * 5000, "must be an object: options of sbatch by their names"),
        (
            '{"array": "1-3"}',
            "array: cannot be set: several jobs at once are submitted with --num-jobs N",
        ),
    ],
)
def test_what_is_wrong_has_its_place(text: str, said: str) -> None:
    source = annotated(SLURM_OPTIONS, text)
    assert options.of_job(source, source) == (
        {},
        [f"metadata.annotations[trainway.dev/slurm-options]: {said}"],
    )


def test_an_annotation_of_others_says_nothing() -> None:
    assert options.of_job({}, annotated(TASK_OPTIONS, "[1]")) == ({}, [])


@pytest.mark.parametrize(
    ("said", "nodes", "wanted"),
    [
        ({"qos": "high"}, [], {"qos": "high"}),
        ({"qos": "high"}, ["n2", "n1"], {"qos": "high", "exclude": "n1,n2"}),
        ({"exclude": "x[1-3]"}, ["n1"], {"exclude": "x[1-3],n1"}),
        ({"exclude": "./bad-nodes"}, ["n1"], {"exclude": "./bad-nodes"}),
        ({"nodelist": "n1"}, ["n1"], {"nodelist": "n1"}),
    ],
    ids=["none", "some", "some more", "a file of nodes", "nodes that somebody named"],
)
def test_a_job_is_kept_off_nodes(said: Json, nodes: list[str], wanted: Json) -> None:
    assert options.keeping_off(said, nodes) == wanted
