from pathlib import Path

import yaml

from trainway.json_types import Json
from trainway.kube.certificate_keeper import WEBHOOK_CONFIGURATIONS
from trainway.kube.resources import resource_of
from trainway.operator import manifests
from trainway.operator.configuration_file import parse_configuration
from trainway.operator.manifests import Installation
from trainway.operator.webhooks import paths

CHART = Path(__file__).resolve().parents[3] / "charts" / "trainway"
HERE = Installation(namespace="here", image="registry/operator:1")
OBJECTS = [obj for objects in manifests.folder(HERE).values() for obj in objects]


def one(kind: str, name: str = "", namespaced: bool = True) -> Json:
    (found,) = [
        obj
        for obj in OBJECTS
        if obj["kind"] == kind
        and name in ("", obj["metadata"]["name"])
        and ("namespace" in obj["metadata"]) is namespaced
    ]
    return found


def test_every_object_is_of_a_known_kind_and_in_the_chosen_namespace() -> None:
    for obj in OBJECTS:
        resource = resource_of(obj)
        where = obj["metadata"].get("namespace", "")
        assert where == ("here" if resource.namespaced else ""), obj["metadata"]
    apart = ("CustomResourceDefinition", "ClusterTrainingRuntime")
    assert [obj for obj in manifests.everything(HERE) if obj["kind"] not in apart] == OBJECTS
    names = [(obj["kind"], obj["metadata"]["name"]) for obj in OBJECTS]
    assert len(names) == len(set(names))
    assert "kubeflow-system" not in yaml.safe_dump(OBJECTS)


def test_the_deployment_runs_the_operator_with_few_rights() -> None:
    spec = one("Deployment")["spec"]["template"]["spec"]
    (container,) = spec["containers"]
    assert container["image"] == "registry/operator:1"
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    ports = {port["name"] for port in container["ports"]}
    targets = {port["targetPort"] for port in one("Service")["spec"]["ports"]}
    assert targets < ports
    assert {
        container[probe]["httpGet"]["port"] for probe in ("livenessProbe", "readinessProbe")
    } < (ports)


def test_the_service_finds_the_pods() -> None:
    template = one("Deployment")["spec"]["template"]
    selector = one("Service")["spec"]["selector"]
    assert selector.items() <= template["metadata"]["labels"].items()


def test_the_operator_reads_the_configuration_that_is_installed() -> None:
    text = one("ConfigMap", manifests.CONFIG_MAP)["data"][manifests.CONFIG_FILE]
    config = parse_configuration(text).config
    assert config.leader_election.leader_elect
    assert config.leader_election.resource_name == manifests.LEASE
    assert (config.cert.service_name, config.cert.secret_name) == (
        one("Service")["metadata"]["name"],
        one("Secret")["metadata"]["name"],
    )
    ports = {
        port["name"]: port["containerPort"]
        for port in one("Deployment")["spec"]["template"]["spec"]["containers"][0]["ports"]
    }
    assert config.webhook.port == ports["webhook"]
    assert config.status_server.port == ports["status-server"]
    assert config.metrics.bind_address == f":{ports['metrics']}"
    assert config.health.bind_address == f":{ports['health']}"


def test_the_chart_tells_the_same_annotations() -> None:
    (told,) = (
        obj["data"]["trainway_annotations"]
        for obj in OBJECTS
        if "trainway_annotations" in (obj.get("data") or {})
    )
    lines = (CHART / "templates" / "config.yaml").read_text().splitlines()
    assert f"  trainway_annotations: {told}" in lines


def test_webhooks_have_the_names_and_paths_of_upstream() -> None:
    found = {
        webhook["name"]: webhook
        for configuration in manifests.webhooks(HERE)
        for webhook in configuration["webhooks"]
    }
    assert {name: webhook["clientConfig"] for name, webhook in found.items()} == {
        name: {"service": {"name": manifests.NAME, "namespace": "here", "path": path}}
        for name, path in {
            "defaulter.trainjob.trainer.kubeflow.org": paths.MUTATE_TRAINJOB,
            "validator.trainjob.trainer.kubeflow.org": paths.VALIDATE_TRAINJOB,
            "validator.trainingruntime.trainer.kubeflow.org": paths.VALIDATE_TRAINING_RUNTIME,
            "validator.clustertrainingruntime.trainer.kubeflow.org": (
                paths.VALIDATE_CLUSTER_TRAINING_RUNTIME
            ),
            "defaulter.mpijob.kubeflow.org": paths.MUTATE_MPIJOB,
            "validator.mpijob.kubeflow.org": paths.VALIDATE_MPIJOB,
        }.items()
    }
    assert {webhook["failurePolicy"] for webhook in found.values()} == {"Fail"}


def test_the_configurations_are_those_whose_trust_is_looked_after() -> None:
    installed = {(resource_of(obj), obj["metadata"]["name"]) for obj in manifests.webhooks(HERE)}
    assert installed == set(WEBHOOK_CONFIGURATIONS)


def test_the_operator_may_touch_no_other_webhooks_and_update_no_other_secrets() -> None:
    rules = [
        rule
        for name in (manifests.NAME, manifests.JOBS_ROLE)
        for rule in one("ClusterRole", name, namespaced=False)["rules"]
    ]
    for rule in rules:
        assert "*" not in (*rule["apiGroups"], *rule["resources"], *rule["verbs"])
        if rule["apiGroups"] == ["admissionregistration.k8s.io"]:
            assert set(rule["resourceNames"]) <= {name for _, name in WEBHOOK_CONFIGURATIONS}
        if "secrets" in rule["resources"]:
            assert not {"update", "delete"} & set(rule["verbs"])
    own = one("Role", manifests.NAME)["rules"]
    (secrets,) = [rule for rule in own if rule["resources"] == ["secrets"]]
    assert secrets["resourceNames"] == [manifests.SECRET]


def test_roles_are_bound_to_the_account_of_the_pod() -> None:
    account = one("Deployment")["spec"]["template"]["spec"]["serviceAccountName"]
    assert one("ServiceAccount")["metadata"]["name"] == account
    for binding in (
        one("ClusterRoleBinding", manifests.NAME, namespaced=False),
        one("ClusterRoleBinding", manifests.JOBS_ROLE, namespaced=False),
        one("RoleBinding", manifests.NAME),
    ):
        assert binding["subjects"] == [
            {"kind": "ServiceAccount", "name": account, "namespace": "here"}
        ]
