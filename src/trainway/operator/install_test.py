import argparse
import asyncio
from dataclasses import dataclass
from typing import Any

import pytest
import yaml

from trainway.operator import manifests
from trainway.operator.install import add_arguments, is_contained, label, main, removals
from trainway.operator.manifests import Installation


@dataclass(frozen=True)
class Case:
    name: str
    wanted: Any
    found: Any
    is_contained: bool


CASES = [
    Case("same", {"a": [1, {"b": 2}]}, {"a": [1, {"b": 2}]}, True),
    Case("defaults", {"a": [{"b": 2}]}, {"a": [{"b": 2, "c": 3}], "d": 4}, True),
    Case("missing", {"a": 1}, {}, False),
    Case("other value", {"a": 1}, {"a": 2}, False),
    Case("other length", {"a": [1]}, {"a": [1, 2]}, False),
    Case("other type", {"a": {}}, {"a": []}, False),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_whether_all_that_is_wanted_is_there(case: Case) -> None:
    assert is_contained(case.wanted, case.found) is case.is_contained


def run(command: str, *flags: str) -> int:
    parser = argparse.ArgumentParser()
    add_arguments(parser, command)
    options = parser.parse_args(flags)
    options.command = command
    return asyncio.run(main(options))


def printed(capsys: pytest.CaptureFixture[str]) -> list[Any]:
    return list(yaml.load_all(capsys.readouterr().out, yaml.CSafeLoader))


def test_a_dry_run_prints_manifests_that_name_the_image_and_the_namespace(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run("install", "--dry-run", "--image=x:1", "--namespace=here") == 0
    objects = printed(capsys)
    (deployment,) = [obj for obj in objects if obj["kind"] == "Deployment"]
    assert deployment["metadata"]["namespace"] == "here"
    assert deployment["spec"]["template"]["spec"]["containers"][0]["image"] == "x:1"
    kinds = [obj["kind"] for obj in objects]
    assert kinds[:5] == ["CustomResourceDefinition"] * 5
    assert kinds.index("ClusterTrainingRuntime") < kinds.index("ValidatingWebhookConfiguration")


@dataclass(frozen=True)
class PartCase:
    only: str
    kind: str


@pytest.mark.parametrize(
    "case",
    [PartCase("crds", "CustomResourceDefinition"), PartCase("runtimes", "ClusterTrainingRuntime")],
    ids=lambda case: case.only,
)
def test_a_part_can_be_installed_alone(case: PartCase, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("install", "--dry-run", f"--only={case.only}") == 0
    objects = printed(capsys)
    assert {obj["kind"] for obj in objects} == {case.kind}


def test_a_single_replica_has_no_disruption_budget(capsys: pytest.CaptureFixture[str]) -> None:
    kinds = []
    for replicas in ("1", "2"):
        run("install", "--dry-run", f"--replicas={replicas}")
        kinds.append({obj["kind"] for obj in printed(capsys)})
    assert kinds[1] - kinds[0] == {"PodDisruptionBudget"}


def test_a_dry_run_of_a_removal_names_what_would_go(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("uninstall", "--dry-run") == 0
    lines = capsys.readouterr().out.splitlines()
    assert "deployment.apps/kubeflow-trainer-controller-manager would be deleted" in lines
    assert not any("customresourcedefinition" in line for line in lines)
    assert "webhookconfiguration" in lines[0]


def test_all_that_is_installed_is_removed_but_what_belongs_to_people() -> None:
    here = Installation()
    installed = {label(obj) for obj in manifests.everything(here)}
    installed -= {label(obj) for obj in manifests.crds()}
    removed = {label(obj) for obj in removals(here, crds=False)}
    kept = {label(obj) for obj in manifests.runtimes()} | {"namespace/kubeflow-system"}
    assert installed - removed == kept
    assert {label(obj) for obj in removals(here, crds=True)} - removed == {
        label(obj) for obj in manifests.crds()
    }
