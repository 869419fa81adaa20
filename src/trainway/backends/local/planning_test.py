import json
from dataclasses import replace
from pathlib import PurePosixPath

from trainway.backends.base import Workload
from trainway.backends.local.containers import FLAGS, RUN_FLAGS, Tool
from trainway.backends.local.planning import Host, plan, workload_of
from trainway.jobset.labels import ISOLATION

HOST = Host(PurePosixPath("/home/jobs"), "laptop")
SECRET = {"kind": "Secret", "metadata": {"name": "s"}, "stringData": {"token": "hidden"}}
WORKLOAD = Workload(
    id="abc",
    name="demo",
    namespace="ns",
    jobset={"kind": "JobSet", "spec": {}},
    objects=[SECRET],
    workdir="/work",
    environ={"PATH": "/bin", "HF_TOKEN": "hidden"},
    port=20_000,
    devices={"node-0-0": {"gpus": ("1",)}},
)


def test_the_plan_is_what_the_agent_expects() -> None:
    request = plan(WORKLOAD, HOST)
    url = "https://127.0.0.1:20001/apis/trainer.kubeflow.org/v1alpha1/namespaces/ns/trainjobs/demo/status"
    assert request.plan == {
        "version": 1,
        "id": "abc",
        "name": "demo",
        "namespace": "ns",
        "jobset": WORKLOAD.jobset,
        "objects": [SECRET],
        "workdir": "/work",
        "env": {
            "PATH": "/bin",
            "HF_TOKEN": "hidden",
            "KUBEFLOW_TRAINER_SERVER_URL": url,
            "KUBEFLOW_TRAINER_SERVER_CA_CERT": "/home/jobs/abc/status/tls.crt",
            "KUBEFLOW_TRAINER_SERVER_TOKEN": "/home/jobs/abc/status/token",
        },
        "devices": {"node-0-0": {"gpus": ["1"]}},
        "mounts": "namespace",
        "host": {"name": "laptop", "ip": "127.0.0.1"},
        "network": {"port": 20_000},
        "status": {
            "port": 20_001,
            "path": url.removeprefix("https://127.0.0.1:20001"),
            "certificate": "status/tls.crt",
            "key": "status/tls.key",
            "token": "status/token",
        },
    }
    assert request.handle == {"id": "abc", "directory": "/home/jobs/abc", "port": 20_000}


def test_what_is_shown_of_it_keeps_secrets() -> None:
    text = plan(WORKLOAD, HOST).text()
    assert "hidden" not in text
    assert json.loads(text)["env"]["PATH"] == "/bin"


def test_a_workload_is_found_again_in_its_plan() -> None:
    devices = {"node-0-0": {"gpus": ["1"]}}
    assert workload_of(plan(WORKLOAD, HOST).plan) == replace(WORKLOAD, devices=devices)


def test_a_plan_for_a_pool_is_left_to_its_agent() -> None:
    assert workload_of({**plan(WORKLOAD, HOST).plan, "pool": "lab"}) is None


def test_containers_are_run_where_the_jobset_asks_for_them() -> None:
    jobset = {**WORKLOAD.jobset, "metadata": {"annotations": {ISOLATION: "container"}}}
    workload = replace(WORKLOAD, jobset=jobset, environ={FLAGS: "--root '/a b'"})
    host = replace(HOST, tool=Tool("/usr/bin/docker", {FLAGS: "--host x", RUN_FLAGS: "--tty"}))
    assert plan(workload, host).plan["containers"] == {
        "tool": "docker",
        "program": "/usr/bin/docker",
        "flags": ["--root", "/a b"],
        "runFlags": ["--tty"],
    }


def test_planning_changes_nothing() -> None:
    assert plan(WORKLOAD, HOST) == plan(WORKLOAD, HOST)
