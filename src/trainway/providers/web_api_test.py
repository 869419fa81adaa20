"""Asking a cloud over HTTP: what its answers mean, and that keys stay with it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from trainway.providers import backoff
from trainway.providers.errors import ProviderError, Scope, Trouble
from trainway.providers.web_api import Complaint, WebApi
from trainway.providers.web_api_testing import Call, StandIn, served


class Echo(StandIn):
    def answer(self, call: Call) -> tuple[int, Any]:
        return 200, {"path": call.path, "body": call.body}


@pytest.fixture
def cloud(monkeypatch: pytest.MonkeyPatch) -> Echo:
    monkeypatch.setattr(backoff, "FIRST_S", 0.0)
    return Echo()


@pytest.fixture
def api(cloud: Echo) -> Iterator[WebApi]:
    with served(cloud) as address:
        yield WebApi(
            "Echo", address, lambda: {"Authorization": "Bearer k"}, lambda *_: Complaint("")
        )


def test_requests_say_who_asks(cloud: Echo, api: WebApi) -> None:
    assert api.send("POST", "/things", {"a": 1}) == {"path": "/things", "body": {"a": 1}}
    assert cloud.calls == [Call("POST", "/things", {"a": 1}, "Bearer k")]


@dataclass(frozen=True)
class Case:
    status: int
    trouble: Trouble
    scope: Scope
    calls: int = 1


CASES = [
    Case(400, Trouble.INVALID, Scope.REGION),
    Case(401, Trouble.CREDENTIALS, Scope.CLOUD),
    Case(403, Trouble.DENIED, Scope.CLOUD),
    Case(302, Trouble.OTHER, Scope.REGION),
    Case(429, Trouble.THROTTLED, Scope.NONE, 6),
    Case(503, Trouble.UNREACHABLE, Scope.NONE, 3),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case.status))
def test_a_status_says_what_not_to_try_again(cloud: Echo, api: WebApi, case: Case) -> None:
    for _ in range(10):
        cloud.refuse("GET /", case.status, b"<html>")
    with pytest.raises(ProviderError, match=f"Echo: it answers {case.status}") as caught:
        api.get("/things")

    assert (caught.value.trouble, caught.value.scope) == (case.trouble, case.scope)
    assert len(cloud.calls) == case.calls


def test_what_is_done_once_is_repeated_only_if_it_was_refused(cloud: Echo, api: WebApi) -> None:
    cloud.refuse("POST /", 429)
    cloud.refuse("POST /", 503)
    with pytest.raises(ProviderError):
        api.send_once("POST", "/things")
    assert len(cloud.calls) == 2


def test_a_page_instead_of_json_is_no_answer(cloud: Echo, api: WebApi) -> None:
    for _ in range(3):
        cloud.refuse("GET /", 200, b"<html>")
    with pytest.raises(ProviderError, match="does not answer with JSON"):
        api.get("/things")


def test_nobody_at_home_is_told_with_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backoff, "FIRST_S", 0.0)
    api = WebApi("Echo", "http://127.0.0.1:1", dict, lambda *_: Complaint(""))
    with pytest.raises(ProviderError, match=r"http://127\.0\.0\.1:1 cannot be reached") as caught:
        api.get("/things")
    assert caught.value.trouble is Trouble.UNREACHABLE
