import base64
import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import ClassVar
from urllib.parse import parse_qs

import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from trainway.data.google_token import (
    Credentials,
    GoogleTokens,
    credentials_of,
    rsa_signature,
    token_request,
)

USER = {"type": "authorized_user", "client_id": "c", "client_secret": "s", "refresh_token": "r"}
SERVICE = {"type": "service_account", "client_email": "me@project", "private_key": "secret-key"}
DEFAULT = "/home/me/.config/gcloud/application_default_credentials.json"


@dataclass(frozen=True)
class Case:
    name: str
    variables: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, object] = field(default_factory=dict)
    kind: str | None = None
    """Which credentials are found; None: those that only obstore knows."""


CASES = (
    Case("the machine", kind=""),
    Case("the user", files={DEFAULT: USER}, kind="authorized_user"),
    Case("a variable first", {"GOOGLE_APPLICATION_CREDENTIALS": "/k"},
         {"/k": SERVICE, DEFAULT: USER}, "service_account"),
    Case("a key in a variable", {"GOOGLE_SERVICE_ACCOUNT_KEY": json.dumps(SERVICE)},
         kind="service_account"),
    Case("another folder of gcloud", {"CLOUDSDK_CONFIG": "/g"},
         {"/g/application_default_credentials.json": USER}, "authorized_user"),
    Case("a file that is not there", {"GOOGLE_APPLICATION_CREDENTIALS": "/k"}),
    Case("no JSON", {"GOOGLE_APPLICATION_CREDENTIALS": "/k"}, {"/k": "torn"}),
    Case("a list", files={DEFAULT: [1]}),
    Case("a federated identity", files={DEFAULT: {"type": "external_account"}}),
    Case("half a key", files={DEFAULT: {"type": "service_account", "client_email": "me"}}),
)  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_credentials_are_found_where_google_keeps_them(case: Case) -> None:
    def read(path: str) -> str | None:
        return json.dumps(case.files[path]) if path in case.files else None

    found = credentials_of(case.variables, "/home/me", read)
    assert (None if found is None else found.kind) == case.kind
    assert "secret-key" not in repr(found)


def test_what_brings_a_token_of_a_user_or_of_the_machine() -> None:
    asked = token_request(Credentials("authorized_user", USER), 0, lambda *_: b"")
    assert (asked.url, parse_qs((asked.body or b"").decode())["refresh_token"]) == (
        "https://oauth2.googleapis.com/token",
        ["r"],
    )
    asked = token_request(Credentials(machine="host:1"), 0, lambda *_: b"")
    assert asked.url.startswith("http://host:1/computeMetadata/v1/")
    assert (asked.headers, asked.body) == ({"metadata-flavor": "Google"}, None)


def test_a_service_account_signs_what_it_asks_for() -> None:
    key = rsa.generate_private_key(65537, 1024)  # noqa: S505 - quickly made, and nobody's
    text = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    ).decode()
    told = {**SERVICE, "private_key": text, "private_key_id": "k1"}
    asked = token_request(Credentials("service_account", told), 1000.5, rsa_signature)
    head, claims, signed = parse_qs((asked.body or b"").decode())["assertion"][0].split(".")
    key.public_key().verify(
        decoded(signed), f"{head}.{claims}".encode(), padding.PKCS1v15(), hashes.SHA256()
    )
    assert json.loads(decoded(head)) == {"alg": "RS256", "typ": "JWT", "kid": "k1"}
    found = json.loads(decoded(claims))
    assert (found["iss"], found["aud"], found["iat"], found["exp"]) == (
        "me@project", "https://oauth2.googleapis.com/token", 1000, 4600,
    )  # fmt: skip


def decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


class Machine(BaseHTTPRequestHandler):
    """Gives tokens: the first one is about to end, and the second one is no token."""

    answers: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        body = self.answers.pop(0).encode()
        self.send_response(200 if body else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its signature
        pass


def test_a_token_is_used_until_it_is_about_to_end() -> None:
    Machine.answers = [
        '{"access_token": "a", "expires_in": 200}',
        '{"access_token": "b", "expires_in": 3600}',
    ]
    with HTTPServer(("127.0.0.1", 0), Machine) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        tokens = GoogleTokens(Credentials(machine=f"127.0.0.1:{server.server_address[1]}"))
        assert [tokens.token() for _ in range(3)] == ["a", "b", "b"]
        Machine.answers = ["what is this", "[]", "{}", ""]
        for _ in range(4):
            other = GoogleTokens(Credentials(machine=f"127.0.0.1:{server.server_address[1]}"))
            with pytest.raises(OSError, match=r"no token|404"):
                other.token()
        server.shutdown()
        thread.join()
