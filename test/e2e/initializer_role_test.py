"""ROLE_ARN: an initializer takes the role with the token of its service account.

The service that gives out keys, and the store that takes them, are pretended here: they answer as
AWS documents it, and note what they were asked with.
"""

import os
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar, Final
from urllib.parse import parse_qs, urlsplit

import pytest
from cluster.certificates import Authority

pytestmark = pytest.mark.engine

LOOPBACK: Final = "127.0.0.1"
ROLE: Final = "arn:aws:iam::123456789012:role/reader"
CREDENTIALS: Final = """\
<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials>
<SessionToken>session</SessionToken><SecretAccessKey>hush</SecretAccessKey>
<Expiration>2099-01-01T00:00:00Z</Expiration><AccessKeyId>taken</AccessKeyId>
</Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>"""
LISTING: Final = """\
<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>data/a.txt</Key>
<LastModified>2026-11-18T00:00:00.000Z</LastModified><ETag>"e"</ETag><Size>5</Size>
<StorageClass>STANDARD</StorageClass></Contents></ListBucketResult>"""


class Pretended(BaseHTTPRequestHandler):
    """Both of them."""

    asked: ClassVar[list[dict[str, list[str]]]]

    def do_POST(self) -> None:
        self.asked.append(parse_qs(urlsplit(self.path).query))
        self._answer(200, CREDENTIALS.encode())

    def do_GET(self) -> None:
        query = {name.lower(): value for name, value in parse_qs(urlsplit(self.path).query).items()}
        token = query.get("x-amz-security-token") or [str(self.headers.get("x-amz-security-token"))]
        if token != ["session"]:
            self._answer(403, b"<Error><Code>AccessDenied</Code></Error>")
        elif "list-type" in query:
            self._answer(200, LISTING.encode())
        elif urlsplit(self.path).path.endswith("/data/a.txt"):
            self._answer(206 if "range" in self.headers else 200, b"12345")
        else:
            self._answer(404, b"")

    do_HEAD = do_GET  # noqa: N815 - its name there

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("ETag", '"e"')
        if status == 206:
            self.send_header("Content-Range", f"bytes 0-{len(body) - 1}/{len(body)}")
        self.send_header("Last-Modified", "Wed, 18 Nov 2026 00:00:00 GMT")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (its name there)
        """Nobody reads it."""


@contextmanager
def served(handler: type[Pretended], context: ssl.SSLContext | None = None) -> Iterator[str]:
    with ThreadingHTTPServer((LOOPBACK, 0), handler) as server:
        if context is not None:
            server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"{'https' if context else 'http'}://{LOOPBACK}:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def test_a_role_is_taken_with_the_token_of_the_service_account(tmp_path: Path) -> None:
    authority = Authority(tmp_path / "authority")
    pair = authority.issue("sts", hosts=[LOOPBACK])
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(pair.certificate, pair.key)
    (tmp_path / "token").write_text("of the pod")

    class Handler(Pretended):
        asked: ClassVar[list[dict[str, list[str]]]] = []

    kept = {name: text for name, text in os.environ.items() if not name.startswith("AWS_")}
    with served(Handler) as store, served(Handler, context) as giver:
        variables = {
            "STORAGE_URI": "s3://bucket/data",
            "ENDPOINT": store,
            "REGION": "us-east-1",
            "ROLE_ARN": ROLE,
            "AWS_WEB_IDENTITY_TOKEN_FILE": str(tmp_path / "token"),
            "AWS_ENDPOINT_URL_STS": giver,
            "SSL_CERT_FILE": str(authority.certificate_file),
            "HOME": str(tmp_path),
        }
        words = ("-m", "trainway.data.initializer", "dataset", "--target", str(tmp_path / "data"))
        done = subprocess.run(
            [sys.executable, *words],
            env={**kept, **variables},
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, (done.stdout, Handler.asked)
    assert (tmp_path / "data" / "a.txt").read_bytes() == b"12345"
    assert Handler.asked[0]["RoleArn"] == [ROLE]
    assert Handler.asked[0]["WebIdentityToken"] == ["of the pod"]
    assert "hush" not in done.stdout
