"""Searches on a cluster: the literal requests, and what is made of the answers."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from trainway.errors import NotFoundError, TrainwayError
from trainway.json_types import Json
from trainway.runtimes import builtin_runtime
from trainway.sdk.kubeflow import (
    CustomTrainer,
    GridSearch,
    KubernetesBackendConfig,
    Metric,
    Objective,
    OptimizerClient,
    Result,
    Search,
    TrainJobTemplate,
    TrialConfig,
    cluster_api,
)
from trainway.sdk.kubeflow.cluster_api import ClusterApi, Request, refusal

TRAINER = "/apis/trainer.kubeflow.org/v1alpha1"
TEAM = f"{TRAINER}/namespaces/team"
LABEL = "trainway.dev/optimization-job"
MOMENT = "2026-01-31T12:00:00Z"
CONTROLLER = [{"kind": "OptimizationJob", "name": "search", "uid": "u1"}]


def trial(index: int, loss: str, condition: str = "Complete", owner: str = "u1") -> Json:
    return {
        "metadata": {
            "name": f"search-{index}",
            "creationTimestamp": MOMENT,
            "labels": {LABEL: "search", "trainway.dev/trial": str(index)},
            "annotations": {"trainway.dev/parameters": f'{{"lr": "{index}"}}'},
            "ownerReferences": [{"uid": owner}],
        },
        "spec": {"runtimeRef": {"name": "jax-distributed"}, "trainer": {"numNodes": 2}},
        "status": {
            "conditions": [{"type": condition, "status": "True"}],
            "trainerStatus": {"metrics": [{"name": "loss", "value": loss}]},
        },
    }


def search(**status: Any) -> Json:
    space = {"categorical": {"choices": ["0", "1"]}}
    return {
        "metadata": {"name": "search", "uid": "u1", "creationTimestamp": MOMENT},
        "spec": {
            "objectives": [{"metric": "loss", "direction": "Minimize"}],
            "parameters": [{"name": "lr", "searchSpace": space}],
            "searchAlgorithm": {"grid": {}},
            "numTrials": 2,
            "parallelTrials": 1,
        },
        "status": status,
    }


class FakeCluster:
    """Answers by path, and remembers what it was asked."""

    def __init__(self, answers: dict[str, Json]) -> None:
        self.answers = answers
        self.requests: list[Request] = []

    def send(self, request: Request) -> Json:
        self.requests.append(request)
        if request.method == "GET" and request.path not in self.answers:
            raise NotFoundError(f"{request.path} not found")
        return self.answers.get(request.path, {})

    def lines(self, request: Request) -> Iterator[str]:
        self.requests.append(request)
        yield "a line"

    def client(self, monkeypatch: pytest.MonkeyPatch) -> OptimizerClient:
        api = ClusterApi("team", self.send, self.lines)
        monkeypatch.setattr(cluster_api, "connected", lambda config: api)
        return OptimizerClient(KubernetesBackendConfig(namespace="team"))


def train(lr: str) -> None:
    print(lr)  # noqa: T201 - what a training does here


def test_a_search_is_an_optimization_job(monkeypatch: pytest.MonkeyPatch) -> None:
    runtime = builtin_runtime("jax-distributed")
    assert runtime is not None
    cluster = FakeCluster({f"{TRAINER}/clustertrainingruntimes/jax-distributed": runtime})
    name = cluster.client(monkeypatch).optimize(
        TrainJobTemplate(CustomTrainer(train, num_nodes=2), runtime="jax-distributed"),
        trial_config=TrialConfig(2, 1),
        search_space={"lr": Search.choice([0, 1])},
        objectives=[Objective("loss")],
        algorithm=GridSearch(),
    )
    looked, found, created = cluster.requests
    assert (looked.method, looked.path) == ("GET", f"{TEAM}/trainingruntimes/jax-distributed")
    assert found.path == f"{TRAINER}/clustertrainingruntimes/jax-distributed"
    assert (created.method, created.path) == ("POST", f"{TEAM}/optimizationjobs")
    body = created.body or {}
    template = body["spec"].pop("trainJobTemplate")["spec"]
    assert body == {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "OptimizationJob",
        "metadata": {"name": name, "namespace": "team"},
        "spec": search()["spec"],
    }
    reference = {"name": "jax-distributed", "kind": "ClusterTrainingRuntime"}
    assert (template["runtimeRef"], template["trainer"]["numNodes"]) == (reference, 2)
    assert template["trainer"]["command"][0] == "python"
    assert any("$(KUBEFLOW_TRAINER_OPT_LR)" in part for part in template["trainer"]["args"])


def test_a_search_is_read_from_its_status_and_its_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    best = {"trainJobName": "search-1", "parameters": [{"name": "lr", "value": "1"}]}
    over = [{"type": "Complete", "status": "True"}]
    events = [
        {"involvedObject": {"kind": kind, "name": name}, "metadata": {"creationTimestamp": MOMENT}}
        for kind, name in (("TrainJob", "search-0"), ("Pod", "another"))
    ]
    others = [trial(2, "0", owner="another"), trial(1, "0.5"), trial(0, "2", "Failed")]
    cluster = FakeCluster(
        {
            f"{TEAM}/optimizationjobs/search": search(conditions=over, result=best),
            f"{TEAM}/optimizationjobs": {"items": [search()]},
            f"{TEAM}/trainjobs": {"items": others},
            "/api/v1/namespaces/team/events": {"items": events},
            "/api/v1/namespaces/team/pods": {
                "items": [{"metadata": {"name": "pod", "creationTimestamp": MOMENT}}]
            },
        }
    )
    client = cluster.client(monkeypatch)
    job = client.get_job("search")
    assert (job.status, job.algorithm, job.trial_config) == (
        "Complete",
        GridSearch(),
        TrialConfig(2, 1),
    )
    assert job.creation_timestamp == datetime(2026, 1, 31, 12, tzinfo=UTC)
    assert [(each.name, each.parameters, each.trainjob.status) for each in job.trials] == [
        ("search-0", {"lr": "0"}, "Failed"),
        ("search-1", {"lr": "1"}, "Complete"),
    ]
    assert cluster.requests[-1].query == {"labelSelector": f"{LABEL}=search"}
    reported = [Metric("loss", "0.5", "0.5", "0.5")]
    assert client.get_best_results("search") == Result({"lr": "1"}, reported)
    assert [each.status for each in client.list_jobs()] == ["Created"]
    assert [each.involved_object_name for each in client.get_job_events("search")] == ["search-0"]
    assert list(client.get_job_logs("search", follow=True)) == ["a line"]
    pods, log = cluster.requests[-2:]
    assert pods.query["labelSelector"].startswith("jobset.sigs.k8s.io/jobset-name=search-1,")
    assert log.path == "/api/v1/namespaces/team/pods/pod/log"
    assert log.query == {"container": "node", "follow": "true"}
    client.delete_job("search")
    assert cluster.requests[-1] == Request("DELETE", f"{TEAM}/optimizationjobs/search")
    with pytest.raises(RuntimeError, match=r"cannot get the search nothing: .*not found"):
        client.get_job("nothing")


@pytest.mark.parametrize(
    ("status", "body", "message"),
    [
        (404, b"404 page not found\n", "the cluster has no OptimizationJobs: install"),
        (404, b'{"message": "optimizationjobs \\"a\\" not found"}', '"a" not found'),
        (403, b'{"message": "it is forbidden"}', "it is forbidden"),
        (500, b"", "the API server answers 500"),
        (502, b"[]", r"\[\]"),
    ],
)
def test_what_the_cluster_refuses_is_one_sentence(status: int, body: bytes, message: str) -> None:
    with pytest.raises(TrainwayError, match=message):
        raise refusal(Request("GET", f"{TEAM}/optimizationjobs/a"), status, body)


def test_a_kubeconfig_that_is_missing_is_said() -> None:
    pytest.importorskip("kubernetes")
    with pytest.raises(RuntimeError, match="cannot use the cluster: no cluster is configured"):
        OptimizerClient(KubernetesBackendConfig(config_file="/nowhere"))
