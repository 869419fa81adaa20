import asyncio
import base64
import json
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from trainway.json_types import Json
from trainway.kube.credentials import (
    Credentials,
    Plain,
    Plugin,
    Provider,
    TokenFile,
    plugin_answer,
    source_of,
)
from trainway.kube.errors import Unauthorized
from trainway.kube.kubeconfig import KubeconfigError, Section

_NOW = datetime(2026, 11, 15, 8, 0, tzinfo=UTC)
_API = "client.authentication.k8s.io/v1"


def _user(fields: Json, folder: Path = Path()) -> Section:
    return Section("u", folder, fields)


def _fetched(fields: Json, folder: Path = Path()) -> Credentials:
    return asyncio.run(source_of(_user(fields, folder), {}, {}).fetch())


def test_plain_credentials(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("from a file\n")
    data = base64.b64encode(b"PEM").decode()
    assert _fetched({"token": "t"}) == Credentials("Bearer t")
    assert _fetched({"tokenFile": "token"}, tmp_path) == Credentials(
        "Bearer from a file", None, 60.0
    )
    assert _fetched({"username": "a", "password": "b"}) == Credentials("Basic YTpi")
    pair = {"client-certificate-data": data, "client-key-data": data}
    assert _fetched(pair) == Credentials("", (b"PEM", b"PEM"))
    assert _fetched({}) == Credentials()


def test_a_token_written_anew_is_read_anew(tmp_path: Path) -> None:
    path = tmp_path / "token"
    source = TokenFile(path)
    for token in ("one", "two"):
        path.write_text(token)
        assert asyncio.run(source.fetch()).authorization == f"Bearer {token}"
    path.write_text(" ")
    with pytest.raises(KubeconfigError, match="is empty"):
        asyncio.run(source.fetch())


def test_kinds_of_sources() -> None:
    plugin = {"exec": {"command": "x", "apiVersion": _API}}
    assert isinstance(source_of(_user(plugin), {}), Plugin)
    assert isinstance(source_of(_user({"auth-provider": {"name": "oidc"}}), {}), Provider)
    assert isinstance(source_of(_user({}), {}), Plain)
    with pytest.raises(KubeconfigError, match="exec has no command"):
        source_of(_user({"exec": {"apiVersion": _API}}), {})


@pytest.mark.filterwarnings("ignore::DeprecationWarning:kubernetes_asyncio")
def test_an_oidc_provider_gives_its_token() -> None:
    claims = base64.urlsafe_b64encode(b'{"exp": 4000000000}').decode().rstrip("=")
    config = {"id-token": f"a.{claims}.b"}
    fetched = _fetched({"auth-provider": {"name": "oidc", "config": config}})
    assert fetched.authorization == f"Bearer a.{claims}.b"


_ECHO = """
import json, os, sys
info = json.loads(os.environ["KUBERNETES_EXEC_INFO"])
token = "/".join([*sys.argv[1:], os.environ["EXTRA"], info["spec"]["cluster"]["server"]])
info["status"] = {"token": token}
print(json.dumps(info))
"""


def test_a_plugin_is_told_and_asked(tmp_path: Path) -> None:
    program = tmp_path / "bin" / "plugin"
    program.parent.mkdir()
    program.write_text(f"#!{sys.executable}\n{_ECHO}")
    program.chmod(0o755)
    plugin = {
        "apiVersion": _API,
        "command": "./bin/plugin",
        "args": ["a", "b"],
        "env": [{"name": "EXTRA", "value": "e"}],
        "provideClusterInfo": True,
    }
    source = source_of(_user({"exec": plugin}, tmp_path), {"server": "s"}, {})
    assert asyncio.run(source.fetch()) == Credentials("Bearer a/b/e/s")


def test_a_plugin_that_is_missing_or_fails() -> None:
    missing = {"apiVersion": _API, "command": "no-such-plugin", "installHint": "get it"}
    with pytest.raises(KubeconfigError, match="no-such-plugin: No such file") as caught:
        _fetched({"exec": missing})
    assert caught.value.hint == "get it"
    script = "import sys; sys.exit('no\\nluck')"
    failing = {"apiVersion": _API, "command": sys.executable, "args": ["-c", script]}
    with pytest.raises(Unauthorized, match="ended with status 1: no luck"):
        _fetched({"exec": failing})


@dataclass(frozen=True)
class Case:
    name: str
    answer: str | Json
    problem: str


def _answer(status: Json, version: str = _API) -> Json:
    return {"apiVersion": version, "kind": "ExecCredential", "status": status}


@pytest.mark.parametrize(
    "case",
    [
        Case("no JSON", "hello", "printed no ExecCredential"),
        Case("no status", {"apiVersion": _API}, "printed no ExecCredential"),
        Case("another version", _answer({"token": "t"}, "v0"), "speaks v0, not client"),
        Case("nothing in it", _answer({}), "neither token nor certificate"),
        Case("half a pair", _answer({"clientCertificateData": "c"}), "neither token nor"),
        Case("no time", _answer({"token": "t", "expirationTimestamp": "?"}), "'\\?' is not an exp"),
    ],
    ids=lambda case: case.name,
)
def test_wrong_answers_of_plugins(case: Case) -> None:
    text = case.answer if isinstance(case.answer, str) else json.dumps(case.answer)
    with pytest.raises(Unauthorized, match=case.problem):
        plugin_answer(text.encode(), _API, "plugin", _NOW)


def test_answers_of_plugins_expire_early() -> None:
    def fetched(status: Json) -> Credentials:
        return plugin_answer(json.dumps(_answer(status)).encode(), _API, "plugin", _NOW)

    hour = {"token": "t", "expirationTimestamp": "2026-11-15T09:00:00Z"}
    assert fetched(hour) == Credentials("Bearer t", None, 3590.0)
    past = {"token": "t", "expirationTimestamp": "2026-11-15T07:00:00Z"}
    assert fetched(past).seconds == 1.0
    pair = {"clientCertificateData": "c", "clientKeyData": "k"}
    assert fetched(pair) == Credentials("", (b"c", b"k"))
