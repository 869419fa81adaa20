"""The agent with real processes: what a pod may ask for, and gets."""

import os
import socket
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from cluster.ports import free_port

from trainway.agent.base.testing import container, jobset, role
from trainway.agent.kubelet import mounts
from trainway.agent.kubelet.usage.gpu_monitor import is_driver_here
from trainway.agent.local.testing import AgentJob, agent_job, until_written
from trainway.json_types import Json

FOREVER = "while :; do sleep 0.1; done"
HOSTFILE: Json = {
    "kind": "ConfigMap",
    "metadata": {"name": "hosts"},
    "data": {"hostfile": "a slots=2\n", "other": "no"},
}
KEY: Json = {"kind": "Secret", "metadata": {"name": "key"}, "stringData": {"id": "s3cret"}}


@pytest.fixture(scope="module")
def needs_namespaces(tmp_path_factory: pytest.TempPathFactory) -> None:
    if not mounts.available(str(tmp_path_factory.mktemp("stage"))):
        pytest.skip("this kernel or container allows no private mounts")


def mpi_role(script: str, path: str) -> Json:
    volumes = [
        {
            "name": "hosts",
            "configMap": {"name": "hosts", "items": [{"key": "hostfile", "path": "hostfile"}]},
        },
        {"name": "key", "secret": {"secretName": "key"}},
    ]
    mounted = [
        {"name": "hosts", "mountPath": path},
        {"name": "key", "mountPath": f"{path}-key", "readOnly": True},
    ]
    main = container("main", script, volumeMounts=mounted, env=[{"name": "HOSTS", "value": path}])
    return role("node", main, pod={"volumes": volumes})


@pytest.mark.usefixtures("needs_namespaces")
@pytest.mark.parametrize("path", ["/etc/trainway-mpi", "/trainway-mpi/deep", "/usr/local/tw/x"])
def test_volumes_appear_at_their_paths(path: str) -> None:
    assert not Path(path).exists()
    script = (
        f"cat {path}/hostfile; cat {path}-key/id; echo;"
        f" stat -c %a {path}-key/id {path}/hostfile; ls {path};"
        f" touch {path}/new 2> /dev/null || echo kept; [ -e /etc/passwd ] && echo same"
    )
    with agent_job(jobset(mpi_role(script, path)), objects=[HOSTFILE, KEY]) as job:
        assert job.end()["succeeded"]
        said = b"a slots=2|s3cret|600|644|hostfile|kept|same".split(b"|")
        assert job.log("node-0-0.main.0") == [b"o " + word for word in said]
        assert list((job.path / "volumes").glob("node-*")) == []
    assert not Path(path).exists()


def test_paths_are_mapped_where_nothing_can_be_mounted() -> None:
    path = "/etc/trainway-mpi"
    node = mpi_role("cat $HOSTS/hostfile; cat $0/id", path)
    main = node["template"]["spec"]["template"]["spec"]["containers"][0]
    main["args"] = [f"{path}-key"]
    with agent_job(jobset(node), objects=[HOSTFILE, KEY], mounts="map") as job:
        assert job.end()["succeeded"]
        assert job.log("node-0-0.main.0") == [b"o a slots=2", b"o s3cret"]
        told = [r for r in job.records() if r.get("reason") == "PathsMapped"]
        assert len(told) == 1
        assert path in told[0]["message"]


@pytest.mark.usefixtures("needs_namespaces")
def test_containers_of_a_pod_share_an_empty_directory() -> None:
    mount = [{"name": "scratch", "mountPath": "/trainway-scratch"}]
    first = container("first", "echo hello > /trainway-scratch/word", volumeMounts=mount)
    main = container(
        "main",
        "cat /trainway-scratch/word; ls /trainway-claim",
        volumeMounts=[*mount, {"name": "claim", "mountPath": "/trainway-claim"}],
    )
    volumes = [
        {"name": "scratch", "emptyDir": {"medium": "Memory"}},
        {"name": "claim", "persistentVolumeClaim": {"claimName": "data"}},
    ]
    node = role("node", main, pod={"initContainers": [first], "volumes": volumes})
    with agent_job(jobset(node)) as job:
        assert job.end()["succeeded"]
        assert job.log("node-0-0.main.0") == [b"o hello"]
        assert (job.path / "volumes" / "pvc-data").is_dir()
        assert list(Path("/dev/shm").glob(f"trainway-{job.id}*")) == []


