import asyncio
import json
from dataclasses import dataclass, field
from typing import Any

import aiohttp
import orjson
import pytest

from trainway.jobset.labels import REGISTERED_LINKS
from trainway.json_types import Json
from trainway.kube.errors import (
    ApiError,
    Conflict,
    InvalidObject,
    ObjectNotFound,
    ServerUnavailable,
)
from trainway.kube.resources import TRAINJOBS, Resource
from trainway.operator.listener import listening
from trainway.operator.status_server import BODY_LIMIT, status_app

TIME = "2026-01-01T00:00:00Z"
URL = "/apis/trainer.kubeflow.org/v1alpha1/namespaces/ns/trainjobs/job/status"
REPORT = {
    "trainerStatus": {
        "progressPercentage": 45,
        "estimatedRemainingSeconds": 120,
        "metrics": [{"name": "loss", "value": "0.15"}],
        "lastUpdatedTime": TIME,
    }
}


@dataclass
class FakeCluster:
    """Notes what is applied, or refuses it."""

    error: Exception | None = None
    applied: list[Any] = field(default_factory=list)
    annotations: Json = field(default_factory=dict)
    conflicts: int = 0

    async def apply(self, obj: Json, *, field_manager: str, subresource: str = "") -> Json:
        assert (field_manager, subresource) == ("trainer-status", "status")
        if self.error is not None:
            raise self.error
        self.applied.append(obj)
        return obj

    async def get(self, resource: Resource, name: str, namespace: str = "") -> Json:
        assert (resource, namespace) == (TRAINJOBS, "ns")
        if self.error is not None:
            raise self.error
        return {"metadata": {"name": name, "resourceVersion": "7", "annotations": self.annotations}}

    async def patch(self, resource: Resource, name: str, namespace: str, body: object) -> Json:
        assert (resource, name, namespace) == (TRAINJOBS, "job", "ns")
        if self.conflicts:
            self.conflicts -= 1
            raise Conflict("changed")
        self.applied.append(body)
        return {}

    async def permits(self, header: str, namespace: str, name: str) -> bool:
        assert namespace == "ns"
        return header == f"Bearer token of {name}"


def post(
    cluster: FakeCluster,
    body: bytes | Json,
    url: str = URL,
    token: str = "token of job",  # noqa: S107 (made up)
    method: str = "POST",
) -> tuple[int, Json]:
    text = body if isinstance(body, bytes) else orjson.dumps(body)

    async def main() -> tuple[int, Json]:
        async with (
            listening(status_app(cluster, cluster), "127.0.0.1", 0) as port,
            aiohttp.ClientSession(headers={"Authorization": f"Bearer {token}"}) as session,
            session.request(method, f"http://127.0.0.1:{port}{url}", data=text) as response,
        ):
            assert response.content_type == "application/json"
            return response.status, orjson.loads(await response.read())

    return asyncio.run(main())


def test_a_report_is_applied_to_the_status_and_echoed() -> None:
    cluster = FakeCluster()
    assert post(cluster, REPORT) == (200, REPORT)
    assert cluster.applied == [
        {
            "apiVersion": "trainer.kubeflow.org/v1alpha1",
            "kind": "TrainJob",
            "metadata": {"name": "job", "namespace": "ns"},
            "status": REPORT,
        }
    ]


def test_fields_of_a_newer_client_are_left_out() -> None:
    cluster = FakeCluster()
    metric = {"name": "loss", "value": "1", "step": 3}
    status = {"lastUpdatedTime": TIME, "eta": "soon", "metrics": [metric]}
    wanted = {"lastUpdatedTime": TIME, "metrics": [{"name": "loss", "value": "1"}]}
    assert post(cluster, {"trainerStatus": status}) == (200, {"trainerStatus": wanted})
    assert cluster.applied[0]["status"]["trainerStatus"] == wanted


@pytest.mark.parametrize(
    "text",
    ["2026-01-01T02:00:00.123456+02:00", "2026-01-01t00:00:00z", "2025-12-31T23:00:00-01:00"],
)
def test_times_are_written_as_kubernetes_writes_them(text: str) -> None:
    report = {"trainerStatus": {"lastUpdatedTime": text}}
    assert post(FakeCluster(), report) == (200, {"trainerStatus": {"lastUpdatedTime": TIME}})


