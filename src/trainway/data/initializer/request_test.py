from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from trainway.data.initializer.request import request_of
from trainway.errors import UsageError


@dataclass(frozen=True)
class Case:
    step: str
    uri: str
    location: str
    include: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    told: Mapping[str, str] = field(default_factory=dict)


MODEL_FILES = ("*.json", "*.safetensors", "*.model", "*.txt", "*.gguf")
OTHER_WEIGHTS = ("*.msgpack", "*.h5", "*.bin", "*.pt", "*.pth")
S3 = {
    "ENDPOINT": "minio:9000",
    "ACCESS_KEY_ID": "id",
    "SECRET_ACCESS_KEY": "key",
    "REGION": "auto",
}


@pytest.mark.parametrize(
    "case",
    [
        Case("dataset", "hf://tatsu-lab/alpaca", "hf://datasets/tatsu-lab/alpaca"),
        Case("dataset", "hf://tatsu-lab/alpaca/data", "hf://datasets/tatsu-lab/alpaca"),
        Case("dataset", "hf://datasets/a/b@v1", "hf://datasets/a/b@v1"),
        Case("model", "hf://a/b", "hf://a/b", MODEL_FILES, OTHER_WEIGHTS),
        Case("model", "hf://a/b", "hf://a/b", MODEL_FILES, ("x",), {"IGNORE_PATTERNS": "x"}),
        Case("model", " s3://b/m ", "s3://b/m"),
        Case("dataset", "s3://b/d", "s3://b/d", (), ("a", "b"), {"IGNORE_PATTERNS": " a,,b "}),
        Case("dataset", "hf://a/b/c", "hf://datasets/a/b", ("c", "c/*"), (),
             {"INCLUDE_PATTERNS": "c,c/*"}),
        Case("model", "hf://a/b/c", "hf://a/b", ("c/*",), OTHER_WEIGHTS,
             {"INCLUDE_PATTERNS": "c/*"}),
        Case("dataset", "file:///data/x", "file:///data/x"),
        Case("dataset", "https://h/x.tar", "https://h/x.tar"),
        Case(
            "dataset",
            "s3://b/d",
            "s3://b/d",
            variables=S3,
            told={
                "AWS_ENDPOINT_URL": "https://minio:9000",
                "AWS_ACCESS_KEY_ID": "id",
                "AWS_SECRET_ACCESS_KEY": "key",
            },
        ),
        Case(
            "dataset",
            "s3://b/d",
            "s3://b/d",
            variables={"ROLE_ARN": "arn:r", "AWS_WEB_IDENTITY_TOKEN_FILE": "/t", "REGION": "eu"},
            told={"AWS_ROLE_ARN": "arn:r", "AWS_REGION": "eu"},
        ),
        Case("dataset", "gs://b/d", "gs://b/d", variables=S3),
    ],
)  # fmt: skip
def test_d12_what_the_variables_mean(case: Case) -> None:
    found = request_of(case.step, {"STORAGE_URI": case.uri, **case.variables})

    assert str(found.location) == case.location
    assert (found.patterns.include, found.patterns.ignore) == (case.include, case.ignore)
    assert found.environment == case.told


OTHERS = {
    "AWS_ACCESS_KEY_ID": "other",
    "AWS_SECRET_ACCESS_KEY": "other",
    "AWS_SESSION_TOKEN": "token",
    "AWS_PROFILE": "lab",
    "AWS_ENDPOINT_URL_S3": "https://other",
}


@pytest.mark.parametrize(
    ("variables", "unset"),
    [
        (S3 | OTHERS, {"AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_TOKEN", "AWS_ENDPOINT_URL_S3"}),
        (S3 | {"AWS_SESSION_TOKEN": "ours"}, {"AWS_PROFILE", "AWS_ENDPOINT_URL_S3"}),
        (OTHERS, set()),
        (OTHERS | {"ENDPOINT": "https://ours"}, {"AWS_ENDPOINT_URL_S3"}),
    ],
    ids=str,
)
def test_keys_that_are_given_are_not_mixed_with_others(
    variables: Mapping[str, str], unset: set[str]
) -> None:
    assert set(request_of("dataset", {"STORAGE_URI": "s3://b/d", **variables}).unset) == unset


@dataclass(frozen=True)
class Wrong:
    variables: Mapping[str, str]
    said: str


@pytest.mark.parametrize(
    "case",
    [
        Wrong({}, "STORAGE_URI is not set"),
        Wrong({"STORAGE_URI": "alpaca"}, "'alpaca', which is not a URI"),
        Wrong({"STORAGE_URI": "ftp://a/b"}, "ftp:// is not a scheme"),
        Wrong({"STORAGE_URI": "hf://alpaca"}, "does not name a repository"),
        Wrong({"STORAGE_URI": "s3://b/../c"}, 'a name is empty, "." or ".."'),
        Wrong({"STORAGE_URI": "cache://schema/table"}, "is a cache"),
        Wrong({"STORAGE_URI": "s3://b/d", "ROLE_ARN": "arn:r"}, "ROLE_ARN is set"),
    ],
)
def test_what_cannot_be_fetched_is_refused(case: Wrong) -> None:
    with pytest.raises(UsageError, match=case.said):
        request_of("dataset", case.variables)
