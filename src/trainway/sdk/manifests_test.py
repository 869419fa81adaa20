from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from trainway.compiler.compile import Input, Options, compile_objects
from trainway.errors import UsageError
from trainway.jobset.job_name import job_name
from trainway.jobset.labels import MAX_NODES, MIN_NODES
from trainway.jobset.literal_text import literal
from trainway.runtimes import builtin_runtime
from trainway.sdk.manifests import (
    Resources,
    Wishes,
    failing_fast,
    launcher,
    plain_jobset,
    script_command,
    trainjob,
    with_wishes,
)

GOLDEN = Path(__file__).parent / "testdata"
TORCH = builtin_runtime("torch-distributed")


@dataclass(frozen=True)
class Case:
    name: str
    objects: list[dict[str, Any]] = field(default_factory=list)


CASES = [
    Case(
        "script",
        trainjob(
            Wishes(name="train", runtime="torch-distributed"), TORCH, ["torchrun", "train.py"]
        ),
    ),
    Case(
        "script-with-everything",
        trainjob(
            Wishes(
                name="train",
                nodes=2,
                procs_per_node=4,
                resources=Resources("500m", "4Gi", "1"),
                env={"A": "1", "B": "$(HOME)"},
                runtime="torch-distributed",
                image="registry.example/image",
                restarts=3,
            ),
            TORCH,
            ["torchrun", "train.py"],
            ["--lr", "$(LR)", "$$"],
        ),
    ),
    Case(
        "mpi-script",
        trainjob(
            Wishes(name="train", nodes=2, runtime="deepspeed-distributed"),
            builtin_runtime("deepspeed-distributed"),
            ["mpirun", "python", "train.py"],
        ),
    ),
    Case("command", [plain_jobset(Wishes(name="echo"), ["echo", "hi"])]),
    Case(
        "command-with-everything",
        [
            plain_jobset(
                Wishes(
                    name="echo",
                    nodes=3,
                    resources=Resources("2", "1Gi", "1"),
                    env={"A": "1"},
                    image="registry.example/image",
                    restarts=2,
                ),
                ["sh", "-c", "echo $(date) $HOME"],
            )
        ],
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_is_submitted_is_as_stored(case: Case) -> None:
    text = yaml.safe_dump_all(case.objects, sort_keys=False)
    assert text == (GOLDEN / f"{case.name}.yaml").read_text()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_is_submitted_is_valid(case: Case) -> None:
    inputs = [Input(item, "test") for item in case.objects]
    outcome = compile_objects(inputs, Options())
    assert (outcome.errors, outcome.warnings) == ([], [])
    jobsets = [item for item in outcome.objects if item["kind"] == "JobSet"]
    (jobset,) = jobsets
    for role in jobset["spec"]["replicatedJobs"]:
        job = role["template"]["spec"]
        assert (job["backoffLimit"], job["template"]["spec"]["restartPolicy"]) == (0, "Never")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("train", "train"),
        ("My_Train.v2", "my-train-v2"),
        ("2nd", "job-2nd"),
        ("--", "job"),
        ("", "job"),
        ("Zug\N{SNOWMAN}bahn", "zug-bahn"),
        ("a" * 39 + "-b", "a" * 39),
    ],
)
def test_any_text_gives_a_name(text: str, name: str) -> None:
    assert job_name(text) == name


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("$HOME", "$HOME"),
        ("$(A)", "$$(A)"),
        ("$$", "$$$"),
        ("$$(A)", "$$$$(A)"),
        ("a$(B)$C", "a$$(B)$C"),
        ("", ""),
    ],
)
def test_nothing_is_replaced_in_what_the_user_wrote(text: str, escaped: str) -> None:
    assert literal(text) == escaped


@pytest.mark.parametrize(
    ("runtime", "command"),
    [
        ("torch-distributed", ["torchrun", "a.py"]),
        ("deepspeed-distributed", ["mpirun", "python", "a.py"]),
        ("jax-distributed", ["python", "a.py"]),
        ("none", ["python", "a.py"]),
    ],
)
def test_a_runtime_decides_how_a_script_starts(runtime: str, command: list[str]) -> None:
    assert script_command(builtin_runtime(runtime), "a.py") == command


def test_a_function_starts_without_a_script() -> None:
    assert launcher(TORCH) == ["python", "-m", "torch.distributed.run", "--no-python"]
    assert launcher(builtin_runtime("deepspeed-distributed")) == ["mpirun"]
    assert launcher(None) == []


def test_downloads_may_be_tried_again() -> None:
    runtime = builtin_runtime("torchtune-llama3.2-1b")
    assert runtime is not None
    roles = failing_fast(runtime)["spec"]["template"]["spec"]["replicatedJobs"]
    limits = {role["name"]: role["template"]["spec"].get("backoffLimit") for role in roles}
    assert limits == {"dataset-initializer": None, "model-initializer": None, "node": 0}
    assert "backoffLimit" not in str(runtime)


