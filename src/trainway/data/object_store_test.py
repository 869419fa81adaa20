import base64
import importlib.util
import os
import pickle
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar
from urllib.parse import parse_qs, urlsplit

import pytest
from obstore.exceptions import UnknownConfigurationKeyError

from trainway.data import object_store
from trainway.data.object_store import ObjectStore, failure
from trainway.data.uri import parse
from trainway.errors import (
    ForbiddenError,
    NotFoundError,
    TrainwayError,
    UnavailableError,
    UsageError,
)

HERE = parse("s3://bucket/key")


@dataclass(frozen=True)
class Case:
    said: str
    kind: type[TrainwayError]
    message: str


@pytest.mark.parametrize(
    "case",
    [
        Case(
            "status code: 403 Forbidden: <Code>SignatureDoesNotMatch</Code><AWSAccessKeyId>hush",
            ForbiddenError,
            "access to s3://bucket/key was denied (SignatureDoesNotMatch)",
        ),
        Case("status code: 401 hush", ForbiddenError, "access to s3://bucket/key was denied (401)"),
        Case(
            "status code: 404: <Code>NoSuchBucket</Code>",
            NotFoundError,
            "there is no bucket s3://bucket",
        ),
        Case("status code: 404 ", NotFoundError, "there is nothing at s3://bucket/key"),
        Case("status code: 301 ", UsageError, "s3://bucket is in another region"),
        Case("status code: 503 hush", UnavailableError, "s3://bucket answered 503"),
        Case(
            "status code: 507: <Code>InsufficientStorage</Code>",
            UnavailableError,
            "s3://bucket has no room left (InsufficientStorage)",
        ),
        Case("error sending request hush", UnavailableError, "s3://bucket cannot be reached"),
    ],
    ids=lambda case: case.said,
)
def test_a_failure_is_told_without_what_was_sent(case: Case) -> None:
    found = failure(HERE, OSError(case.said))

    assert type(found) is case.kind
    assert found.message == case.message
    assert "hush" not in found.sentence


def test_without_the_extra_one_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(object_store, "find_spec", lambda _name: None)

    with pytest.raises(UnavailableError) as raised:
        ObjectStore(HERE)

    assert raised.value.hint == "pip install 'trainway[data]'"


def test_the_extra_has_what_is_looked_for() -> None:
    assert importlib.util.find_spec("obstore") is not None


