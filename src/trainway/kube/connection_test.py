import asyncio
from pathlib import Path

import pytest

from trainway.errors import TrainwayError, UnavailableError
from trainway.kube.connection import Connection, Endpoint, impersonation, load_connection
from trainway.kube.credentials import Credentials, Plugin
from trainway.kube.kubeconfig import KubeconfigError, Section

_CONFIG = """
current-context: one
contexts:
- {name: one, context: {cluster: c, user: u, namespace: n}}
clusters:
- {name: c, cluster: {server: "https://HOST:6443/"}}
users:
- {name: u, user: {token: t}}
"""


def _write(path: Path, host: str, extra: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_CONFIG.replace("HOST", host).replace('6443/"', f'6443/"{extra}'))
    return path


def _pod(folder: Path) -> dict[str, str]:
    folder.mkdir()
    for name, text in (("token", "t"), ("ca.crt", ""), ("namespace", "training\n")):
        (folder / name).write_text(text)
    return {"KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "443"}


def test_the_first_that_is_there(tmp_path: Path) -> None:
    account, home = tmp_path / "account", tmp_path / "home"
    _write(home / ".kube" / "config", "home")
    environ = _pod(account) | {"KUBECONFIG": f"{tmp_path / 'none'}:{tmp_path / 'b'}"}
    _write(tmp_path / "b", "variable")
    named = _write(tmp_path / "a", "named")

    def host(kubeconfig: Path | None) -> str:
        connection = load_connection(
            kubeconfig, environ=environ, home=home, service_account=account
        )
        return connection.host

    assert host(named) == "https://named:6443"
    assert host(None) == "https://variable:6443"
    del environ["KUBECONFIG"]
    assert host(None) == "https://[fd00::1]:443"
    del environ["KUBERNETES_SERVICE_HOST"]
    assert host(None) == "https://home:6443"
    (home / ".kube" / "config").unlink()
    with pytest.raises(UnavailableError, match="no cluster is configured"):
        host(None)


def test_a_kubeconfig_that_was_named_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(KubeconfigError, match="there is no kubeconfig"):
        load_connection(tmp_path / "none")
    with pytest.raises(KubeconfigError, match="there is no kubeconfig") as caught:
        load_connection(environ={"KUBECONFIG": str(tmp_path / "none")})
    assert caught.value.hint == "KUBECONFIG names it"


def test_of_a_pod(tmp_path: Path) -> None:
    environ = _pod(tmp_path / "account")
    connection = load_connection(environ=environ, service_account=tmp_path / "account")
    assert connection.namespace == "training"
    assert not connection.is_fresh
    asyncio.run(connection.refresh())
    assert connection.headers == (("Authorization", "Bearer t"),)


def test_proxies(tmp_path: Path) -> None:
    path = _write(tmp_path / "a", "k.example", ", proxy-url: 'http://p:1'")
    environ = {"HTTPS_PROXY": "http://q:2"}
    assert load_connection(path, environ=environ).proxy == "http://p:1"
    path = _write(tmp_path / "b", "k.example")
    assert load_connection(path, environ=environ).proxy == "http://q:2"
    path = _write(tmp_path / "c", "k.example", ", proxy-url: 'socks5://p:1'")
    with pytest.raises(KubeconfigError, match="neither http nor https"):
        load_connection(path, environ={})


def test_a_server_that_is_no_url(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text(_CONFIG.replace("https://", ""))
    with pytest.raises(KubeconfigError, match="cluster 'c' has no http or https server"):
        load_connection(path)


def test_an_unusable_certificate(tmp_path: Path) -> None:
    path = _write(tmp_path / "a", "k", ", certificate-authority-data: aGVsbG8=")
    with pytest.raises(KubeconfigError, match="a certificate for https://k:6443 is unusable"):
        asyncio.run(load_connection(path).refresh())


def test_what_a_plugin_is_told(tmp_path: Path) -> None:
    path = _write(tmp_path / "a", "k", ", tls-server-name: x, insecure-skip-tls-verify: true")
    plugin = "exec: {command: p, apiVersion: v}"
    path.write_text(path.read_text().replace("token: t", plugin))
    source = load_connection(path)._source
    assert isinstance(source, Plugin)
    assert source.cluster == {
        "server": "https://k:6443",
        "tls-server-name": "x",
        "insecure-skip-tls-verify": True,
    }


def test_acting_as_another() -> None:
    user = {"as": "jane", "as-groups": ["a", "b"], "as-user-extra": {"acme.com/x": ["1"]}}
    assert impersonation(Section("u", Path(), user)) == (
        ("Impersonate-User", "jane"),
        ("Impersonate-Group", "a"),
        ("Impersonate-Group", "b"),
        ("Impersonate-Extra-acme.com%2Fx", "1"),
    )


class _Source:
    def __init__(self, seconds: float | None) -> None:
        self.asked = 0
        self._seconds = seconds

    async def fetch(self) -> Credentials:
        self.asked += 1
        await asyncio.sleep(0)
        return Credentials(f"Bearer {self.asked}", None, self._seconds)


def test_credentials_are_asked_for_again_when_they_expire() -> None:
    now = 100.0
    source = _Source(60)

    async def main() -> None:
        nonlocal now
        connection = Connection(Endpoint("http://k"), source, clock=lambda: now)
        await asyncio.gather(*(connection.refresh() for _ in range(5)))
        assert (source.asked, connection.is_fresh) == (1, True)
        now += 60
        assert not connection.is_fresh
        await connection.refresh()
        assert connection.headers == (("Authorization", "Bearer 2"),)

    asyncio.run(main())


def test_refused_credentials_are_renewed_once_for_all() -> None:
    source = _Source(None)

    async def main() -> None:
        connection = Connection(Endpoint("http://k"), source)
        await connection.refresh()
        refused = connection.headers
        await asyncio.gather(*(connection.refresh(refused) for _ in range(5)))
        assert source.asked == 2

    asyncio.run(main())


def test_errors_are_of_ours() -> None:
    assert issubclass(KubeconfigError, TrainwayError)
