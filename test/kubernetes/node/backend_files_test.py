"""Scripts, functions and manifests travel to real pods without an image of their own, and back."""

import hashlib
import json
import random
import socket
import sys
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

import pytest
from cluster.access import Access
from cluster.identities import CONTEXT
from cluster.node import NodeCluster
from cluster.processes import wait_until
from cluster.unavailable import UnavailableError
from installation import Installation, kill
from node_operator import NodeOperator, shell_runtime, trainjob

from trainway import Client
from trainway.errors import TrainwayError
from trainway.json_types import Json
from trainway.sdk import JobFailedError

PATIENCE_S: Final = 180.0
KINDS: Final = (
    "trainjobs,trainingruntimes,mpijobs,jobsets,jobs.batch,pods,services,configmaps,secrets"
)
SCALE: Final = 10


@pytest.fixture
def on(host_namespace: str, node_operator: NodeOperator) -> str:
    """The cluster with our operator, as --on names it."""
    return f"k8s/{CONTEXT}/{host_namespace}"


@pytest.fixture
def client(home: Installation, monkeypatch: pytest.MonkeyPatch) -> Client:
    monkeypatch.setenv("TRAINWAY_HOME", str(home.home))
    monkeypatch.setenv("KUBECONFIG", home.variables["KUBECONFIG"])
    monkeypatch.delenv("TRAINWAY_SERVER", raising=False)
    return Client()


def scaled(x: int, *, by: int = 2) -> Any:
    print("scaling", x, flush=True)  # noqa: T201 - the job's log
    return {"value": x * by * SCALE, "host": socket.gethostname(), "set": {1, 2}}


def failing(reason: str) -> None:
    print("so far so good", flush=True)  # noqa: T201 - the job's log
    raise ValueError(reason)


def digest_and_more(data: bytes) -> Any:
    return hashlib.sha256(data).hexdigest(), data[:1_000_000]


def locked() -> Any:
    return threading.Lock()


def with_package() -> str:
    import importlib  # noqa: PLC0415 - in the job

    return str(importlib.import_module("tw_probe").NAME)


def left(cluster: Access, namespace: str) -> list[str]:
    """What there is in a namespace beside what Kubernetes itself puts there."""
    names = [name_of(obj) for obj in cluster.get(KINDS, "-n", namespace)["items"]]
    return [name for name in names if name != "configmap/kube-root-ca.crt"]


def name_of(obj: Json) -> str:
    """As kubectl has it with `-o name`."""
    group = obj["apiVersion"].rpartition("/")[0]
    return f"{obj['kind'].lower()}{f'.{group}' if group else ''}/{obj['metadata']['name']}"


def assert_nothing_left(cluster: Access, namespace: str) -> None:
    assert wait_until(lambda: left(cluster, namespace) == [], PATIENCE_S), left(cluster, namespace)


def test_a_function_comes_back_with_its_value(
    client: Client, node_cluster: Access, on: str, host_namespace: str
) -> None:
    job = client.run(scaled, args=[2], kwargs={"by": 3}, nodes=2, on=on)

    value = job.result(timeout=PATIENCE_S)

    assert value == {"value": 60, "host": f"{job.name}-node-0-0", "set": {1, 2}}
    assert sorted((line.node, line.text) for line in job.logs()) == [
        ("node-0", "scaling 2"),
        ("node-1", "scaling 2"),
    ]
    assert f"configmap/{job.name}-files" in left(node_cluster, host_namespace)
    job.delete()
    assert_nothing_left(node_cluster, host_namespace)


def told() -> list[str]:
    import os  # noqa: PLC0415 - in the job

    return [os.environ["TRAINWAY_JOB_RANK"], os.environ["SKYPILOT_NUM_JOBS"]]


def test_several_jobs_of_a_function_have_files_of_their_own(
    client: Client, node_cluster: Access, on: str, host_namespace: str
) -> None:
    first, second = client.run_array(told, 2, on=on)
    values = [job.result(timeout=PATIENCE_S) for job in (first, second)]
    assert values == [["0", "2"], ["1", "2"]]
    first.delete()
    files = f"configmap/{second.name.removesuffix('-1')}-files-1"
    assert files in left(node_cluster, host_namespace)
    second.delete()
    assert_nothing_left(node_cluster, host_namespace)


