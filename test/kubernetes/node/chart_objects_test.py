"""Chart, kustomizations and `trainway operator install` give the same objects. No cluster here."""

import json
import re
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from cluster.access import REPOSITORY
from cluster.helm import CHART, NAMESPACE, Helm, HelmError, settings

from cluster import builds
from trainway import __version__
from trainway.json_types import Json
from trainway.operator import manifests
from trainway.operator.configuration_file import SCHEMA, parse_configuration
from trainway.operator.manifests import Installation
from trainway.operator.options import Parser, add_run_arguments, load_config
from trainway.operator.user_roles import user_roles
from trainway.schema.structural import Schema

Key = tuple[str, str, str]

HOOK = "helm.sh/hook"
OF_A_TOOL = (
    "app.kubernetes.io/instance",
    "app.kubernetes.io/managed-by",
    "app.kubernetes.io/version",
    "helm.sh/chart",
    "helm.sh/resource-policy",
    "trainway.dev/configuration",
)
"""Labels and annotations that say who installed it and how; they differ, of course."""


@pytest.fixture(scope="module")
def helm(tmp_path_factory: pytest.TempPathFactory) -> Helm:
    return Helm(tmp_path_factory.mktemp("helm"))


def kustomized(folder: str) -> list[Json]:
    """What `kubectl kustomize` makes of a folder of manifests/."""
    kubectl = builds.build(builds.KUBERNETES, ["kubectl"]) / "kubectl"
    command = [str(kubectl), "kustomize", str(REPOSITORY / "manifests" / folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return list(yaml.load_all(done.stdout, yaml.CSafeLoader))


def comparable(objects: Iterable[Json]) -> dict[Key, Json]:
    """By kind, namespace and name, without what tools add and in one order."""
    found = {key_of(obj): normal(obj) for obj in objects if HOOK not in annotations_of(obj)}
    found.pop(("Namespace", "", NAMESPACE), None)  # Helm makes it itself
    return found


def key_of(obj: Json) -> Key:
    metadata = obj["metadata"]
    return obj["kind"], metadata.get("namespace", ""), metadata["name"]


def annotations_of(obj: Json) -> Json:
    found: Json = obj["metadata"].get("annotations") or {}
    return found


def normal(value: Any) -> Any:
    if isinstance(value, dict):
        kept = {k: normal(v) for k, v in value.items() if k not in OF_A_TOOL}
        if isinstance(kept.get("data"), dict) and manifests.CONFIG_FILE in kept["data"]:
            kept["data"] = yaml.safe_load(kept["data"][manifests.CONFIG_FILE])
        return {k: v for k, v in kept.items() if v != {} or k not in ("labels", "annotations")}
    if isinstance(value, list):
        items = [normal(item) for item in value]
        return sorted(items, key=str_of) if all_named(items) else items
    return value


def str_of(item: Json) -> str:
    return json.dumps(item, sort_keys=True)


def all_named(items: list[Any]) -> bool:
    """Whether the order says nothing: ports."""
    return all(isinstance(item, dict) and {"port", "containerPort"} & set(item) for item in items)


def without_runtimes(installation: Installation) -> list[Json]:
    runtimes = {key_of(obj) for obj in manifests.runtimes()}
    return [obj for obj in manifests.everything(installation) if key_of(obj) not in runtimes]


def test_the_chart_is_in_order(helm: Helm) -> None:
    helm("lint", "--strict", str(CHART))
    everything = ["serviceMonitor.enabled=true", "watchNamespaces={a,b}", "replicaCount=1"]
    everything += ["prometheusRule.enabled=true", "dashboards.enabled=true"]
    helm("lint", "--strict", str(CHART), *settings(everything))


def test_chart_kustomization_and_install_give_the_same_objects(helm: Helm) -> None:
    wanted = comparable(without_runtimes(Installation()))
    assert ("Deployment", NAMESPACE, manifests.NAME) in wanted
    assert comparable([*kustomized("crds"), *kustomized("overlays/ha")]) == wanted
    assert comparable(helm.template()) == wanted


def test_the_same_with_one_replica(helm: Helm) -> None:
    wanted = comparable(without_runtimes(replace(Installation(), replicas=1)))
    assert comparable([*kustomized("crds"), *kustomized("overlays/standalone")]) == wanted
    assert comparable(helm.template("--set", "replicaCount=1")) == wanted


def test_the_same_with_a_service_monitor(helm: Helm) -> None:
    here = Installation()
    wanted = comparable([*without_runtimes(here), manifests.service_monitor(here)])
    assert comparable([*kustomized("crds"), *kustomized("overlays/monitoring")]) == wanted
    assert comparable(helm.template("--set", "serviceMonitor.enabled=true")) == wanted


def test_parts_can_be_built_alone() -> None:
    assert comparable(kustomized("crds")) == comparable(manifests.crds())
    assert comparable(kustomized("runtimes")) == comparable(manifests.runtimes())
    for overlay in ("base", "overlays/standalone", "overlays/ha", "overlays/monitoring"):
        kinds = {obj["kind"] for obj in kustomized(overlay)}
        # Whoever deletes it would delete every job with its kind.
        assert not kinds & {"CustomResourceDefinition", "ClusterTrainingRuntime"}


def test_roles_of_users_are_the_same_everywhere(helm: Helm) -> None:
    wanted = comparable(user_roles())
    assert comparable(kustomized("user-roles")) == wanted
    assert not comparable(helm.template()).keys() & wanted.keys()
    rendered = comparable(helm.template("--set", "rbac.userRoles=true"))
    assert {key: rendered[key] for key in wanted} == wanted


def test_runtimes_come_by_a_job_after_the_kinds(helm: Helm) -> None:
    hooks = {key_of(obj): obj for obj in helm.template() if HOOK in annotations_of(obj)}
    name = "kubeflow-trainer-runtimes"
    assert {kind for kind, _, _ in hooks} == {
        "ServiceAccount",
        "ClusterRole",
        "ClusterRoleBinding",
        "Job",
    }
    (container,) = hooks["Job", NAMESPACE, name]["spec"]["template"]["spec"]["containers"]
    command = [*container["command"], *container["args"]]
    assert command == ["trainway", "operator", "install", "--only=runtimes"]
    for obj in hooks.values():
        assert annotations_of(obj)[HOOK] == "post-install,post-upgrade"
        assert "hook-succeeded" in annotations_of(obj)["helm.sh/hook-delete-policy"]
    without = helm.template("--set", "runtimes.install=false")
    assert not [obj for obj in without if HOOK in annotations_of(obj)]


# Values


@dataclass(frozen=True)
class Refusal:
    value: str
    said: str


REFUSALS = [
    Refusal("replicaCount=many", "replicaCount"),
    Refusal("replicas=3", "replicas"),
    Refusal("config.webhok.port=1", "webhok"),
    Refusal("config.webhook.port=99999", "port"),
    Refusal("config.leaderElection.leaseDuration=soon", "leaseDuration"),
    Refusal("config.leaderElection.resourceNamespace=x", "resourceNamespace"),
    Refusal("image.digest=sha256:short", "digest"),
    Refusal("webhooks.failurePolicy=Maybe", "failurePolicy"),
    Refusal("watchNamespaces={Not A Name}", "watchNamespaces"),
    Refusal("logLevel=loud", "logLevel"),
]


@pytest.mark.parametrize("case", REFUSALS, ids=lambda case: case.value)
def test_values_that_make_no_sense_are_refused(case: Refusal, helm: Helm) -> None:
    with pytest.raises(HelmError) as caught:
        helm.template("--set", case.value)
    assert "values don't meet the specifications of the schema" in str(caught.value)
    assert case.said in str(caught.value)


def found(objects: list[Json], kind: str, name: str = "") -> Json:
    (one,) = [
        obj
        for obj in objects
        if obj["kind"] == kind
        and name in ("", obj["metadata"]["name"])
        and HOOK not in annotations_of(obj)
    ]
    return one


def container_of(objects: list[Json]) -> Json:
    (container,) = found(objects, "Deployment")["spec"]["template"]["spec"]["containers"]
    assert isinstance(container, dict)
    return container


def test_what_is_configured_is_what_the_operator_reads(helm: Helm) -> None:
    objects = helm.template(
        *settings(
            [
                "config.metrics.bindAddress=:9000",
                "config.metrics.auth.enabled=true",
                "config.webhook.port=9500",
                "config.featureGates.TrainJobStatus=true",
                "config.controller.groupKindConcurrency.TrainJob\\.trainer\\.kubeflow\\.org=3",
                "config.health.readinessEndpointName=ready",
                "gangScheduling=volcano",
                "clusterDomain=example.org",
                "watchNamespaces={a,b}",
                "logLevel=debug",
                "extraArgs={--kube-api-qps=7}",
            ]
        )
    )
    text = found(objects, "ConfigMap", manifests.CONFIG_MAP)["data"][manifests.CONFIG_FILE]
    config = parse_configuration(text).config
    container = container_of(objects)
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    assert (config.metrics.bind_address, ports["metrics"]) == (":9000", 9000)
    assert (config.webhook.port, ports["webhook"]) == (9500, 9500)
    assert config.metrics.auth_enabled
    assert config.feature_gates.train_job_status
    assert config.workers("TrainJob.trainer.kubeflow.org") == 3
    assert container["readinessProbe"]["httpGet"]["path"] == "/ready"
    parser = Parser()
    add_run_arguments(parser)
    options = parser.parse_args([word for word in container["args"] if "--config" not in word])
    chosen = load_config(options)
    assert (chosen.gang_scheduling, chosen.cluster_domain) == ("volcano", "example.org")
    assert (chosen.namespaces, chosen.qps) == (("a", "b"), 7)
    assert options.log_level == "debug"


def test_with_namespaces_of_its_own_it_has_rights_only_there(helm: Helm) -> None:
    objects = helm.template(*settings(["watchNamespaces={a,b}"]))
    bindings = [obj for obj in objects if obj["metadata"]["name"] == manifests.JOBS_ROLE]
    kinds = sorted((obj["kind"], obj["metadata"].get("namespace", "")) for obj in bindings)
    assert kinds == [("ClusterRole", ""), ("RoleBinding", "a"), ("RoleBinding", "b")]
    for obj in objects:
        for webhook in obj.get("webhooks", ()):
            (expression,) = webhook["namespaceSelector"]["matchExpressions"]
            assert expression["values"] == ["a", "b"]


def test_certificates_of_somebody_else_are_served(helm: Helm) -> None:
    objects = helm.template(
        *settings(
            [
                "config.certManagement.enable=false",
                "certificates.existingSecret=own",
                "webhooks.caBundle=QUJD",
                "webhooks.annotations.cert-manager\\.io/inject-ca-from=ns/own",
            ]
        )
    )
    assert "--webhook-cert-dir=/etc/trainway-certificate" in container_of(objects)["args"]
    assert not [obj for obj in objects if obj["kind"] == "Secret"]
    for obj in objects:
        for webhook in obj.get("webhooks", ()):
            assert webhook["clientConfig"]["caBundle"] == "QUJD"
            assert annotations_of(obj)["cert-manager.io/inject-ca-from"] == "ns/own"


def test_labels_and_places_of_ones_own(helm: Helm) -> None:
    objects = helm.template(
        *settings(
            [
                "commonLabels.team=ml",
                "commonAnnotations.note=x",
                "podLabels.a=b",
                "podAnnotations.c=d",
                "imagePullSecrets[0].name=registry",
                "image.digest=sha256:" + "0" * 64,
                "priorityClassName=high",
                "nodeSelector.pool=system",
                "networkPolicy.metricsFrom[0].namespaceSelector.matchLabels.name=monitoring",
                "networkPolicy.egress[0].ports[0].port=443",
            ]
        )
    )
    assert {obj["metadata"]["labels"]["team"] for obj in objects} == {"ml"}
    assert {annotations_of(obj)["note"] for obj in objects} == {"x"}
    template = found(objects, "Deployment")["spec"]["template"]
    assert template["metadata"]["labels"]["a"] == "b"
    assert template["metadata"]["annotations"]["c"] == "d"
    assert template["spec"]["imagePullSecrets"] == [{"name": "registry"}]
    assert template["spec"]["priorityClassName"] == "high"
    assert template["spec"]["nodeSelector"] == {"pool": "system"}
    assert container_of(objects)["image"] == "trainway/operator@sha256:" + "0" * 64
    policy = found(objects, "NetworkPolicy")["spec"]
    assert policy["policyTypes"] == ["Ingress", "Egress"]
    assert [rule["ports"][0]["port"] for rule in policy["ingress"] if "from" in rule] == ["metrics"]


def test_the_kinds_stay_unless_one_wants_them_gone(helm: Helm) -> None:
    def kinds(*values: str) -> list[Json]:
        objects = helm.template(*settings(values))
        return [obj for obj in objects if obj["kind"] == "CustomResourceDefinition"]

    policy = "helm.sh/resource-policy"
    assert {annotations_of(obj).get(policy) for obj in kinds()} == {"keep"}
    assert {annotations_of(obj).get(policy) for obj in kinds("crds.keep=false")} == {None}
    assert kinds("crds.install=false") == []


# What is written about the chart


def test_the_schema_knows_every_field_of_the_configuration_file() -> None:
    schema = json.loads((CHART / "values.schema.json").read_text())
    known = fields(schema["properties"]["config"])
    ours = fields(SCHEMA) - {"apiVersion", "kind", "leaderElection.resourceNamespace"}
    assert known == ours


def fields(schema: Json | Schema, path: str = "") -> set[str]:
    """The paths of all fields that a JSON schema, or one of ours, knows."""
    properties = schema.get("properties", {}) if isinstance(schema, dict) else schema.properties
    names = set()
    for name, part in properties.items():
        names |= {f"{path}{name}"} | fields(part, f"{path}{name}.")
    return names


def test_the_readme_tells_of_every_value() -> None:
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    told = set(re.findall(r"^\| `([^`]+)`", (CHART / "README.md").read_text(), re.MULTILINE))
    schema = json.loads((CHART / "values.schema.json").read_text())
    free = {"config", "resources", "podSecurityContext", "securityContext"}
    names = set()
    for name, value in values.items():
        parts = value if isinstance(value, dict) and name not in free else {}
        names |= {f"{name}.{part}" for part in parts} or {name}
    assert told == names
    assert set(values) == set(schema["properties"]) - {"global"}


def test_chart_and_program_have_one_version() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    assert chart["version"] == chart["appVersion"] == __version__


def test_the_image_is_run_by_nobody_in_particular() -> None:
    text = (REPOSITORY / "Dockerfile").read_text()
    building, last = text.rsplit("\nFROM ", 1)
    assert "\nUSER 65532:65532\n" in last
    assert "\nRUN" not in last
    for line in text.splitlines():
        if line.startswith(("RUN", "ENTRYPOINT", "CMD")):
            assert line.split()[1].startswith("["), f"a shell would run this: {line}"
    pod = found(manifests.everything(Installation()), "Deployment")["spec"]["template"]["spec"]
    assert pod["securityContext"]["runAsUser"] == 65532
    assert pod["containers"][0]["command"][0] == "trainway"
    ignored = (REPOSITORY / ".dockerignore").read_text().splitlines()
    copied = re.findall(r"^COPY (?!--)(.*) \S+$", building, re.MULTILINE)
    for path in " ".join(copied).split():
        assert f"!{path}" in ignored, path
        assert Path(REPOSITORY, path).exists()
