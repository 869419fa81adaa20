"""The column of the table of examples that needs pods: see `test/e2e/example_table.py`."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from cluster.access import Access
from cluster.processes import wait_until
from environments import TORCH, environment, require_mpirun
from example_table import CLUSTER, EXAMPLES, Example, Place, Yardstick
from failure_table import FAILURES, Failure, assert_it_is_told_as_documented
from installation import TIMEOUT_S, Installation, installed
from node_operator import NodeOperator
from probe_table import SHELL, assert_a_job_finds_what_is_documented


@pytest.fixture(scope="module")
def home(node_cluster: Access, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """A Trainway to which the context of the cluster is called `test`."""
    require_mpirun()
    config = yaml.safe_load(node_cluster.kubeconfig.read_text())
    (context,) = (each for each in config["contexts"] if each["name"] == config["current-context"])
    context["name"] = config["current-context"] = CLUSTER.partition("/")[2]
    kubeconfig = tmp_path_factory.mktemp("kubeconfig") / "config"
    kubeconfig.write_text(yaml.safe_dump(config))
    variables = environment(*TORCH).variables() | {"KUBECONFIG": str(kubeconfig), SHELL: "1"}
    with installed(tmp_path_factory.mktemp("home"), variables) as installation:
        yield installation


@pytest.fixture
def pods(
    home: Installation,
    node_operator: NodeOperator,
    builtin_runtimes: None,
    host_namespace: str,
) -> Place:
    """The node cluster, whose pods have the programs of this machine."""
    return Place(home, f"{CLUSTER}/{host_namespace}")


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_an_example_ends_alike_in_pods(example: Example, pods: Place, yardstick: Yardstick) -> None:
    on_this_machine = yardstick.result(pods.installation, example)

    assert pods.result(example) == on_this_machine


def test_a_job_finds_the_same_in_pods(pods: Place) -> None:
    assert_a_job_finds_what_is_documented(pods, "Kubernetes", is_limited=True)


@pytest.mark.parametrize("failure", FAILURES, ids=str)
def test_a_failure_is_told_alike_in_pods(failure: Failure, pods: Place) -> None:
    assert_it_is_told_as_documented(failure, pods)


def test_an_evicted_pod_is_to_blame_in_the_words_of_kubernetes(
    pods: Place, node_cluster: Access, host_namespace: str
) -> None:
    waits = "[ $TRAINWAY_RESTART_ATTEMPT != 0 ] || { trap 'exit 143' TERM; sleep 600 & wait; }"
    words = ("--on", pods.on, "--name", "evicted", "--nodes", "2", "--", "sh", "-c", waits)
    job = pods.installation.submit(*words)

    def nodes() -> list[dict[str, Any]]:
        return list(pods.installation.look(job)["status"]["nodes"])

    assert wait_until(lambda: all(node["phase"] == "Running" for node in nodes()), TIMEOUT_S)
    found = node_cluster.get("pods", "-n", host_namespace)["items"]
    names = [item["metadata"]["name"] for item in found]
    (name,) = [name for name in names if name.startswith("evicted-node-0-1")]
    node_cluster.evict(host_namespace, name)

    def endings() -> list[dict[str, Any]]:
        return list(pods.installation.look(job)["status"]["endedAttempts"])

    assert wait_until(lambda: bool(endings()), TIMEOUT_S), "it does not begin again"
    said = json.dumps(endings()[0])
    assert re.search(r"EvictionByEvictionAPI: Eviction API: evicting", said), said
    pods.installation.run("jobs", "wait", job)