def train(**trainer: Any) -> dict[str, Any]:
    return {"kind": "TrainJob", "metadata": {"name": "a"}, "spec": {"trainer": trainer}}


def test_wishes_replace_what_a_trainjob_says() -> None:
    old = train(
        numNodes=1,
        env=[{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
        resourcesPerNode={"requests": {"cpu": 1, "x": 1}, "limits": {"cpu": 1}},
    )
    other = {"kind": "ConfigMap"}
    wishes = Wishes("b", 2, 4, Resources(cpus="3"), {"B": "3"}, runtime="r", image="i")
    changed, kept = with_wishes([old, other], wishes)
    assert kept is other
    assert changed == {
        "kind": "TrainJob",
        "metadata": {"name": "b"},
        "spec": {
            "runtimeRef": {"name": "r"},
            "trainer": {
                "image": "i",
                "numNodes": 2,
                "numProcPerNode": 4,
                "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "3"}],
                "resourcesPerNode": {"requests": {"cpu": "3", "x": 1}, "limits": {"cpu": "3"}},
            },
        },
    }
    assert old == train(
        numNodes=1,
        env=[{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
        resourcesPerNode={"requests": {"cpu": 1, "x": 1}, "limits": {"cpu": 1}},
    )


def test_a_range_of_nodes_is_said_in_annotations() -> None:
    old = train()
    (changed,) = with_wishes([old], Wishes(nodes=8, min_nodes=2))
    assert changed["metadata"]["annotations"] == {MIN_NODES: "2", MAX_NODES: "8"}
    assert changed["spec"]["trainer"] == {"numNodes": 8}
    assert old == train()


def test_a_command_cannot_be_elastic() -> None:
    with pytest.raises(UsageError, match="a command cannot be elastic") as caught:
        plain_jobset(Wishes("a", nodes=8, min_nodes=2), ["true"])
    assert (caught.value.field, caught.value.hint) == ("nodes", "write --nodes 8")


def test_without_wishes_objects_stay_as_they_are() -> None:
    objects = [train(), {"kind": "JobSet"}]
    assert with_wishes(objects, Wishes()) == objects


def test_any_job_can_be_renamed() -> None:
    assert with_wishes([{"kind": "JobSet"}], Wishes(name="b")) == [
        {"kind": "JobSet", "metadata": {"name": "b"}}
    ]


@pytest.mark.parametrize(
    ("objects", "wishes", "message"),
    [
        ([{"kind": "JobSet"}], Wishes(nodes=2), "nodes cannot be set for a JobSet"),
        ([{"kind": "MPIJob"}], Wishes("a", image="i"), "image cannot be set for an MPIJob"),
        ([train()], Wishes(restarts=1), "restarts cannot be set for a TrainJob"),
        ([train(), train()], Wishes(name="b"), "name can be set for one job only, and there are 2"),
    ],
)
def test_wishes_that_cannot_be_met_are_refused(
    objects: list[dict[str, Any]], wishes: Wishes, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        with_wishes(objects, wishes)


@dataclass(frozen=True)
class Amounts:
    name: str
    resources: Resources
    expected: dict[str, Any]


@pytest.mark.parametrize(
    "case",
    [
        Amounts("none", Resources(), {}),
        Amounts("cpus", Resources(cpus="2"), {"requests": {"cpu": "2"}}),
        Amounts(
            "memory is its own limit",
            Resources(memory="4Gi"),
            {"requests": {"memory": "4Gi"}, "limits": {"memory": "4Gi"}},
        ),
        Amounts(
            "another limit",
            Resources(memory="4Gi", memory_limit="8Gi"),
            {"requests": {"memory": "4Gi"}, "limits": {"memory": "8Gi"}},
        ),
        Amounts("only a limit", Resources(memory_limit="8Gi"), {"limits": {"memory": "8Gi"}}),
    ],
    ids=lambda case: case.name,
)
def test_requests_and_limits(case: Amounts) -> None:
    assert case.resources.to_dict() == case.expected


def test_a_limit_replaces_that_of_a_file() -> None:
    job = train(resourcesPerNode={"requests": {"memory": "1Gi"}, "limits": {"memory": "1Gi"}})
    (changed,) = with_wishes([job], Wishes(resources=Resources(memory_limit="2Gi")))
    assert changed["spec"]["trainer"]["resourcesPerNode"] == {
        "requests": {"memory": "1Gi"},
        "limits": {"memory": "2Gi"},
    }


@pytest.mark.parametrize(
    ("amounts", "message"),
    [
        ({"memory": "2Gi", "memory_limit": "1Gi"}, "a limit of 1Gi is less than the 2Gi"),
        ({"memory_limit": "8"}, "8 of memory would be 8 bytes"),
    ],
)
def test_a_limit_that_makes_no_sense_is_refused(amounts: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Resources(**amounts)
