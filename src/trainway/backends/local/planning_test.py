import json
from pathlib import PurePosixPath

from trainway.backends.base import Workload
from trainway.backends.local.planning import Host, plan

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


def test_planning_changes_nothing() -> None:
    assert plan(WORKLOAD, HOST) == plan(WORKLOAD, HOST)