@pytest.mark.parametrize("body", [b"{}", b'{"trainerStatus": null}'])
def test_an_empty_report_writes_nothing(body: bytes) -> None:
    cluster = FakeCluster()
    assert post(cluster, body) == (200, {})
    assert cluster.applied == []


WANDB = {"wandb": "https://wandb.ai/runs/1"}


@pytest.mark.parametrize("conflicts", [0, 4])
def test_links_are_put_beside_those_that_are_there(conflicts: int) -> None:
    known = {"mlflow": "http://mlflow.example/2"}
    cluster = FakeCluster(annotations={REGISTERED_LINKS: json.dumps(known)}, conflicts=conflicts)
    assert post(cluster, {"links": WANDB}) == (200, {})
    annotations = {"trainway.dev/registered-links": json.dumps(known | WANDB)}
    assert cluster.applied == [{"metadata": {"resourceVersion": "7", "annotations": annotations}}]


def test_links_that_are_there_are_not_written_again() -> None:
    cluster = FakeCluster(annotations={REGISTERED_LINKS: json.dumps(WANDB)})
    assert post(cluster, {"links": WANDB}) == (200, {})
    assert cluster.applied == []


def test_links_may_come_with_a_report() -> None:
    cluster = FakeCluster()
    assert post(cluster, {**REPORT, "links": WANDB}) == (200, REPORT)
    assert len(cluster.applied) == 2


@dataclass(frozen=True)
class Case:
    name: str
    code: int
    reason: str
    message: str
    body: bytes | Json = field(default_factory=lambda: dict(REPORT))
    url: str = URL
    token: str = "token of job"  # noqa: S105 (made up)
    error: Exception | None = None
    method: str = "POST"


CASES = [
    Case("another job's token", 403, "Forbidden", "Forbidden", token="token of x"),  # noqa: S106
    Case("bad body of a stranger", 403, "Forbidden", "Forbidden", b"{", token=""),
    Case("another path", 404, "NotFound", "Not found", url="/apis"),
    Case("another method", 404, "NotFound", "Not found", method="GET"),
    Case("no job", 404, "NotFound", "Train job not found", error=ObjectNotFound("x")),
    Case(
        *("a link of no job", 404, "NotFound", "Train job not found"),
        *({"links": WANDB}, URL, "token of job", ObjectNotFound("x")),
    ),
    Case(
        *("links are a list", 422, "Invalid", "Invalid payload: links: must be of type object"),
        {"links": [1]},
    ),
    Case(
        *("no web address", 422, "Invalid"),
        "Invalid payload: links: the link x must begin with https:// or http://",
        {"links": {"x": "javascript:alert(1)"}},
    ),
    Case("too long", 413, "RequestEntityTooLarge", "Payload too large", b" " * (BODY_LIMIT + 1)),
    Case("not JSON", 422, "Invalid", "Invalid payload", b"{"),
    Case("no object", 422, "Invalid", "Invalid payload: must be of type object", b"[]"),
    Case(
        *("too much", 422, "Invalid"),
        "Invalid payload: trainerStatus.progressPercentage: Invalid value: 101: must be less than"
        " or equal to 100",
        {"trainerStatus": {"progressPercentage": 101, "lastUpdatedTime": TIME}},
    ),
    Case(
        *("no time", 422, "Invalid"),
        "Invalid payload: trainerStatus: Invalid value: lastUpdatedTime is required when"
        " trainerStatus is present",
        {"trainerStatus": {"progressPercentage": 1}},
    ),
    Case(
        *("no such time", 422, "Invalid"),
        'Invalid payload: trainerStatus.lastUpdatedTime: Invalid value: "2026-13-01T00:00:00Z":'
        " this time does not exist",
        {"trainerStatus": {"lastUpdatedTime": "2026-13-01T00:00:00Z"}},
    ),
    Case("refused", 422, "Invalid", "too old", error=InvalidObject("too old", status=422)),
    Case("bad request", 422, "Invalid", "what?", error=ApiError("what?", status=400)),
    Case("broken", 500, "InternalError", "Internal error", error=ServerUnavailable("x")),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_refusals_are_statuses_of_kubernetes(case: Case) -> None:
    cluster = FakeCluster(case.error)
    answer = post(cluster, case.body, case.url, case.token, case.method)
    assert answer == (
        case.code,
        {
            "metadata": {},
            "status": "Failure",
            "message": case.message,
            "reason": case.reason,
            "code": case.code,
        },
    )
    assert cluster.applied == []
