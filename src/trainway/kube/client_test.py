import ssl
from dataclasses import dataclass

import aiohttp
import pytest
from aiohttp.client_reqrep import ConnectionKey
from multidict import CIMultiDict

from trainway.kube.client import _is_passing, _may_repeat
from trainway.kube.http_pool import NotSentError
from trainway.kube.kubeconfig import KubeconfigError
from trainway.kube.requests import Request
from trainway.kube.transport import _header_text, unreachable

_READ = Request("GET", "/")
_CREATE = Request("POST", "/", b"{}", is_repeatable=False)
_KEY = ConnectionKey("k", 443, True, True, None, None, None)


@dataclass(frozen=True)
class Answer:
    name: str
    request: Request
    status: int
    retry_after: float | None
    is_passing: bool


@pytest.mark.parametrize(
    "case",
    [
        Answer("busy", _CREATE, 429, 1.0, True),
        Answer("starting", _CREATE, 503, 1.0, True),
        Answer("who knows", _CREATE, 503, None, False),
        Answer("may be done", _CREATE, 504, 1.0, False),
        Answer("harmless", _READ, 504, None, True),
        Answer("a gateway", _READ, 502, None, True),
        Answer("a webhook failed", _READ, 500, None, False),
        Answer("refused", _READ, 403, 1.0, False),
    ],
    ids=lambda case: case.name,
)
def test_answers_that_pass(case: Answer) -> None:
    assert _is_passing(case.request, case.status, case.retry_after) is case.is_passing


@dataclass(frozen=True)
class Break:
    name: str
    request: Request
    cause: Exception
    may_repeat: bool


def _not_sent(cause: Exception) -> Exception:
    error = NotSentError(1, "x")
    error.__cause__ = cause
    return error


_REFUSED = aiohttp.ClientConnectorError(_KEY, OSError(111, "Connect call failed"))


@pytest.mark.parametrize(
    "case",
    [
        Break("never sent", _CREATE, _REFUSED, True),
        Break("sent", _CREATE, aiohttp.ServerDisconnectedError(), False),
        Break("sent, harmless", _READ, aiohttp.ServerDisconnectedError(), True),
        Break("reset, harmless", _READ, ConnectionResetError(), True),
        Break("no connection", _CREATE, _not_sent(ConnectionRefusedError(111, "x")), True),
        Break("a connection takes long", _READ, _not_sent(TimeoutError()), False),
        Break("untrusted as well", _READ, _not_sent(ssl.SSLError(1, "x")), False),
        Break("too slow", _READ, TimeoutError(), False),
        Break("untrusted", _READ, aiohttp.ClientConnectorSSLError(_KEY, OSError(1, "x")), False),
    ],
    ids=lambda case: case.name,
)
def test_requests_that_may_be_sent_again(case: Break) -> None:
    assert _may_repeat(case.request, case.cause) is case.may_repeat


def test_what_a_user_reads() -> None:
    refused = unreachable("https://k", _REFUSED)
    assert refused.message == "no answer from https://k: Connect call failed"
    assert unreachable("https://k", TimeoutError()).message == "https://k did not answer in time"
    assert refused.status == 0


def test_headers_cannot_be_smuggled_in() -> None:
    assert _header_text(CIMultiDict([("A", "b"), ("A", "c")])) == b"A: b\r\nA: c\r\n"
    with pytest.raises(KubeconfigError, match="contain a line break"):
        _header_text(CIMultiDict({"Authorization": "Bearer x\r\nB: c"}))
    with pytest.raises(KubeconfigError, match="contain a line break"):
        _header_text(CIMultiDict({"Authorization": "Bearer x\n"}))
