"""Signatures of requests to S3, version 4: for what obstore cannot ask, such as parts of uploads.

Pure: the time comes from outside, and the secret goes nowhere but into the signature.
"""

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final
from urllib.parse import quote

_ALGORITHM: Final = "AWS4-HMAC-SHA256"


@dataclass(frozen=True)
class Keys:
    """Who asks, and where."""

    access: str
    secret: str = field(repr=False)
    token: str = field(default="", repr=False)
    region: str = "us-east-1"


@dataclass(frozen=True)
class Request:
    """What is asked; the path is encoded already, and the query is not."""

    method: str
    host: str
    path: str
    query: Mapping[str, str]
    digest: str
    """The SHA-256 of the body."""

    @property
    def search(self) -> str:
        """The query as it is sent, and signed."""
        pairs = sorted((_encoded(key), _encoded(value)) for key, value in self.query.items())
        return "&".join(f"{key}={value}" for key, value in pairs)


def headers(keys: Keys, request: Request, now: datetime) -> dict[str, str]:
    """The headers that make a request a signed one; `now` is in UTC."""
    stamp = now.strftime("%Y%m%dT%H%M%SZ")
    found = {"host": request.host, "x-amz-content-sha256": request.digest, "x-amz-date": stamp}
    if keys.token:
        found["x-amz-security-token"] = keys.token
    names = ";".join(sorted(found))
    lines = (
        request.method, request.path, request.search,
        *(f"{name}:{found[name]}" for name in sorted(found)), "", names, request.digest,
    )  # fmt: skip
    scope = f"{stamp[:8]}/{keys.region}/s3/aws4_request"
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    key = f"AWS4{keys.secret}".encode()
    for word in scope.split("/"):
        key = hmac.digest(key, word.encode(), "sha256")
    signed = hmac.new(key, f"{_ALGORITHM}\n{stamp}\n{scope}\n{digest}".encode(), "sha256")
    credential = f"Credential={keys.access}/{scope},SignedHeaders={names}"
    del found["host"]  # whoever sends it says so anyway
    authorization = f"{_ALGORITHM} {credential},Signature={signed.hexdigest()}"
    return {**found, "authorization": authorization}


def _encoded(text: str) -> str:
    return quote(text, safe="-_.~")
