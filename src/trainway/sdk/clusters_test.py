from pathlib import Path

import pytest

from trainway.errors import InvalidError, NotFoundError, UnavailableError, UsageError
from trainway.jobset.labels import USER
from trainway.json_types import Json
from trainway.sdk import Client
from trainway.sdk.testing import FakeServer


def tasks(fake: FakeServer) -> list[Json]:
    bodies = [
        body for method, url, body in fake.requests if (method, url) == ("POST", "/api/v1/jobs")
    ]
    return [body["objects"][0]["spec"]["tasks"][0]["task"] for body in bodies]


def test_a_program_launches_a_cluster_and_uses_it(fake: FakeServer) -> None:
    client = Client()
    cluster, job = client.launch("echo 1", cluster="dev", cpus=2, gpus="A100:0.5", idle_minutes=5)
    assert (cluster.name, cluster.infra, cluster.status) == ("dev", "local", "UP")
    assert fake.requests[0][2]["resources"] == {"cpus": "2", "accelerators": "A100:0.5"}
    second = cluster.exec("echo 2", nodes=1, env={"A": "b"})
    assert [item.id for item in cluster.queue()] == [second.id, job.id]
    found = cluster.job(1)
    assert found is not None
    assert (found.id, cluster.job(9)) == (job.id, None)
    assert tasks(fake) == [
        {"run": "echo 1", "resources": {"cpus": "2", "accelerators": "A100:0.5"}},
        {"run": "echo 2", "num_nodes": 1, "envs": {"A": "b"}},
    ]


def test_a_launch_has_a_budget_and_labels(
    fake: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOGNAME", "ann")
    client = Client()
    client.launch("a", cluster="dev", max_cost=50, labels={"team": "nlp"}, use_spot=True)
    client.launch("b", cluster="other")
    first, second = [body for _, url, body in fake.requests if url == "/api/v1/clusters"]
    assert (first["max_cost"], first["resources"]) == (50, {"use_spot": True})
    assert first["labels"] == {USER: "ann", "team": "nlp"}
    assert second["labels"] == {USER: "ann"}
    assert "max_cost" not in second, "the limit of a cluster that is there stays as it is"
    (job, *_) = [body for _, url, body in fake.requests if url == "/api/v1/jobs"]
    assert job["objects"][0]["metadata"]["labels"]["team"] == "nlp"


def test_machines_that_cannot_be_rented_are_told(fake: FakeServer) -> None:
    fake.clusters.add("dev", phase="STOPPED", infra="aws/us-east-1")
    fake.clusters.items["dev"]["status"]["message"] = "no cloud has such machines"
    with pytest.raises(UnavailableError, match="dev has no machines: no cloud has such machines"):
        Client().launch("a", cluster="dev", infra="aws")
    assert tasks(fake) == []


def test_a_file_is_a_task_with_its_setup_only_at_launch(fake: FakeServer) -> None:
    Path("task.yaml").write_text("setup: a\nrun: b\n")
    cluster, _ = Client().launch(Path("task.yaml"), cluster="dev")
    cluster.exec("task.yaml")
    assert tasks(fake) == [{"setup": "a", "run": "b"}, {"run": "b"}]


def test_a_task_may_be_a_dict(fake: FakeServer) -> None:
    task = {"setup": "a", "run": "b", "envs": {"N": 1}, "file_mounts": {}}
    cluster, _ = Client().launch(task, cluster="dev", cpus=2)
    cluster.exec({"run": "c"}, name="other")
    assert tasks(fake) == [
        {**task, "envs": {"N": "1"}, "resources": {"cpus": "2"}},
        {"run": "c"},
    ]
    with pytest.raises(InvalidError, match=r"^num_nodes: Invalid value: -1"):
        Client().launch({"run": "b", "num_nodes": -1}, cluster="dev")


def test_options_of_slurm_go_to_clusters_there(fake: FakeServer) -> None:
    config = "config: {slurm: {sbatch_options: {qos: low, time: 5}, cpu_partition: cpus}}\n"
    Path("task.yaml").write_text(f"run: b\n{config}")
    client = Client()
    client.launch(Path("task.yaml"), cluster="a")
    client.launch(Path("task.yaml"), cluster="b", infra="slurm/hpc", slurm={"qos": "high"})
    client.launch(Path("task.yaml"), cluster="c", infra="slurm/hpc", gpus=1)
    launches = [body for _, url, body in fake.requests if url == "/api/v1/clusters"]
    assert [body["slurm"] for body in launches] == [
        {},
        {"qos": "high", "time": 5, "partition": "cpus"},
        {"qos": "low", "time": 5},
    ]


def test_clusters_are_listed_changed_and_given_back(fake: FakeServer) -> None:
    fake.clusters.add("dev")
    client = Client()
    (cluster,) = client.clusters()
    cluster.autostop(3, down=True)
    assert cluster.data["spec"]["autostop"] == {"idleMinutes": 3, "down": True}
    cluster.stop()
    assert cluster.status == "STOPPED"
    cluster.start()
    assert client.cluster("dev").status == "UP"
    cluster.down()
    assert client.clusters(refresh=True) == []
    with pytest.raises(NotFoundError):
        client.cluster("dev")


def test_nothing_is_nothing_to_run(fake: FakeServer) -> None:
    fake.clusters.add("dev")
    with pytest.raises(UsageError, match="nothing to run"):
        Client().cluster("dev").exec("  ")
