import importlib.util
from dataclasses import dataclass

import pytest

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
