"""Several operators: one leads and the others take over, or all of them work at once."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from cluster.access import Access
from operator_process import NAMESPACE, OperatorProcess, wait_for
from torch_jobs import torch_job

LEASE_S = 8.0
RENEW_S = 5.0
"""A leader on a busy machine may be late by less than this."""
PATIENCE_S = 120.0
Start = Callable[..., OperatorProcess]

pytestmark = pytest.mark.usefixtures("torch_runtime")


@pytest.fixture
def config(tmp_path: Path, namespace: str) -> Path:
    path = tmp_path / "config.yaml"
    path.write_text(
        yaml.safe_dump(
            {
                "apiVersion": "config.trainer.kubeflow.org/v1alpha1",
                "kind": "Configuration",
                "leaderElection": {
                    "leaderElect": True,
                    "resourceName": namespace,
                    "leaseDuration": f"{LEASE_S:g}s",
                    "renewDeadline": f"{RENEW_S:g}s",
                    "retryPeriod": "200ms",
                },
            }
        )
    )
    return path


@pytest.fixture
def start(api_cluster: Access, tmp_path: Path, namespace: str) -> Iterator[Start]:
    processes: list[OperatorProcess] = []

    def starting(*arguments: str) -> OperatorProcess:
        log_file = tmp_path / f"operator-{len(processes)}.log"
        process = OperatorProcess(api_cluster, log_file, ["--namespace", namespace, *arguments])
        processes.append(process)
        process.start()
        process.wait_ready()
        return process

    yield starting
    for process in processes:
        process.kill()


def leads(operator: OperatorProcess) -> bool:
    return operator.metric("mpi_operator_is_leader") == 1


def create(cluster: Access, namespace: str, name: str) -> None:
    cluster.apply(torch_job(name), namespace=namespace)


def has_jobset(cluster: Access, namespace: str, name: str) -> bool:
    return cluster.find("jobset", name, namespace) is not None


@pytest.mark.parametrize("how", ["SIGTERM", "SIGKILL"])
def test_another_replica_takes_over(
    api_cluster: Access, namespace: str, config: Path, start: Start, how: str
) -> None:
    first = start("--config", str(config))
    wait_for(lambda: leads(first), PATIENCE_S, "the first leads")
    second = start("--config", str(config))
    create(api_cluster, namespace, "one")
    wait_for(lambda: has_jobset(api_cluster, namespace, "one"), PATIENCE_S, "the JobSet")
    assert not leads(second)
    assert "controller_runtime_reconcile_total{" not in second.metrics()

    ended = time.monotonic()
    if how == "SIGTERM":
        assert first.stop() == 0
        holder = api_cluster.get("lease", namespace, "-n", NAMESPACE)["spec"]["holderIdentity"]
        assert holder == "" or holder.split("_")[1] == str(second.pid)
    else:
        first.kill()
    create(api_cluster, namespace, "two")
    wait_for(lambda: leads(second), PATIENCE_S, "the second leads")
    took = time.monotonic() - ended
    wait_for(lambda: has_jobset(api_cluster, namespace, "two"), PATIENCE_S, "the JobSet")
    if how == "SIGKILL":
        # Nobody may lead while the lease of another runs, which it renewed so long ago at most.
        assert took > LEASE_S - RENEW_S


def test_a_leader_that_loses_its_lease_ends(
    api_cluster: Access, namespace: str, config: Path, start: Start
) -> None:
    operator = start("--config", str(config))
    wait_for(lambda: leads(operator), PATIENCE_S, "it leads")
    patch = '{"spec":{"holderIdentity":"somebody-else","leaseDurationSeconds":3600}}'
    arguments = ("-n", NAMESPACE, "--type=merge", "-p", patch)
    api_cluster.kubectl("patch", "lease", namespace, *arguments)
    assert operator.process.popen is not None
    assert operator.process.popen.wait(PATIENCE_S) == 1
    assert "error: somebody-else holds the lease" in operator.log


def test_two_operators_without_election_do_the_same_once(
    api_cluster: Access, namespace: str, start: Start
) -> None:
    operators = [start(), start()]
    names = [f"job-{number}" for number in range(20)]
    for name in names:
        create(api_cluster, namespace, name)
    for name in names:
        wait_for(
            lambda name=name: has_jobset(api_cluster, namespace, name), PATIENCE_S, "the JobSet"
        )
    time.sleep(1)
    jobsets = api_cluster.get("jobsets", "-n", namespace)["items"]
    assert sorted(item["metadata"]["name"] for item in jobsets) == sorted(names)
    assert {item["metadata"]["generation"] for item in jobsets} == {1}
    maps = api_cluster.get("configmaps", "-n", namespace)["items"]
    snapshots = [item for item in maps if item["metadata"]["name"].endswith("-runtime-snapshot")]
    assert len(snapshots) == len(names)
    for operator in operators:
        assert "Traceback" not in operator.log
        errors = 'controller_runtime_reconcile_errors_total{controller="trainjob"}'
        assert not operator.metric(errors)
