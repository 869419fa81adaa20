"""The chart brings the dashboards and rules of `monitoring/` to those who ask. No cluster here."""

import json

import pytest
import yaml
from cluster.access import REPOSITORY
from cluster.helm import NAMESPACE, Helm, HelmError, settings

from trainway.json_types import Json
from trainway.operator import manifests

MONITORING = REPOSITORY / "monitoring"
RULES = MONITORING / "prometheus" / "trainway-alerts.yaml"
LINK = "runbook_url: {}docs/monitoring.md#"
KINDS = ("PrometheusRule", "ServiceMonitor")


@pytest.fixture(scope="module")
def helm(tmp_path_factory: pytest.TempPathFactory) -> Helm:
    return Helm(tmp_path_factory.mktemp("helm"))


def dashboards(objects: list[Json]) -> dict[str, Json]:
    """The ConfigMaps that the sidecar of Grafana's chart would load, by name."""
    return {
        obj["metadata"]["name"]: obj
        for obj in objects
        if "grafana_dashboard" in obj["metadata"]["labels"]
    }


def test_neither_is_there_unless_one_asks(helm: Helm) -> None:
    objects = helm.template()
    assert dashboards(objects) == {}
    assert not [obj for obj in objects if obj["kind"] in KINDS]


def test_dashboards_are_those_of_the_repository(helm: Helm) -> None:
    values = ["dashboards.enabled=true", "dashboards.annotations.grafana_folder=Training"]
    found = dashboards(helm.template(*settings(values)))
    files = {f"{file.stem}-dashboard": file for file in (MONITORING / "grafana").glob("*.json")}
    assert found.keys() == files.keys()
    for name, file in files.items():
        metadata = found[name]["metadata"]
        assert found[name]["kind"] == "ConfigMap"
        assert metadata["namespace"] == NAMESPACE
        assert metadata["labels"]["grafana_dashboard"] == "1"
        assert metadata["annotations"] == {"grafana_folder": "Training"}
        assert {key: json.loads(text) for key, text in found[name]["data"].items()} == {
            file.name: json.loads(file.read_text())
        }


def test_rules_are_those_of_the_repository(helm: Helm) -> None:
    base = "https://wiki.example.com/"
    values = [
        "prometheusRule.enabled=true",
        "prometheusRule.labels.release=prometheus",
        f"prometheusRule.runbookBase={base}",
    ]
    (rule,) = [obj for obj in helm.template(*settings(values)) if obj["kind"] == KINDS[0]]
    assert rule["metadata"]["name"] == manifests.NAME
    assert rule["metadata"]["labels"]["release"] == "prometheus"
    text = RULES.read_text()
    assert text.count(LINK.format("")) == text.count("alert:")
    assert rule["spec"] == yaml.safe_load(text.replace(LINK.format(""), LINK.format(base)))


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("dashboards.enabled=maybe", "dashboards"),
        ("dashboards.folder=x", "folder"),
        ("prometheusRule.runbookBase=wiki", "runbookBase"),
    ],
)
def test_values_that_make_no_sense_are_refused(value: str, said: str, helm: Helm) -> None:
    with pytest.raises(HelmError) as caught:
        helm.template("--set", value)
    assert said in str(caught.value)
