import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any, ClassVar

import pytest

from trainway.data import store_requests
from trainway.data.multipart import Part, S3Parts, signing
from trainway.data.object_store import failure
from trainway.data.signature import Keys
from trainway.data.store_requests import RefusedError
from trainway.data.uri import parse
from trainway.errors import ForbiddenError, TrainwayError, UnavailableError

PAGE = (
    '<ListPartsResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
    "<Part><PartNumber>{0}</PartNumber><Size>{0}</Size><ETag>e{0}</ETag></Part>"
    "<IsTruncated>{1}</IsTruncated><NextPartNumberMarker>{0}</NextPartNumberMarker>"
    "</ListPartsResult>"
)
Answer = str | RefusedError | OSError


class Canned(S3Parts):
    """Is answered with what a test says, in this order."""

    def __init__(self, *answers: Answer) -> None:
        def told(error: Exception) -> TrainwayError:
            return failure(parse("s3://bucket/key"), error)

        super().__init__("http://store/bucket/key?signed", signing(Keys("access", "secret")), told)
        self.answers = list(answers)
        self.asked: list[tuple[str, dict[str, str], bytes]] = []

    def _once(self, method: str, query: Mapping[str, str], body: bytes) -> tuple[str, bytes]:
        self.asked.append((method, dict(query), body))
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return '"etag"', answer.encode()


@pytest.fixture(autouse=True)
def _hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_requests, "_PAUSES_S", (0.0, 0.0, 0.0))


def refused(status: int, code: str = "") -> Any:
    return RefusedError(status, f"<Error><Code>{code}</Code></Error>".encode())


def test_all_pages_of_parts_are_read() -> None:
    parts = Canned(PAGE.format(1, "true"), PAGE.format(2, "false"))
    assert parts.there("u") == {1: Part(1, "e1"), 2: Part(2, "e2")}
    assert [query["part-number-marker"] for _, query, _ in parts.asked] == ["0", "1"]


def test_an_upload_is_begun_and_completed() -> None:
    parts = Canned("<R><UploadId>u</UploadId></R>", "<R><ETag>e</ETag></R>")
    assert parts.begin() == "u"
    parts.complete("u", {2: "b", 1: "a"})
    assert parts.asked[1][2] == (
        b"<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>a</ETag></Part>"
        b"<Part><PartNumber>2</PartNumber><ETag>b</ETag></Part></CompleteMultipartUpload>"
    )


def test_who_may_neither_list_nor_remove_parts_begins_anew() -> None:
    parts = Canned(refused(403), refused(404, "NoSuchUpload"), refused(403))
    assert parts.there("u") is None
    assert parts.there("u") is None
    parts.abort("u")


def test_what_fails_is_tried_again_and_then_told() -> None:
    assert Canned(refused(503), ConnectionResetError(), "").put("u", 1, b"1") == '"etag"'
    with pytest.raises(UnavailableError, match="s3://bucket answered SlowDown"):
        Canned(*[refused(503, "SlowDown")] * 4).put("u", 1, b"1")
    with pytest.raises(UnavailableError, match="s3://bucket cannot be reached"):
        Canned(*[TimeoutError()] * 4).put("u", 1, b"1")
    with pytest.raises(ForbiddenError):
        Canned(refused(403, "AccessDenied")).put("u", 1, b"1")


def test_an_error_in_an_answer_that_began_well_is_an_error() -> None:
    with pytest.raises(UnavailableError, match="InternalError"):
        Canned("<Error><Code>InternalError</Code></Error>").complete("u", {1: "a"})
    with pytest.raises(UnavailableError):
        Canned("what is this").begin()


class Elsewhere(BaseHTTPRequestHandler):
    """Sends everybody to where it is itself, and counts who comes."""

    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.asked.append(self.path)
        self.send_response(307)
        self.send_header("Location", "/other")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its signature
        pass


def test_what_is_signed_goes_to_no_other_place() -> None:
    def told(error: Exception) -> TrainwayError:
        return failure(parse("s3://bucket/key"), error)

    with HTTPServer(("127.0.0.1", 0), Elsewhere) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        url = f"http://127.0.0.1:{server.server_address[1]}/bucket/key"
        with pytest.raises(UnavailableError, match="answered 307"):
            S3Parts(url, signing(Keys("access", "secret")), told).there("u")
        server.shutdown()
        thread.join()
    (asked,) = Elsewhere.asked
    assert asked.startswith("/bucket/key?")
