"""What happens to a cluster while jobs run: each ends as it should, and is told to have.

The cluster is one of its own, since the others would suffer. Jobs come as TrainJobs for the
operator and, by the command line, through our backend: whose server too knows the API server only
through a proxy.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from subprocess import Popen

import pytest
from cluster.fixtures import ON_EXISTING, fresh_namespace
from cluster.node import NODE
from cluster.processes import wait_until
from fragile_cluster import (
    Scene,
    bystander,
    fragile_scene,
    kubelet_stopped,
    ready,
    write_kubeconfig,
)
from installation import Installation, installed
from node_operator import PATIENCE_S, shell_runtime, trainjob
from shell_jobsets import FOREVER, HEARS, ShellJobSet

from trainway.json_types import Json

OUTAGE_S = 30.0
# Waits until a test lets it go on.
GATE = f"{HEARS}; until [ -e /tmp/open ]; do sleep 0.1; done"
# Succeeds when it runs for the second time.
SECOND = f"[ $ATTEMPT = 1 ] || {{ {FOREVER}; }}"


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    if ON_EXISTING:
        pytest.skip("an existing cluster is not ours to hurt")
    with fragile_scene(tmp_path_factory.mktemp("faults")) as scene:
        yield scene


@pytest.fixture(scope="module")
def home(scene: Scene, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """A Trainway whose server reaches the cluster through the proxy."""
    folder = tmp_path_factory.mktemp("home")
    kubeconfig = write_kubeconfig(scene.cluster, scene.proxy, {}, folder / "kubeconfig")
    with installed(folder / "home", {"KUBECONFIG": str(kubeconfig)}) as installation:
        yield installation


def ticking(seconds: int) -> ShellJobSet:
    """A job that writes five numbered lines a second."""
    script = f"for n in $(seq {5 * seconds}); do echo line $n; sleep 0.2; done"
    return ShellJobSet("ticking", script)


def following(home: Installation, job: str) -> "Popen[str]":
    """`trainway jobs logs` that has shown the first line."""
    process = home.follow_logs(job, "--raw")
    assert process.stdout is not None
    assert process.stdout.readline() == "line 1\n"
    return process


def rest_of(process: "Popen[str]") -> list[str]:
    """All further lines, until it ends by itself."""
    with process:
        assert process.stdout is not None
        lines = process.stdout.read().splitlines()
    assert process.returncode == 0, lines[-5:]
    return lines


def numbered(seconds: int) -> list[str]:
    """What is to follow the first line."""
    return [f"line {number}" for number in range(2, 5 * seconds + 1)]


@pytest.fixture
def place(scene: Scene) -> Iterator[str]:
    """A namespace, and the proof that the operator lived through what was done there."""
    pid = scene.operator.process.pid
    with fresh_namespace(scene.cluster) as name:
        scene.cluster.apply(
            shell_runtime("once"), shell_runtime("again", {"maxRestarts": 1}), namespace=name
        )
        yield name
    assert scene.operator.process.process.is_alive()
    assert scene.operator.process.pid == pid


def job(name: str, script: str, runtime: str = "once", nodes: int = 1) -> Json:
    label = {"fieldRef": {"fieldPath": "metadata.labels['jobset.sigs.k8s.io/restart-attempt']"}}
    attempt = {"name": "ATTEMPT", "valueFrom": label}
    command = ["sh", "-c", script]
    return trainjob(name, runtime, {"numNodes": nodes, "command": command, "env": [attempt]})


def uids(pods: list[Json]) -> set[str]:
    return {pod["metadata"]["uid"] for pod in pods}


def open_gates(scene: Scene, pods: list[Json]) -> None:
    for pod in pods:
        scene.cluster.open_gate(pod, "/tmp/open")


def pods_of(scene: Scene, namespace: str, name: str) -> list[Json]:
    label = "jobset.sigs.k8s.io/jobset-name"
    return [
        pod
        for pod in scene.operator.pods(namespace)
        if pod["metadata"]["labels"].get(label) == name
    ]


def runs(scene: Scene, namespace: str, name: str, pods: int) -> bool:
    phases = [pod["status"]["phase"] for pod in pods_of(scene, namespace, name)]
    return phases == ["Running"] * pods


def restarts(scene: Scene, namespace: str, name: str) -> int:
    jobset = scene.cluster.get("jobset", name, "-n", namespace)
    return int(jobset.get("status", {}).get("restarts", 0))


def test_jobs_run_on_while_the_api_server_is_down(
    scene: Scene, place: str, home: Installation, tmp_path: Path
) -> None:
    operator = scene.operator
    operator.create(
        place,
        job("ends", f"{GATE}; sleep 5"),
        job("fails", f"{GATE}; sleep 5; exit 3"),
        job("restarts", f"[ $ATTEMPT = 1 ] && exit; {GATE}; sleep 5; exit 1", "again"),
        job("stays", GATE, nodes=2),
    )
    operator.wait_running(place, 5)
    before = pods_of(scene, place, "stays")
    seconds = int(OUTAGE_S) + 6
    mine = ticking(seconds).submit(home, place, tmp_path)
    log = following(home, mine)
    for name in ("ends", "fails", "restarts"):  # while nobody can see it, if this is quick enough
        open_gates(scene, pods_of(scene, place, name))
    scene.cluster.kill_api_server()
    time.sleep(OUTAGE_S)
    assert home.phase(mine) == "Running"
    scene.cluster.start_api_server()
    operator.create(place, job("late", "true"))
    operator.wait_condition("trainjob", place, "ends", "Complete")
    operator.wait_condition("trainjob", place, "late", "Complete")
    operator.wait_condition("trainjob", place, "restarts", "Complete")
    assert restarts(scene, place, "restarts") == 1
    failed = operator.wait_condition("trainjob", place, "fails", "Failed")
    assert failed["reason"] == "FailedJobs"
    after = pods_of(scene, place, "stays")
    assert uids(after) == uids(before)
    open_gates(scene, after)
    operator.wait_condition("trainjob", place, "stays", "Complete")
    assert restarts(scene, place, "stays") == 0
    assert rest_of(log) == numbered(seconds)
    assert home.phase(mine) == "Succeeded"


def test_dropped_connections_miss_nothing(
    scene: Scene, place: str, home: Installation, tmp_path: Path
) -> None:
    mine = ticking(6).submit(home, place, tmp_path)
    log = following(home, mine)
    names = [f"job-{number}" for number in range(5)]
    for name in names:
        scene.operator.create(place, job(name, "sleep 1"))
        # The operator and the server may not have connected again since the last time.
        assert wait_until(lambda: scene.proxy.cut() > 0, PATIENCE_S)
    ends = [
        scene.operator.wait_condition("trainjob", place, name, "Complete")["reason"]
        for name in names
    ]
    assert ends == ["AllJobsCompleted"] * len(names)
    jobsets = scene.cluster.get("jobsets", "-n", place)["items"]
    assert sorted(item["metadata"]["name"] for item in jobsets) == [*names, "ticking"]
    assert [restarts(scene, place, name) for name in names] == [0] * len(names)
    assert rest_of(log) == numbered(6)
    assert home.phase(mine) == "Succeeded"


def test_an_expired_token_is_read_anew(scene: Scene, place: str) -> None:
    operator = scene.operator
    operator.create(place, job("before", GATE))
    pods = operator.wait_running(place, 1)
    scene.tokens.revoke()
    scene.proxy.cut()  # what was open goes on, whoever asked for it
    open_gates(scene, pods)
    operator.wait(
        place, lambda: jobset_is_done(scene, place, "before"), "the JobSet is done meanwhile"
    )
    found = operator.job("trainjob", place, "before") or {}
    assert not found["status"].get("conditions"), "the operator is still let in"
    scene.tokens.renew()
    operator.wait_condition("trainjob", place, "before", "Complete")
    operator.create(place, job("after", "true"))
    operator.wait_condition("trainjob", place, "after", "Complete")


def jobset_is_done(scene: Scene, namespace: str, name: str) -> bool:
    jobset = scene.cluster.get("jobset", name, "-n", namespace)
    return bool(jobset.get("status", {}).get("terminalState") == "Completed")


def test_an_evicted_pod_restarts_its_gang(
    scene: Scene, place: str, home: Installation, tmp_path: Path
) -> None:
    gangs = running_gangs(scene, place, home, tmp_path)
    for name in ("gang", "last", "mine"):
        first, *_ = pods_of(scene, place, name)
        scene.cluster.evict(place, first["metadata"]["name"])
    gangs.wait_last_failed()
    gangs.wait_restarted_and_done()


@dataclass(frozen=True)
class Gangs:
    """Pods to be taken away: `gang` and `mine` may restart once, `last` may not."""

    scene: Scene
    place: str
    home: Installation
    mine: str
    """The id of the one that came through our backend."""
    first: list[Json]
    """The pods of `gang` before anything has happened."""

    def wait_last_failed(self) -> None:
        failed = self.scene.operator.wait_condition("trainjob", self.place, "last", "Failed")
        assert failed["reason"] == "FailedJobs"

    def wait_restarted_and_done(self) -> None:
        scene, place, operator = self.scene, self.place, self.scene.operator
        operator.wait(
            place,
            lambda: not uids(self.first) & uids(pods_of(scene, place, "gang")),
            "both pods of the gang are replaced",
        )
        operator.wait(place, lambda: runs(scene, place, "gang", 2), "the gang runs again")
        open_gates(scene, pods_of(scene, place, "gang"))
        operator.wait_condition("trainjob", place, "gang", "Complete")
        assert restarts(scene, place, "gang") == 1
        self.home.run("jobs", "wait", self.mine)
        status = self.home.job(self.mine)["status"]
        assert (status["phase"], status["restarts"]) == ("Succeeded", 1)


def running_gangs(scene: Scene, place: str, home: Installation, folder: Path) -> Gangs:
    mine = ShellJobSet("mine", SECOND, pods=2, max_restarts=1).submit(home, place, folder)
    scene.operator.create(place, job("gang", GATE, "again", nodes=2), job("last", GATE))
    scene.operator.wait_running(place, 5)
    return Gangs(scene, place, home, mine, pods_of(scene, place, "gang"))


def test_a_lost_node_takes_its_pods_along(
    scene: Scene, place: str, home: Installation, tmp_path: Path
) -> None:
    operator, cluster = scene.operator, scene.cluster
    gangs = running_gangs(scene, place, home, tmp_path)
    with bystander(cluster):
        with kubelet_stopped(cluster):
            operator.wait(place, lambda: not operator.pods(place), "all pods are to go")
            assert ready(cluster, NODE) == "Unknown"
            for name in ("gang", "last"):  # nobody knows whether they still run
                assert not has_ended(operator.job("trainjob", place, name))
            # As someone does who knows that the machine is gone.
            cluster.kubectl("delete", "pods", "--all", "-n", place, "--force", "--grace-period=0")
            gangs.wait_last_failed()
            assert not has_ended(operator.job("trainjob", place, "gang"))
        operator.wait(place, lambda: ready(cluster, NODE) == "True", "the node is back")
        gangs.wait_restarted_and_done()


def has_ended(job: Json | None) -> bool:
    conditions = (job or {})["status"].get("conditions", [])
    return any(each["type"] in ("Complete", "Failed") for each in conditions)
