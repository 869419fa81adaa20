"""How the client gets to a real API server, and as whom: credentials, proxies and other names."""

import asyncio
import json
import sys
from pathlib import Path

import pytest
from cluster.access import Access
from own_api_server import own

from trainway.json_types import Json
from trainway.kube.client import Client
from trainway.kube.connection import load_connection
from trainway.kube.errors import (
    Refused,
    ServerUnavailable,
    Unauthorized,
)
from trainway.kube.resources import NAMESPACES
from trainway.kube.testing import Forwarder, HttpProxy, changed_kubeconfig

PLUGIN = """
import json, pathlib, sys
folder = pathlib.Path(sys.argv[1])
runs = int((folder / "runs").read_text()) if (folder / "runs").exists() else 0
(folder / "runs").write_text(str(runs + 1))
token = (folder / "token").read_text() if runs else "out of date"
print(json.dumps({
    "apiVersion": "client.authentication.k8s.io/v1",
    "kind": "ExecCredential",
    "status": {"token": token},
}))
"""


def test_a_credential_plugin_is_asked_again_when_its_token_is_refused(
    api_cluster: Access, tmp_path: Path
) -> None:
    token = own(api_cluster).users["admin"].token
    (tmp_path / "token").write_text(token)
    plugin = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "command": sys.executable,
        "args": ["-c", PLUGIN, str(tmp_path)],
    }
    path = changed_kubeconfig(api_cluster.kubeconfig, tmp_path / "k", user={"exec": plugin})

    async def main() -> None:
        async with Client(load_connection(path)) as client:
            readers = [client.get(NAMESPACES, "default") for _ in range(8)]
            for obj in await asyncio.gather(*readers):
                assert obj["metadata"]["name"] == "default"

    asyncio.run(main())
    assert (tmp_path / "runs").read_text() == "2"


def test_a_wrong_token(api_cluster: Access, tmp_path: Path) -> None:
    path = changed_kubeconfig(api_cluster.kubeconfig, tmp_path / "k", user={"token": "wrong"})

    async def main() -> None:
        async with Client(load_connection(path)) as client:
            with pytest.raises(Unauthorized) as caught:
                await client.get(NAMESPACES, "default")
            assert (
                caught.value.hint == "the credentials of the kubeconfig are wrong or have expired"
            )

    asyncio.run(main())


def test_a_client_certificate(api_cluster: Access, tmp_path: Path) -> None:
    pair = own(api_cluster).authority.issue("someone", organization="system:masters")
    user = {"client-certificate": str(pair.certificate), "client-key": str(pair.key)}
    path = changed_kubeconfig(api_cluster.kubeconfig, tmp_path / "k", user=user)

    async def main() -> None:
        async with Client(load_connection(path)) as client:
            review: Json = {
                "apiVersion": "authentication.k8s.io/v1",
                "kind": "SelfSubjectReview",
            }
            answer = await client.raw(
                "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", review
            )
            assert answer["status"]["userInfo"]["username"] == "someone"

    asyncio.run(main())


def test_acting_as_another_user(api_cluster: Access, tmp_path: Path) -> None:
    config = json.loads(own(api_cluster).kubeconfig.read_text())
    user = config["users"][0]["user"] | {"as": "jane", "as-groups": ["a", "b"]}
    path = changed_kubeconfig(api_cluster.kubeconfig, tmp_path / "k", user=user)

    async def main() -> None:
        async with Client(load_connection(path)) as client:
            with pytest.raises(Refused, match='User "jane" cannot get resource "namespaces"'):
                await client.get(NAMESPACES, "default")

    asyncio.run(main())


def test_through_a_proxy(api_cluster: Access, tmp_path: Path) -> None:
    async def main() -> None:
        async with HttpProxy().running() as proxy:
            path = changed_kubeconfig(
                api_cluster.kubeconfig, tmp_path / "k", cluster={"proxy-url": proxy.url}
            )
            async with Client(load_connection(path)) as client:
                assert (await client.get(NAMESPACES, "default"))["kind"] == "Namespace"
                assert proxy.accepted == 1

    asyncio.run(main())


def test_a_server_known_by_another_name(api_cluster: Access, tmp_path: Path) -> None:
    cluster = own(api_cluster)

    async def main() -> None:
        async with Forwarder(cluster.server, "127.0.0.2").running() as forwarder:
            fields = {"server": forwarder.url}
            path = changed_kubeconfig(cluster.kubeconfig, tmp_path / "k", cluster=fields)
            async with Client(load_connection(path)) as client:
                with pytest.raises(ServerUnavailable, match="a certificate that is not trusted"):
                    await client.get(NAMESPACES, "default")
            for extra in (
                {"tls-server-name": "kubernetes.default.svc"},
                {"insecure-skip-tls-verify": True, "certificate-authority-data": ""},
            ):
                path = changed_kubeconfig(cluster.kubeconfig, path, cluster=fields | extra)
                async with Client(load_connection(path)) as client:
                    assert (await client.get(NAMESPACES, "default"))["kind"] == "Namespace"

    asyncio.run(main())


def test_from_a_pod_whose_token_is_renewed(api_cluster: Access, tmp_path: Path) -> None:
    cluster = own(api_cluster)
    (tmp_path / "ca.crt").write_bytes(cluster.authority.certificate_file.read_bytes())
    (tmp_path / "token").write_text("expired")
    environ = {
        "KUBERNETES_SERVICE_HOST": cluster.host,
        "KUBERNETES_SERVICE_PORT": str(cluster.port),
    }

    async def main() -> None:
        connection = load_connection(environ=environ, service_account=tmp_path)
        async with Client(connection) as client:
            with pytest.raises(Unauthorized):
                await client.get(NAMESPACES, "default")
            (tmp_path / "token").write_text(cluster.users["admin"].token)
            assert (await client.get(NAMESPACES, "default"))["kind"] == "Namespace"

    asyncio.run(main())
