"""Resources: the candidates among which placement chooses, and what they ask for."""

from dataclasses import dataclass
from typing import Any

import pytest

from trainway.api import accelerators
from trainway.api.accelerators import Accelerator
from trainway.api.task import autostop, infra, recovery, resources
from trainway.api.task.autostop import Autostop
from trainway.api.task.infra import Infra
from trainway.api.task.recovery import Recovery


@dataclass(frozen=True)
class Case:
    name: str
    value: Any
    expected: Any


@pytest.mark.parametrize(
    "case",
    [
        Case("cloud", "AWS", Infra("aws")),
        Case("region", "gcp/us-central1", Infra("gcp", "us-central1")),
        Case("zone", "*/*/a", Infra(None, None, "a")),
        Case("context with slashes", "k8s/a/b/c", Infra("kubernetes", "a/b/c")),
        Case("pool", "ssh/pool", Infra("ssh", "pool")),
        Case("partition", "slurm/c/p", Infra("slurm", "c", "p")),
        Case("ours", "local", Infra("local")),
    ],
    ids=lambda case: case.name,
)
def test_infra(case: Case) -> None:
    parsed = infra.parse(case.value)

    assert parsed == case.expected
    assert infra.parse(str(parsed)) == parsed


@pytest.mark.parametrize("text", ["", "/a", "awz", "ssh/a/b", "local/x", "aws//z", "aws/a/b/c"])
def test_no_infra(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        infra.parse(text)


@pytest.mark.parametrize(
    "case",
    [
        Case("name", "A100", (Accelerator("A100"),)),
        Case("count", "A100-80GB:8", (Accelerator("A100-80GB", 8),)),
        Case("fraction", "T4:0.5", (Accelerator("T4", 0.5),)),
        Case("map", {"A100": 8, "V100": None}, (Accelerator("A100", 8), Accelerator("V100"))),
        Case("set", {"A100:8": None}, (Accelerator("A100", 8),)),
        Case("list", ["H100:8", "A100"], (Accelerator("H100", 8), Accelerator("A100"))),
        Case("memory", "80gb+:2", (Accelerator("80GB+", 2),)),
        Case("maker", "nvidia:80GB+:2", (Accelerator("80GB+", 2, "nvidia"),)),
        Case("words", "RTX PRO 6000 96GB:2", (Accelerator("RTX PRO 6000 96GB", 2),)),
        Case("words in a map", {"RTX 3070": 2}, (Accelerator("RTX 3070", 2),)),
        Case(
            "the longest name of a catalog",
            "Virtex UltraScale+ (VU47P):8",
            (Accelerator("Virtex UltraScale+ (VU47P)", 8),),
        ),
    ],
    ids=lambda case: case.name,
)
def test_accelerators(case: Case) -> None:
    assert list(accelerators.errors(case.value, ())) == []
    assert accelerators.candidates(case.value) == case.expected
    for one in case.expected:
        assert accelerators.parse(str(one)) == one


@pytest.mark.parametrize(
    "text",
    ["8x A100", "8 A100", "A100 8", "A100 x8", "A100 x 8", "A100  B", "80 GB", "80 GB+", "A100+",
     "RTX 3070+", "(A)", "A100, H100", "a lot"],
)  # fmt: skip
def test_a_count_is_no_word_of_a_name(text: str) -> None:
    with pytest.raises(ValueError, match="NAME:COUNT"):
        accelerators.parse(text)


@pytest.mark.parametrize(
    "case",
    [
        Case("nvidia", "H100:2", ("nvidia.com/gpu", 2)),
        Case("a part", "T4:0.5", ("nvidia.com/gpu", 1)),
        Case("amd", "MI300X:8", ("amd.com/gpu", 8)),
        Case("amd by memory", "amd:192GB", ("amd.com/gpu", 1)),
        Case("tpu", "tpu-v5litepod-8", ("google.com/tpu", 1)),
        Case("gaudi", "Gaudi2:8", ("habana.ai/gaudi", 8)),
    ],
    ids=lambda case: case.name,
)
def test_what_kubernetes_counts(case: Case) -> None:
    one = accelerators.parse(case.value)

    assert (one.resource, one.devices) == case.expected


@pytest.mark.parametrize(
    "case",
    [
        Case("true is five minutes", True, Autostop(5)),
        Case("never", False, None),
        Case("minutes", 0, Autostop(0)),
        Case("hours", "10h", Autostop(600)),
        Case("object", {"idle_minutes": 1, "down": True}, Autostop(1, down=True)),
        Case("object without minutes", {"wait_for": "JOBS"}, Autostop(5, wait_for="jobs")),
    ],
    ids=lambda case: case.name,
)
def test_autostop(case: Case) -> None:
    assert autostop.read(case.value) == case.expected


@pytest.mark.parametrize(
    "case",
    [
        Case("default", None, Recovery()),
        Case("none", "None", Recovery(is_disabled=True)),
        Case("strategy", "failover", Recovery("FAILOVER")),
        Case("one code", {"recover_on_exit_codes": 33}, Recovery(exit_codes=(33,))),
        Case(
            "codes and restarts",
            {"recover_on_exit_codes": [9, 3, 9], "max_restarts_on_errors": 2},
            Recovery(max_restarts=2, exit_codes=(3, 9)),
        ),
    ],
    ids=lambda case: case.name,
)
def test_recovery(case: Case) -> None:
    assert recovery.read(case.value) == case.expected


def candidates(**data: Any) -> tuple[bool, list[dict[str, Any]]]:
    assert list(resources.errors(data, ("resources",))) == []
    read = resources.read(data)
    return read.is_ordered, [candidate.to_dict() for candidate in read.candidates]


def test_alternatives_stand_over_the_base() -> None:
    assert candidates(
        infra="aws",
        cpus="8+",
        labels={"a": "base", "b": "base"},
        any_of=[{"labels": {"b": "inner"}}, {"infra": "gcp", "cpus": 2, "use_spot": True}],
    ) == (
        False,
        [
            {"infra": "aws", "cpus": "8+", "labels": {"a": "base", "b": "inner"}},
            {"infra": "gcp", "cpus": 2, "use_spot": True, "labels": {"a": "base", "b": "base"}},
        ],
    )


def test_a_list_of_accelerators_is_in_order_and_a_map_is_not() -> None:
    listed = candidates(accelerators=["A100", "V100:2"])
    mapped = candidates(gpus={"A100": 1, "V100": 2})

    assert listed == (True, [{"accelerators": "A100:1"}, {"accelerators": "V100:2"}])
    assert mapped == (False, listed[1])


def test_alternatives_with_several_accelerators_each() -> None:
    _, found = candidates(ordered=[{"accelerators": {"A": 1, "B": 1}}, {"gpus": "C"}])

    assert [item["accelerators"] for item in found] == ["A:1", "B:1", "C:1"]


def test_the_old_spelling_becomes_infra() -> None:
    assert candidates(cloud="GCP", zone="a")[1] == [{"infra": "gcp/*/a"}]


def test_nothing_is_one_candidate() -> None:
    assert resources.read(None).candidates == (resources.Candidate(),)


def test_a_disk_of_the_default_size_counts_as_not_given() -> None:
    sizes = [resources.read({"disk_size": size}).first.disk_gb for size in (256, "256GB", 100)]

    assert sizes == [None, None, 100]


@pytest.mark.parametrize(
    "case",
    [
        Case("docker", "docker:a/b:1", "a/b:1"),
        Case("bare", "a/b:1", "a/b:1"),
        Case("by the reserved key", {"docker": "a/b:1"}, "a/b:1"),
        Case("a machine's", "ami-123", None),
        Case("by region", {"us-east-1": "ami-1"}, None),
    ],
    ids=lambda case: case.name,
)
def test_images(case: Case) -> None:
    assert resources.read({"image_id": case.value}).first.image == case.expected