def test_a_function_that_fails_fails_as_it_does_here(client: Client, on: str) -> None:
    raised = []
    for place in ("local", on):
        with pytest.raises(JobFailedError) as caught:
            client.run(failing, args=["out of luck"], on=place).result(timeout=PATIENCE_S)
        raised.append(caught.value)
    here, there = raised
    assert (here.log[0], here.log[-1]) == ("so far so good", "ValueError: out of luck")
    assert set(there.log) >= {here.log[0], here.log[-1]}  # a kubelet may mix the two streams
    assert "node-0 exited with 1" in str(here)
    assert "node-0 exited with 1" in str(there)


def ranked() -> list[str]:
    import os  # noqa: PLC0415 - in the job

    rank, size = os.environ["OMPI_COMM_WORLD_RANK"], os.environ["OMPI_COMM_WORLD_SIZE"]
    print(f"rank {rank} of {size} on {socket.gethostname()}", flush=True)  # noqa: T201 - the log
    return [rank, size]


def test_mpi_starts_a_function_on_every_node(client: Client, on: str) -> None:
    job = client.run(ranked, nodes=2, runtime="deepspeed-distributed", on=on)

    assert job.result(timeout=PATIENCE_S) == ["0", "2"]
    assert sorted(line.text for line in job.logs() if line.text.startswith("rank ")) == [
        f"rank 0 of 2 on {job.name}-launcher-0-0",
        f"rank 1 of 2 on {job.name}-node-0-0",
    ]


def test_a_value_that_cannot_travel_is_one_clear_error(client: Client, on: str) -> None:
    job = client.run(locked, on=on)
    with pytest.raises(TrainwayError, match="the function returned a lock, which cannot be sent"):
        job.result(timeout=PATIENCE_S)


def test_what_is_too_large_for_a_config_map_is_uploaded(
    client: Client, node_cluster: Access, on: str, host_namespace: str
) -> None:
    data = random.Random(1).randbytes(3_000_000)  # noqa: S311 - only noise

    job = client.run(digest_and_more, args=[data], nodes=2, on=on)

    assert job.result(timeout=PATIENCE_S) == (hashlib.sha256(data).hexdigest(), data[:1_000_000])
    assert f"configmap/{job.name}-files" not in left(node_cluster, host_namespace)
    assert list(job.logs()) == []
    job.delete()
    assert_nothing_left(node_cluster, host_namespace)


def test_a_server_killed_while_a_function_runs_loses_no_value(
    client: Client, home: Installation, on: str
) -> None:
    job = client.run(slow, args=[5], on=on)
    lines = job.logs(follow=True)
    assert next(lines).text == "begun"
    kill(home.server_pid())
    assert [line.text for line in lines] == ["done"]
    assert job.result(timeout=PATIENCE_S) == 5


def slow(seconds: int) -> int:
    import time  # noqa: PLC0415 - in the job

    print("begun", flush=True)  # noqa: T201 - the job's log
    time.sleep(seconds)
    print("done", flush=True)  # noqa: T201 - the job's log
    return seconds


def test_packages_are_installed_in_the_pod_before_the_call(
    client: Client, node_cluster: Access, on: str, tmp_path: Path
) -> None:
    if not isinstance(node_cluster, NodeCluster):
        raise UnavailableError("pods of an existing cluster cannot reach this test")
    wheel(tmp_path / "tw-probe" / "tw_probe-1.0-py3-none-any.whl")
    with served(tmp_path, node_cluster.network.address) as url:
        variables = package_index(url)
        job = client.run(with_package, packages=["tw-probe==1.0"], env=variables, on=on)
        assert job.result(timeout=PATIENCE_S) == "probe"


def test_the_operator_installs_packages_of_an_annotation(
    node_cluster: Access, node_operator: NodeOperator, host_namespace: str, tmp_path: Path
) -> None:
    if not isinstance(node_cluster, NodeCluster):
        raise UnavailableError("pods of an existing cluster cannot reach this test")
    wheel(tmp_path / "tw-probe" / "tw_probe-1.0-py3-none-any.whl")
    with served(tmp_path, node_cluster.network.address) as url:
        env = [{"name": name, "value": text} for name, text in package_index(url).items()]
        command = ["python3", "-c", "import tw_probe; print(tw_probe.NAME)"]
        job = trainjob("probe", "shell", {"numNodes": 1, "command": command, "env": env})
        job["metadata"]["annotations"] = {"trainway.dev/packages": "tw-probe==1.0"}
        node_operator.create(host_namespace, shell_runtime("shell"), job)
        node_operator.wait_condition("trainjob", host_namespace, "probe", "Complete")
    assert node_operator.log(host_namespace, "jobset.sigs.k8s.io/jobset-name=probe") == "probe\n"