@pytest.mark.parametrize(
    ("spec", "reason", "part"),
    [
        ({"command": ["no-such-program"]}, "StartError", "not found in $PATH"),
        ({"command": ["/no/such"]}, "StartError", 'exec: "/no/such": no such file'),
        ({"command": ["true"], "workingDir": "/no/such"}, "StartError", "chdir to cwd"),
        ({"command": ["/etc/passwd"]}, "StartError", "permission denied"),
        ({}, "NoCommand", "give it a command"),
        ({"command": ["true"], "envFrom": [{"configMapRef": {"name": "none"}}]},
         "CreateContainerConfigError", 'configmap "none" not found'),
        ({"command": ["true"], "volumeMounts": [{"name": "v", "mountPath": "/x"}]},
         "CreateContainerConfigError", 'no volume "v"'),
    ],
)  # fmt: skip
def test_what_cannot_start_says_why(spec: Json, reason: str, part: str) -> None:
    with agent_job(jobset(role("node", {"name": "main", **spec}))) as job:
        assert not job.end()["succeeded"]
        pod = [r for r in job.records() if r["type"] == "pod"][-1]
        main = pod["containers"][0]
        assert pod["phase"] == "Failed"
        assert reason in (pod.get("reason"), main.get("reason"))
        assert part in str(pod.get("message")) + str(main.get("message"))
        if reason == "StartError":
            assert main["exitCode"] == 128


LINES = {
    "unicode": "grüße, 世界 🚂\n".encode(),
    "binary": bytes(range(11, 256)) + b"\x00\r\t\n",
    "no end": b"unfinished",
    "empty lines": b"\n\n\n",
    "long": b"x" * 3_000_000 + b"\n",
    "many": b"".join(b"line %d\n" % n for n in range(20000)),
}


@pytest.mark.parametrize("data", LINES.values(), ids=list(LINES))
def test_logs_keep_every_byte(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "data").write_bytes(data)
    main = container("main", f"cat {tmp_path}/data; cat {tmp_path}/data >&2")
    with agent_job(jobset(role("node", main))) as job:
        assert job.end()["succeeded"]
        lines = job.log("node-0-0.main.0")
        whole = data if data.endswith(b"\n") else data + b"\n"
        for stream in (b"o", b"e"):
            # A capital letter: the next line of the stream goes on with this one.
            parts = [x[2:] + b"\n" * x[:1].islower() for x in lines if x[:1].lower() == stream]
            assert b"".join(parts) == whole


STEP = b"step 12345: loss 0.123456 lr 0.001 throughput 1234.5\n"
LOGGED = 60_000
"""How many lines are written first; then four times as many."""


def test_much_log_costs_as_much_more_as_it_is_more(tmp_path: Path) -> None:
    here, go = tmp_path / "here", tmp_path / "go"
    os.mkfifo(here)
    os.mkfifo(go)
    wait = f"echo > {here}; cat {go} > /dev/null"
    write = f"yes '{STEP.decode().strip()}' | head -n"
    script = f"{wait}; {write} {LOGGED}; {wait}; {write} {4 * LOGGED}; {wait}"
    seconds, peaks = [], []
    with agent_job(jobset(role("node", container("main", script)))) as job:
        for _ in range(3):
            here.read_text()
            seconds.append(cpu_seconds(job.pid))
            peaks.append(peak_mb(job.pid))
            go.write_text("")
        assert job.end()["succeeded"]
        written = (job.path / "logs" / "node-0-0.main.0.log").read_bytes()
    assert written.count(b" o " + STEP) == written.count(b"\n") == 5 * LOGGED
    first, second = seconds[1] - seconds[0], seconds[2] - seconds[1]
    assert second < 10 * first, "four times the lines must not cost much more than four times"
    assert peaks[2] - peaks[1] < 16


