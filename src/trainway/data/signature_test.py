"""The examples of Amazon's description of the signature."""

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from trainway.data.signature import Keys, Request, headers

KEYS = Keys("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
NOW = datetime(2013, 5, 24, tzinfo=UTC)
HOST = "examplebucket.s3.amazonaws.com"
EMPTY = hashlib.sha256(b"").hexdigest()


@dataclass(frozen=True)
class Case:
    query: dict[str, str]
    signature: str


@pytest.mark.parametrize(
    "case",
    [
        Case({"lifecycle": ""}, "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"),
        Case(
            {"prefix": "J", "max-keys": "2"},
            "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
        ),
    ],
    ids=str,
)
def test_a_request_is_signed_as_amazon_says(case: Case) -> None:
    found = headers(KEYS, Request("GET", HOST, "/", case.query, EMPTY), NOW)

    assert found["authorization"].endswith(
        f"SignedHeaders=host;x-amz-content-sha256;x-amz-date,Signature={case.signature}"
    )


def test_a_token_is_signed_too_and_secrets_are_not_shown() -> None:
    keys = Keys("access", "hush", "hush-token")
    found = headers(keys, Request("PUT", HOST, "/a%20b", {}, EMPTY), NOW)

    assert found["x-amz-security-token"] == "hush-token"
    assert "x-amz-security-token" in found["authorization"]
    assert "hush" not in repr(keys)