@pytest.mark.parametrize(
    ("variables", "part_size"),
    [
        ({"AWS_ENDPOINT_URL": "https://store:9000"}, 8 << 20),
        ({"AWS_ENDPOINT_URL": "http://store:9000"}, 64 << 20),
        ({"AWS_ENDPOINT_URL": "http://store:9000", "AWS_SKIP_SIGNATURE": "true"}, 8 << 20),
    ],
    ids=str,
)
def test_a_store_without_encryption_is_read_in_larger_parts(
    variables: dict[str, str], part_size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_REGION": "c"}
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in (keys | variables).items():
        monkeypatch.setenv(name, value)

    assert ObjectStore(parse("s3://bucket/key")).part_size == part_size


@pytest.mark.parametrize(
    ("told", "etag"), [(None, ""), ("0x8D", '"0x8D"'), ('"1-2"', '"1-2"'), ('W/"1"', 'W/"1"')]
)
def test_an_etag_is_the_same_in_lists_and_in_requests(told: str | None, etag: str) -> None:
    assert object_store._etag({"e_tag": told}) == etag


FOREIGN = {
    "AWS_ACCESS_KEY_ID": "FOREIGN",
    "AWS_SECRET_ACCESS_KEY": "foreign",
    "AWS_SESSION_TOKEN": "foreign",
    "AWS_REGION": "eu-1",
}
R2 = {
    "R2_ENDPOINT_URL": "https://acc.example.org",
    "R2_ACCESS_KEY_ID": "OURS",
    "R2_SECRET_ACCESS_KEY": "s",
}
PROFILES = """
[lab]
aws_access_key_id = LAB
aws_secret_access_key = s
[passing]
aws_access_key_id = PASSING
aws_secret_access_key = s
aws_session_token = own
[half]
aws_access_key_id = HALF
"""


@pytest.fixture
def only(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No variables but those of a test."""
    for name in os.environ:
        if name.upper().startswith(("AWS_", "R2_")) or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    (tmp_path / ".aws").mkdir()
    (tmp_path / ".aws" / "credentials").write_text(PROFILES)
    monkeypatch.setenv("HOME", str(tmp_path))


@dataclass(frozen=True)
class Signed:
    uri: str
    variables: Mapping[str, str]
    key: str
    token: str | None = None
    place: str = "https://acc.example.org/bucket"


@pytest.mark.parametrize(
    "case",
    [
        Signed("r2://bucket/key", R2, "OURS"),
        Signed("r2://bucket/key", R2 | {"AWS_TOKEN": "another"}, "OURS"),
        Signed("r2://bucket/key", R2 | {"AWS_ENDPOINT_URL": "https://aws"}, "OURS"),
        Signed("r2://bucket/key", R2 | {"AWS_ENDPOINT": "https://aws"}, "OURS"),
        Signed("r2://bucket/key", R2 | {"AWS_ENDPOINT_URL_S3": "https://aws"}, "OURS"),
        Signed("r2://bucket/key", R2 | {"AWS_VIRTUAL_HOSTED_STYLE_REQUEST": "true"}, "OURS"),
        Signed("r2://bucket/key", R2 | {"AWS_S3_EXPRESS": "true"}, "OURS"),
        Signed("r2://bucket/key", R2 | {"AWS_PROFILE": "passing"}, "OURS"),
        Signed(
            "s3://bucket/key",
            {"AWS_PROFILE": "lab"},
            "LAB",
            place="https://s3.eu-1.amazonaws.com/bucket",
        ),
        Signed(
            "s3://bucket/key",
            {"AWS_PROFILE": "passing"},
            "PASSING",
            "own",
            "https://s3.eu-1.amazonaws.com/bucket",
        ),
        Signed("s3://bucket/key", {}, "FOREIGN", "foreign", "https://s3.eu-1.amazonaws.com/bucket"),
    ],
    ids=str,
)
@pytest.mark.usefixtures("only")
def test_keys_are_not_mixed_with_those_of_another_place(
    case: Signed, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {**FOREIGN, **case.variables}.items():
        monkeypatch.setenv(name, value)

    url = urlsplit(ObjectStore(parse(case.uri)).signed("PUT", timedelta(minutes=1)))

    query = parse_qs(url.query)
    assert f"{url.scheme}://{url.netloc}{url.path}".rstrip("/") == case.place
    assert query["X-Amz-Credential"][0].split("/")[0] == case.key
    assert query.get("X-Amz-Security-Token") == (case.token and [case.token])


@pytest.mark.usefixtures("only")
def test_half_of_a_pair_of_keys_is_not_completed_from_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in {**FOREIGN, "AWS_PROFILE": "half"}.items():
        monkeypatch.setenv(name, value)

    with pytest.raises(UsageError, match="aws_secret_access_key"):
        ObjectStore(HERE)


@pytest.mark.usefixtures("only")
def test_an_older_obstore_is_not_told_what_it_does_not_know(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told: list[set[str]] = []

    class Older:
        def __init__(self, _bucket: str, *, config: Mapping[str, str], **_more: object) -> None:
            told.append(set(config))
            if "aws_endpoint_url_s3" in config:
                raise UnknownConfigurationKeyError("aws_endpoint_url_s3")

    monkeypatch.setattr("obstore.store.S3Store", Older)
    for name, value in {**R2, "AWS_ENDPOINT_URL_S3": "https://aws"}.items():
        monkeypatch.setenv(name, value)

    ObjectStore(parse("r2://bucket/key"))

    assert told[-1] == {"aws_endpoint", "aws_region"}


class Bucket(BaseHTTPRequestHandler):
    """Notes how it is asked."""

    protocol_version = "HTTP/1.1"
    asked: ClassVar[list[dict[str, str]]] = []

    def do_PUT(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.asked.append({name.lower(): value for name, value in self.headers.items()})
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.send_header("ETag", '"1"')
        self.end_headers()

    def do_GET(self) -> None:
        found = b"<Contents><Key>a/Icon&#13;</Key><LastModified>2026-01-01T00:00:00.000Z"
        found += b'</LastModified><ETag>"x"</ETag><Size>1</Size></Contents>'
        listed = b"<ListBucketResult><IsTruncated>false</IsTruncated>%s</ListBucketResult>" % found
        self.send_response(200)
        self.send_header("Content-Length", str(len(listed)))
        self.end_headers()
        self.wfile.write(listed)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its signature
        pass


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a store that notes how it is asked."""
    monkeypatch.setattr(Bucket, "asked", [])
    server = ThreadingHTTPServer(("127.0.0.1", 0), Bucket)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.usefixtures("only")
def test_what_is_sent_to_r2_is_signed_with_its_keys_from_any_thread_and_process(
    bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    aws = {"AWS_SKIP_SIGNATURE": "true", "AWS_REQUEST_PAYER": "requester"}
    for name, value in {**FOREIGN, **R2, **aws, "R2_ENDPOINT_URL": bucket}.items():
        monkeypatch.setenv(name, value)
    store = ObjectStore(parse("r2://bucket/key"))
    with ThreadPoolExecutor(4) as pool:
        for written in [pool.submit(store.write, f"k{n}", 1, [b"x"]) for n in range(8)]:
            written.result(60)
    other = pickle.loads(pickle.dumps(store._store))  # noqa: S301 - our own
    store._store = other
    store.write("last", 1, [b"x"])

    assert len(Bucket.asked) == 9
    for headers in Bucket.asked:
        assert "Credential=OURS/" in headers["authorization"]
        assert not {"x-amz-security-token", "x-amz-request-payer"} & headers.keys()


@pytest.mark.usefixtures("only")
def test_an_object_that_can_be_no_file_is_named(
    bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {**FOREIGN, "AWS_ENDPOINT_URL": bucket}.items():
        monkeypatch.setenv(name, value)

    with pytest.raises(UsageError, match="s3://bucket/a has an object whose name is none"):
        list(ObjectStore(HERE).list("a"))
    with pytest.raises(UsageError, match=r'"a/Icon\\r"'):
        list(ObjectStore(HERE).list("a"))


@pytest.mark.usefixtures("only")
def test_r2_is_not_asked_for_the_encryption_and_the_checksums_of_aws(
    bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = base64.b64encode(b"k" * 32).decode()
    aws = {"AWS_ENDPOINT_URL": bucket, "AWS_CHECKSUM_ALGORITHM": "SHA256"}
    encrypted = {"AWS_SERVER_SIDE_ENCRYPTION": "sse-c", "AWS_SSE_CUSTOMER_KEY_BASE64": key}
    known = {**FOREIGN, **R2, **aws, **encrypted, "R2_ENDPOINT_URL": bucket}
    for name, value in known.items():
        monkeypatch.setenv(name, value)

    store = ObjectStore(parse("r2://bucket/key"))
    store.write("key", 1, [b"x"])
    ObjectStore(parse("s3://bucket/key")).write("key", 1, [b"x"])

    ours, theirs = Bucket.asked
    assert not [name for name in ours if "server-side" in name or "checksum" in name]
    assert key in theirs.values()
    assert store._keys is not None, "a large file can go on after a kill"
    assert {name: os.environ.get(name) for name in known} == known


@pytest.mark.usefixtures("only")
def test_nobody_is_shown_the_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {**R2, "R2_SECRET_ACCESS_KEY": "hush"}.items():
        monkeypatch.setenv(name, value)

    store = ObjectStore(parse("r2://bucket/key"))

    assert (
        "hush" not in f"{store._store!r} {store._store.config} {store._store.credential_provider}"
    )