def package_index(url: str) -> dict[str, str]:
    """What a pod needs to install from there, with the Python that has pip."""
    host = url.split("/")[2].partition(":")[0]
    path = f"{sys.base_prefix}/bin:/usr/bin:/bin"
    return {"PIP_INDEX_URL": url, "PIP_TRUSTED_HOST": host, "PATH": path}


def wheel(path: Path) -> None:
    """The smallest package there can be."""
    path.parent.mkdir()
    info = "tw_probe-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("tw_probe.py", 'NAME = "probe"\n')
        archive.writestr(
            f"{info}/METADATA", "Metadata-Version: 2.1\nName: tw-probe\nVersion: 1.0\n"
        )
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", "")


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (its name there)
        pass


@contextmanager
def served(folder: Path, address: str) -> Iterator[str]:
    """The folder as an index of packages, where pods can reach it."""
    handler = partial(QuietHandler, directory=str(folder))
    with ThreadingHTTPServer((address, 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://{address}:{server.server_address[1]}/"
        finally:
            server.shutdown()
            thread.join()


def test_a_script_runs_with_the_modules_beside_it(
    home: Installation, node_cluster: Access, on: str, host_namespace: str, tmp_path: Path
) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "__init__.py").write_text("from .net import SIZE\n")
    (tmp_path / "model" / "net.py").write_text("SIZE = 7\n")
    (tmp_path / "train.py").write_text(
        "import os, sys, model\n"
        "print('size', model.SIZE, 'args', *sys.argv[1:], 'lr', os.environ['LR'])\n"
        "sys.exit(3 if 'fail' in sys.argv else 0)\n"
    )
    script = str(tmp_path / "train.py")
    options = ["--on", on, "--name", "train", "--env", "LR=0.1", "--image", "example.com/none:1"]

    printed = home.run("run", *options, script, "--", "a b", "$(HOME)")

    assert "size 7 args a b $(HOME) lr 0.1" in printed
    home.run("jobs", "delete", "train")
    assert "size 7 args fail" in home.run("run", *options, script, "--", "fail", code=4)
    home.run("jobs", "delete", "train")
    assert_nothing_left(node_cluster, host_namespace)


def test_a_manifest_and_what_it_needs_come_and_go_together(
    home: Installation,
    node_cluster: Access,
    on: str,
    host_namespace: str,
    tmp_path: Path,
) -> None:
    manifest = tmp_path / "job.json"
    manifest.write_text(objects_together())

    printed = home.run("run", "--on", on, str(manifest))

    assert "greeting hello secret hidden" in printed
    there = left(node_cluster, host_namespace)
    assert "trainingruntime.trainer.kubeflow.org/own" in there
    assert {"configmap/greeting", "secret/hidden"} <= set(there)
    home.run("jobs", "delete", "together")
    assert_nothing_left(node_cluster, host_namespace)


def objects_together() -> str:
    """A TrainJob with a runtime, a ConfigMap and a Secret of its own."""
    runtime = shell_runtime("own")
    pod = runtime["spec"]["template"]["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]
    pod["spec"]["containers"][0]["envFrom"] = [
        {"configMapRef": {"name": "greeting"}},
        {"secretRef": {"name": "hidden"}},
    ]
    command = ["sh", "-c", "echo greeting $GREETING secret $HIDDEN"]
    objects = [
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "greeting"},
            "data": {"GREETING": "hello"},
        },
        {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": "hidden"},
            "stringData": {"HIDDEN": "hidden"},
        },
        runtime,
        {
            "apiVersion": "trainer.kubeflow.org/v1alpha1",
            "kind": "TrainJob",
            "metadata": {"name": "together"},
            "spec": {
                "runtimeRef": {"name": "own", "kind": "TrainingRuntime"},
                "trainer": {"command": command},
            },
        },
    ]
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})
