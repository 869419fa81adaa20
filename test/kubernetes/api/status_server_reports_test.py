"""The status server with tokens and TrainJobs of a real API server."""

import asyncio
import contextlib
import http.client
import json
import ssl
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import pytest
from cluster.access import Access
from cluster.processes import wait_until

from trainway.jobset.labels import REGISTERED_LINKS
from trainway.json_types import Json
from trainway.kube.certificates import Certificates, renewed
from trainway.kube.client import Client
from trainway.kube.connection import load_connection
from trainway.operator.listener import listening
from trainway.operator.status_server import status_app
from trainway.operator.tokens import REMEMBER_SECONDS, Tokens, audience

HOST: Final = "127.0.0.1"
PATIENCE_S: Final = 120.0
TIME: Final = "2026-01-01T00:00:00Z"
REPORT: Final = {
    "trainerStatus": {
        "progressPercentage": 45,
        "estimatedRemainingSeconds": 120,
        "metrics": [{"name": "loss", "value": "0.15"}],
        "lastUpdatedTime": TIME,
    }
}


@dataclass
class Served:
    """A status server in a thread, with a clock for what it remembers."""

    cluster: Access
    certificates: Certificates
    folder: Path
    port: int = 0
    seconds: float = 0.0
    stops: list[Callable[[], object]] = field(default_factory=list)

    def path(self, namespace: str, name: str = "job") -> str:
        return f"/apis/{audience(namespace, name)}"

    def post(self, path: str, token: str, body: object = REPORT) -> tuple[int, Json]:
        context = ssl.create_default_context(cadata=self.certificates.authorities)
        connection = http.client.HTTPSConnection(
            HOST, self.port, context=context, timeout=PATIENCE_S
        )
        with contextlib.closing(connection):
            headers = {"Authorization": f"Bearer {token}"}
            connection.request("POST", path, json.dumps(body), headers)
            response = connection.getresponse()
            return response.status, json.loads(response.read())

    def token(self, namespace: str, *audiences: str, pod: str = "") -> str:
        """A token of the account `trainer`, as a kubelet gets it for a projected volume."""
        flags = [f"--audience={wanted}" for wanted in audiences]
        if pod:
            flags += ["--bound-object-kind=Pod", f"--bound-object-name={pod}"]
        done = self.cluster.kubectl("create", "token", "trainer", "-n", namespace, *flags)
        return done.stdout.strip()


@pytest.fixture(scope="module")
def served(api_cluster: Access, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    api_cluster.install_our_crds()
    certificates, _ = renewed(None, (HOST,), datetime.now(UTC))
    server = Served(api_cluster, certificates, tmp_path_factory.mktemp("keys"))
    ready = threading.Event()
    thread = threading.Thread(target=asyncio.run, args=(serve(server, ready),))
    thread.start()
    assert ready.wait(PATIENCE_S), "the server did not start"
    yield server
    server.stops[0]()
    thread.join(PATIENCE_S)


async def serve(server: Served, ready: threading.Event) -> None:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    (server.folder / "crt").write_text(server.certificates.certificate)
    (server.folder / "key").write_text(server.certificates.key)
    context.load_cert_chain(server.folder / "crt", server.folder / "key")
    async with Client(load_connection(server.cluster.kubeconfig, None)) as client:
        app = status_app(client, Tokens(client, lambda: server.seconds))
        async with listening(app, HOST, 0, context) as server.port:
            stop, loop = asyncio.Event(), asyncio.get_running_loop()
            server.stops.append(lambda: loop.call_soon_threadsafe(stop.set))
            ready.set()
            await stop.wait()


@pytest.fixture
def job(served: Served, namespace: str) -> str:
    """A namespace with a TrainJob, a service account and a pod of it."""
    served.cluster.kubectl("create", "serviceaccount", "trainer", "-n", namespace)
    served.cluster.apply(
        {
            "apiVersion": "trainer.kubeflow.org/v1alpha1",
            "kind": "TrainJob",
            "metadata": {"name": "job", "namespace": namespace},
            "spec": {"runtimeRef": {"name": "torch"}},
        },
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "pod", "namespace": namespace},
            "spec": {
                "serviceAccountName": "trainer",
                "automountServiceAccountToken": False,
                "containers": [{"name": "node", "image": "i"}],
            },
        },
    )
    return namespace


def stored(served: Served, namespace: str) -> Json | None:
    found = served.cluster.get("trainjob", "job", "-n", namespace)
    status: Json | None = found.get("status", {}).get("trainerStatus")
    return status


def test_a_report_with_the_token_of_a_pod_is_stored(served: Served, job: str) -> None:
    token = served.token(job, audience(job, "job"), pod="pod")
    assert served.post(served.path(job), token) == (200, REPORT)
    assert stored(served, job) == REPORT["trainerStatus"]
    owners = served.cluster.kubectl(
        *("get", "trainjob", "job", "-n", job, "--show-managed-fields"),
        "-o=jsonpath={.metadata.managedFields[?(@.subresource=='status')].manager}",
    )
    assert owners.stdout == "trainer-status"


