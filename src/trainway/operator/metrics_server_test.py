import asyncio

from aiohttp.test_utils import TestClient, TestServer

from trainway.operator.metrics import Metrics
from trainway.operator.metrics_server import Allow, access_review, metrics_app, token_review


def page(allow: Allow | None, **headers: str) -> tuple[int, str]:
    async def ask() -> tuple[int, str]:
        app = metrics_app(Metrics(), allow)
        async with (
            TestClient(TestServer(app)) as client,
            client.get("/metrics", headers=headers) as response,
        ):
            return response.status, await response.text()

    return asyncio.run(ask())


async def only_prometheus(token: str) -> int:
    return {"": 401, "prometheus": 200}.get(token, 403)


def test_everyone_reads_what_is_not_guarded() -> None:
    status, text = page(None)
    assert status == 200
    assert "mpi_operator_is_leader 0.0\n" in text


def test_only_who_is_allowed_reads_what_is_guarded() -> None:
    assert page(only_prometheus, Authorization="Bearer prometheus")[0] == 200
    assert page(only_prometheus, Authorization="bearer prometheus")[0] == 200
    assert page(only_prometheus, Authorization="Bearer other") == (403, "Forbidden")
    assert page(only_prometheus, Authorization="Basic prometheus") == (401, "Unauthorized")
    assert page(only_prometheus) == (401, "Unauthorized")


def test_what_the_cluster_is_asked() -> None:
    assert token_review("t")["spec"] == {"token": "t"}
    user = {"username": "u", "groups": ["g"], "uid": "1", "extra": {"scope": ["a"]}}
    assert access_review(user)["spec"] == {
        "user": "u",
        "uid": "1",
        "groups": ["g"],
        "extra": {"scope": ["a"]},
        "nonResourceAttributes": {"path": "/metrics", "verb": "get"},
    }
    assert "groups" not in access_review({"username": "u"})["spec"]