def cpu_seconds(pid: int) -> float:
    """The time that a process has worked."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def peak_mb(pid: int) -> float:
    """The most memory that a process has had."""
    rows = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(row.split()[1]) for row in rows if row.startswith("VmHWM:")) / 1024


def test_suspend_and_resume(tmp_path: Path) -> None:
    here = tmp_path / "here"
    os.mkfifo(here)
    waiting = f"{{ echo > {here}; {FOREVER}; }}"
    script = f"echo start >> {tmp_path}/starts; [ -e {tmp_path}/go ] || {waiting}"
    with agent_job(jobset(role("node", container("main", script)))) as job:
        here.read_text()
        job.until_pod("Running")
        suspended = job.ask("suspend")["jobset"]
        assert suspended["replicatedJobsStatus"][0]["suspended"] == 1
        assert suspended["conditions"][0]["reason"] == "SuspendedJobs"
        gone = job.until_pod("Failed", deleted=True)
        assert job.processes() == []
        (tmp_path / "go").touch()
        resumed = job.ask("resume")["jobset"]
        assert [c["reason"] for c in resumed["conditions"]] == ["ResumeJobs"]
        job.until(lambda r: r["type"] == "pod" and r["uid"] != gone["uid"])
        assert job.end()["succeeded"]
        assert (tmp_path / "starts").read_text() == "start\nstart\n"


def test_suspended_from_the_start_then_resumed() -> None:
    with agent_job(jobset(role("node", container("main", "exit 0")), suspend=True)) as job:
        job.until(lambda r: r["type"] == "status" and r["jobset"]["conditions"])
        assert job.ask("status")["pods"] == []
        assert job.ask("resume")["ok"]
        assert job.end()["succeeded"]


def test_readiness_waits_for_the_port() -> None:
    port = free_port()
    probe = {"tcpSocket": {"port": "web"}, "periodSeconds": 1, "failureThreshold": 100}
    serve = f"import http.server as h; h.test(h.SimpleHTTPRequestHandler, port={port})"
    ports = [{"name": "web", "containerPort": port}]
    worker = container("main", f'exec python3 -c "{serve}"', readinessProbe=probe, ports=ports)
    ask = {"httpGet": {"port": port, "path": "/"}}
    launcher = container("main", "sleep 0.2", startupProbe=ask)
    after = [{"name": "worker", "status": "Ready"}]
    spec = jobset(
        role("worker", worker),
        role("launcher", launcher, dependsOn=after),
        successPolicy={"operator": "Any", "targetReplicatedJobs": ["launcher"]},
    )
    with agent_job(spec) as job:
        job.until_pod("Running", "worker", ready=False)
        job.until_pod("Running", "worker", ready=True)
        job.until_pod("Running", "launcher")
        assert job.end()["succeeded"]


def test_liveness_kills_and_restarts(tmp_path: Path) -> None:
    probe = {"exec": {"command": ["test", "-e", f"{tmp_path}/second"]}, "periodSeconds": 1,
             "failureThreshold": 1, "initialDelaySeconds": 1}  # fmt: skip
    script = f"cd {tmp_path}; [ -e first ] && touch second && exit 0; touch first;"
    main = container("main", script + FOREVER, livenessProbe=probe)
    pod = {"restartPolicy": "OnFailure"}
    with agent_job(jobset(role("node", main, pod=pod, backoffLimit=4))) as job:
        assert job.end()["succeeded"]
        assert [r for r in job.records() if r.get("reason") == "Unhealthy"]


def test_hooks_and_sidecars_stop_in_order(tmp_path: Path) -> None:
    here = tmp_path / "here"
    os.mkfifo(here)

    def noted(name: str) -> str:
        return f"trap 'echo {name} >> {tmp_path}/order; exit 0' TERM; echo > {here}; {FOREVER}"

    hook = {"preStop": {"exec": {"command": ["sh", "-c", f"echo hook >> {tmp_path}/order"]}}}
    sidecars = [container(name, noted(name), restartPolicy="Always") for name in ("one", "two")]
    main = container("main", noted("main"), lifecycle=hook)
    pod = {"initContainers": sidecars, "terminationGracePeriodSeconds": 60}
    with agent_job(jobset(role("node", main, pod=pod))) as job:
        until_written(here, 3)
        job.until_pod("Running")
        assert job.ask("cancel")["ok"]
        assert (tmp_path / "order").read_text().split() == ["hook", "main", "two", "one"]


def test_watchers_get_all_records_from_where_they_ask() -> None:
    with agent_job(jobset(role("node", container("main", "sleep 0.3")))) as job:
        first, second = job.watch(), job.watch(3)
        assert [r["seq"] for r in first] == [r["seq"] for r in job.records()]
        assert [r["seq"] for r in second] == [r["seq"] for r in job.records()][3:]


def test_bad_requests_are_answered() -> None:
    with agent_job(jobset(role("node", container("main", FOREVER)))) as job:
        assert job.ask("dance") == {"ok": False, "error": "no such operation: dance"}
        assert job.ask("watch", **{"from": "x"})["ok"] is False
        assert job.ask("status")["pid"] == job.pid


def test_ranks_know_who_they_are() -> None:
    names = "HOSTNAME TRAINWAY_ROLE TRAINWAY_RANK JOB_COMPLETION_INDEX CUDA_VISIBLE_DEVICES"
    script = f"echo ${' $'.join(names.split())}"
    main = container("main", script, resources={"limits": {"nvidia.com/gpu": 2}})
    devices: dict[str, Any] = {"node-0-1": {"gpus": ["2", "3"]}}
    node = role("node", main, parallelism=2, completions=2)
    with agent_job(jobset(node), devices=devices) as job:
        assert job.end()["succeeded"]
        assert job.log("node-0-0.main.0") == [b"o trial-node-0-0 node 0 0"]
        assert job.log("node-0-1.main.0") == [b"o trial-node-0-1 node 1 1 2,3"]


def test_agent_is_small_and_idle(capsys: pytest.CaptureFixture[str]) -> None:
    with agent_job(jobset(role("node", container("main", "exec sleep 600")))) as job:
        job.until_pod("Running")
        text = Path(f"/proc/{job.pid}/status").read_text()
        resident = next(int(x.split()[1]) for x in text.splitlines() if x.startswith("VmRSS"))
        with capsys.disabled():
            sys.stdout.write(f"\nidle agent: {resident / 1024:.1f} MB resident\n")
        assert resident < 40_000


def test_an_idle_agent_uses_no_processor_time() -> None:
    with agent_job(jobset(role("node", container("main", "exec sleep 600")))) as job:
        job.until_pod("Running")
        assert job.ask("status")["ok"]
        spent: list[int] = []
        while not spent or (spent[-1] > 1 and len(spent) < 10):  # it may just have had to do
            before = ticks(job.pid)
            time.sleep(1)
            spent.append(ticks(job.pid) - before)
        assert spent[-1] <= 1, spent


def ticks(pid: int) -> int:
    """How long a process has run, by the clock of the kernel."""
    user, system = Path(f"/proc/{pid}/stat").read_text().rsplit(")")[1].split()[11:13]
    return int(user) + int(system)


def test_a_path_too_long_for_a_socket_is_no_problem(tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 60) / ("e" * 60)
    deep.mkdir(parents=True)
    go = tmp_path / "go"
    wait = f"while [ ! -e {go} ]; do sleep 0.05; done"
    job = AgentJob(deep / "job", jobset(role("node", container("main", wait))))
    job.start()
    here = os.open(job.path, os.O_RDONLY)
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(f"/proc/self/fd/{here}/agent.sock")
        client.sendall(b'{"op": "watch"}\n')
        go.touch()
        with client.makefile("rb") as lines:
            assert b'"type":"end"' in list(lines)[-1]
    os.close(here)


def test_an_agent_writes_what_its_pods_use() -> None:
    hold = "held = bytearray(b'1') * (64 << 20); import time; time.sleep(600)"
    script = f'{sys.executable} -c "{hold}"'
    with agent_job(jobset(role("node", container("main", script)))) as job:
        used = job.until(lambda record: record["type"] == "usage")["pods"]["node-0-0"]
    assert used["memory"] >= 64 << 20
    assert used["peakMemory"] >= used["memory"]
    assert used["cpu"] > 0


@pytest.mark.skipif(is_driver_here(), reason="this machine has real GPUs")
def test_an_agent_writes_what_the_gpus_of_a_pod_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "nvidia-smi"
    lines = r"0, GPU-a, 11, 1, 80, 60.5, 31\n1, GPU-b, 97, 40, 80, 350.5, 61\n"
    program.write_text(f'#!/bin/sh\nwhile :; do printf "{lines}"; sleep 0.5; done\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    devices = {"node-0-0": {"nvidia.com/gpu": ["1"]}}
    spec = jobset(role("node", container("main", FOREVER)))
    with agent_job(spec, devices=devices) as job:
        record = job.until(
            lambda record: record["type"] == "usage" and "gpus" in record["pods"]["node-0-0"]
        )
        job.ask("cancel")
        assert job.end()["reason"] == "Cancelled"
    assert record["pods"]["node-0-0"]["gpus"] == {
        "1": {
            "utilization": 97.0,
            "memory": 40.0 * 2**20,
            "memoryTotal": 80.0 * 2**20,
            "power": 350.5,
            "temperature": 61.0,
        }
    }