def test_links_are_annotated_one_by_one(served: Served, job: str) -> None:
    token = served.token(job, audience(job, "job"), pod="pod")
    links = {"wandb": "https://wandb.ai/runs/1", "mlflow": "http://mlflow.example/2"}
    for name, url in links.items():
        assert served.post(served.path(job), token, {"links": {name: url}}) == (200, {})
    done = served.cluster.kubectl("get", "trainjob", "job", "-n", job, "-o=json")
    annotations = json.loads(done.stdout)["metadata"]["annotations"]
    assert json.loads(annotations[REGISTERED_LINKS]) == links


def test_a_report_replaces_the_one_before(served: Served, job: str) -> None:
    token = served.token(job, audience(job, "job"))
    served.post(served.path(job), token)
    later = {"trainerStatus": {"progressPercentage": 50, "lastUpdatedTime": TIME}}
    assert served.post(served.path(job), token, later)[0] == 200
    assert stored(served, job) == later["trainerStatus"]
    assert served.post(served.path(job), token, {}) == (200, {})
    assert stored(served, job) == later["trainerStatus"]


def test_conditions_of_others_stay(served: Served, job: str) -> None:
    condition = {
        "type": "Suspended",
        "status": "True",
        "reason": "Suspended",
        "message": "TrainJob is suspended",
        "lastTransitionTime": TIME,
    }
    body = json.dumps({"status": {"conditions": [condition]}})
    served.cluster.kubectl(
        *("patch", "trainjob", "job", "-n", job, "--subresource=status", "--type=merge", "-p", body)
    )
    served.post(served.path(job), served.token(job, audience(job, "job")))
    status = served.cluster.get("trainjob", "job", "-n", job)["status"]
    assert status == {"conditions": [condition], **REPORT}


@dataclass(frozen=True)
class Case:
    name: str
    audiences: tuple[str, ...]
    """Of the token; NS stands for the namespace of the job."""


CASES = [
    Case("for the API server", ()),
    Case("for another job", ("trainer.kubeflow.org/v1alpha1/namespaces/NS/trainjobs/x/status",)),
    Case("for another place", ("trainer.kubeflow.org/v1alpha1/namespaces/x/trainjobs/job/status",)),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_other_tokens_are_refused(case: Case, served: Served, job: str) -> None:
    token = served.token(job, *(text.replace("NS", job) for text in case.audiences))
    status, answer = served.post(served.path(job), token)
    assert (status, answer["message"], answer["reason"]) == (403, "Forbidden", "Forbidden")
    assert stored(served, job) is None


def test_an_account_of_another_namespace_is_refused(served: Served, job: str) -> None:
    other = f"{job}-2"
    served.cluster.create_namespace(other)
    served.cluster.kubectl("create", "serviceaccount", "trainer", "-n", other)
    token = served.token(other, audience(job, "job"))
    assert served.post(served.path(job), token)[0] == 403
    served.cluster.delete_namespace(other)


def test_what_is_no_token_is_refused(served: Served, job: str) -> None:
    for token in ("", "nonsense", "a.b.c"):
        assert served.post(served.path(job), token)[0] == 403


def test_the_token_of_a_deleted_pod_is_refused(served: Served, job: str) -> None:
    token = served.token(job, audience(job, "job"), pod="pod")
    assert served.post(served.path(job), token)[0] == 200
    served.cluster.kubectl("delete", "pod", "pod", "-n", job, "--force", "--grace-period=0")

    def is_refused() -> bool:
        served.seconds += REMEMBER_SECONDS
        return served.post(served.path(job), token)[0] == 403

    assert wait_until(is_refused, PATIENCE_S), (
        "the API server remembers tokens for 10 seconds, not more"
    )


def test_no_such_job_and_a_bad_report(served: Served, job: str) -> None:
    token = served.token(job, audience(job, "none"))
    status, answer = served.post(served.path(job, "none"), token)
    assert (status, answer["message"]) == (404, "Train job not found")
    token = served.token(job, audience(job, "job"))
    status, answer = served.post(served.path(job), token, {"trainerStatus": {"metrics": 3}})
    assert (status, answer["reason"]) == (422, "Invalid")


SDK_CALL: Final = """
from kubeflow.trainer.backends.kubernetes.utils import update_trainjob_status
print(update_trainjob_status(30, 60, {"loss": 0.5}))
"""


def test_the_kubeflow_sdk_reports(served: Served, job: str, tmp_path: Path) -> None:
    (tmp_path / "ca.crt").write_text(served.certificates.authorities)
    (tmp_path / "token").write_text(served.token(job, audience(job, "job")))
    environment = {
        "KUBEFLOW_TRAINER_SERVER_URL": f"https://{HOST}:{served.port}{served.path(job)}",
        "KUBEFLOW_TRAINER_SERVER_CA_CERT": str(tmp_path / "ca.crt"),
        "KUBEFLOW_TRAINER_SERVER_TOKEN": str(tmp_path / "token"),
    }
    command = [sys.executable, "-c", SDK_CALL]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "True\n", done.stderr
    status = stored(served, job)
    assert status is not None
    time = datetime.fromisoformat(status.pop("lastUpdatedTime"))
    assert abs((datetime.now(UTC) - time).total_seconds()) < 60
    assert status == {
        "progressPercentage": 30,
        "estimatedRemainingSeconds": 60,
        "metrics": [{"name": "loss", "value": "0.5"}],
    }
