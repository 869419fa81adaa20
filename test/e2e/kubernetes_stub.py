"""An API server that only answers lists: nodes, pods and what Kueue has, for pages that show them.

The real one of `test/cluster` takes a minute and has no GPUs. What the pages ask for is the same.
"""

import contextlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

HOSTILE: Final = "<img src=x onerror=alert(1)>"
NO_QUOTA: Final = "couldn't assign flavors: insufficient unused quota for nvidia.com/gpu"
_READY: Final = [{"type": "Ready", "status": "True"}]
_KUEUE: Final = "/apis/kueue.x-k8s.io/v1beta1"
_TRAINER: Final = "/apis/trainer.kubeflow.org/v1alpha1"
_APIS: Final = ("kueue.x-k8s.io/v1beta1", "trainer.kubeflow.org/v1alpha1")


def _node(name: str, gpus: str, **spec: Any) -> dict[str, Any]:
    allocatable = {"cpu": "16", "memory": "64Gi", "nvidia.com/gpu": gpus}
    labels = {"nvidia.com/gpu.product": "NVIDIA-H100"}
    status = {"allocatable": allocatable, "conditions": _READY}
    return {"metadata": {"name": name, "labels": labels}, "spec": spec, "status": status}


def _pod(node: str, gpus: str) -> dict[str, Any]:
    requests = {"cpu": "4", "memory": "8Gi", "nvidia.com/gpu": gpus}
    container = {"name": "main", "resources": {"requests": requests}}
    spec = {"nodeName": node, "containers": [container]}
    return {"metadata": {"name": "p"}, "spec": spec, "status": {"phase": "Running"}}


def _workload(name: str, minute: int, why: str) -> dict[str, Any]:
    reserved = {"type": "QuotaReserved", "status": "False", "reason": "Pending", "message": why}
    owner = {"kind": "TrainJob", "name": f"{name}-job", "controller": True}
    return {
        "metadata": {
            "name": name,
            "namespace": "ml",
            "creationTimestamp": f"2026-11-17T09:{minute:02}:00Z",
            "ownerReferences": [owner],
        },
        "spec": {"queueName": "team", "priority": 100 - minute},
        "status": {"conditions": [reserved]},
    }


def _quota(name: str, nominal: str) -> dict[str, str]:
    return {"name": name, "nominalQuota": nominal}


def _container_runtime(name: str) -> dict[str, Any]:
    pod = {"spec": {"containers": [{"name": "node", "image": HOSTILE}]}}
    job = {"name": "node", "template": {"spec": {"template": pod}}}
    return {
        "metadata": {"name": name, "labels": {"trainer.kubeflow.org/framework": "torch"}},
        "spec": {
            "mlPolicy": {"numNodes": 3, "torch": {}},
            "template": {"spec": {"replicatedJobs": [job]}},
        },
    }


_FLAVOR: Final = {"name": "h100", "resources": [_quota("cpu", "32"), _quota("nvidia.com/gpu", "8")]}
_USED: Final = {"name": "nvidia.com/gpu", "total": "9", "borrowed": "1"}
_LISTS: Final[dict[str, list[dict[str, Any]]]] = {
    "/api/v1/nodes": [
        _node("gpu-a", "8"),
        _node("gpu-b", "8", unschedulable=True),
        _node(HOSTILE, "0"),
    ],
    "/api/v1/pods": [_pod("gpu-a", "5")],
    f"{_KUEUE}/namespaces/ml/localqueues": [
        {
            "metadata": {"name": "team", "namespace": "ml"},
            "spec": {"clusterQueue": "all"},
            "status": {"pendingWorkloads": 2, "admittedWorkloads": 1},
        }
    ],
    f"{_KUEUE}/clusterqueues": [
        {
            "metadata": {"name": "all"},
            "spec": {"resourceGroups": [{"flavors": [_FLAVOR]}]},
            "status": {"flavorsUsage": [{"name": "h100", "resources": [_USED]}]},
        }
    ],
    f"{_KUEUE}/namespaces/ml/workloads": [
        _workload("second", 20, HOSTILE),
        _workload("first", 10, NO_QUOTA),
    ],
    f"{_TRAINER}/clustertrainingruntimes": [_container_runtime("of-the-cluster")],
}


class _Answers(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if path == "/apis":
            groups = [{"versions": [{"groupVersion": version}]} for version in _APIS]
            self._answer(200, {"groups": groups})
        elif path == "/version":
            self._answer(200, {"gitVersion": "v1.34.0"})
        elif path in _LISTS:
            self._answer(200, {"metadata": {"resourceVersion": "1"}, "items": _LISTS[path]})
        else:
            self._answer(404, {"kind": "Status", "code": 404, "reason": "NotFound"})

    def do_POST(self) -> None:
        """Whoever asks whether something is allowed hears that it is."""
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self._answer(201, {"kind": "SelfSubjectAccessReview", "status": {"allowed": True}})

    def _answer(self, status: int, body: dict[str, Any]) -> None:
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as it is called
        """Say nothing."""


@contextlib.contextmanager
def stub_cluster(folder: Path, context: str = "stub") -> Iterator[Path]:
    """The server, and the kubeconfig that leads to it."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Answers)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    path = folder / "kubeconfig"
    config = {
        "current-context": context,
        "contexts": [{"name": context, "context": {"cluster": "c", "namespace": "ml"}}],
        "clusters": [
            {"name": "c", "cluster": {"server": f"http://127.0.0.1:{server.server_port}"}}
        ],
    }
    path.write_text(json.dumps(config))
    try:
        yield path
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
