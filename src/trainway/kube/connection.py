"""Where the API server is and how it is reached: address, certificates, proxy, credentials.

Looked for in this order: the kubeconfig that was named, those of $KUBECONFIG, the service account
of the pod we run in, and ~/.kube/config.
"""

import asyncio
import os
import ssl
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urlsplit

from trainway.errors import UnavailableError
from trainway.json_types import Json
from trainway.kube import kubeconfig as kubeconfigs
from trainway.kube.credentials import Credentials, Source, TokenFile, source_of
from trainway.kube.kubeconfig import Kubeconfig, KubeconfigError, Section
from trainway.kube.proxy import proxy_for

SERVICE_ACCOUNT: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount")
DEFAULT_NAMESPACE: Final = "default"

Headers = tuple[tuple[str, str], ...]
"""The headers as pairs, because one name may come several times."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An API server, without who asks it."""

    host: str
    """The URL, without a slash at its end."""
    authority: bytes | None = None
    """The certificate to trust, as PEM; None stands for those of the system."""
    is_verified: bool = True
    server_name: str | None = None
    proxy: str | None = None
    headers: Headers = ()


class Connection:
    """An endpoint with credentials that renew themselves."""

    def __init__(
        self,
        endpoint: Endpoint,
        source: Source,
        namespace: str = DEFAULT_NAMESPACE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.host = endpoint.host
        self.proxy = endpoint.proxy
        self.server_name = endpoint.server_name
        self.namespace = namespace
        """The namespace of the context, or of the pod we run in."""
        self.ssl_context: ssl.SSLContext | None = None
        self.headers: Headers = endpoint.headers
        """What every request carries; complete after `refresh`."""
        self._endpoint = endpoint
        self._source = source
        self._clock = clock
        self._expires_at = float("-inf")
        self._certificate: tuple[bytes, bytes] | None = None
        self._refreshing = asyncio.Lock()

    @property
    def is_fresh(self) -> bool:
        """Whether the credentials can be used now."""
        return self._clock() < self._expires_at

    async def refresh(self, refused: Headers | None = None) -> None:
        """Get credentials where they are missing or old, or where these headers were refused."""
        async with self._refreshing:
            if self.is_fresh and (refused is None or refused is not self.headers):
                return  # somebody else did it meanwhile
            self._take(await self._source.fetch())

    def _take(self, credentials: Credentials) -> None:
        seconds = credentials.seconds
        self._expires_at = float("inf") if seconds is None else self._clock() + seconds
        authorization = credentials.authorization
        self.headers = (
            *self._endpoint.headers,
            *((("Authorization", authorization),) if authorization else ()),
        )
        is_secure = self.host.startswith("https:")
        if is_secure and (self.ssl_context is None or credentials.certificate != self._certificate):
            self.ssl_context = _ssl_context(self._endpoint, credentials.certificate)
            self._certificate = credentials.certificate


def load_connection(
    kubeconfig: Path | None = None,
    context: str | None = None,
    *,
    environ: Mapping[str, str] = os.environ,
    home: Path | None = None,
    service_account: Path = SERVICE_ACCOUNT,
) -> Connection:
    """The connection of a kubeconfig, or of the pod we run in."""
    if kubeconfig is not None:
        if not kubeconfigs.is_there(kubeconfig):
            raise KubeconfigError(f"there is no kubeconfig {kubeconfig}")
        return _from_kubeconfig(kubeconfigs.load([kubeconfig], context), environ)
    named = [Path(path) for path in environ.get("KUBECONFIG", "").split(os.pathsep) if path]
    if named:
        if not any(kubeconfigs.is_there(path) for path in named):
            raise KubeconfigError(
                f"there is no kubeconfig {os.pathsep.join(map(str, named))}",
                hint="KUBECONFIG names it",
            )
        return _from_kubeconfig(kubeconfigs.load(named, context), environ)
    if environ.get("KUBERNETES_SERVICE_HOST") and (service_account / "token").is_file():
        return _from_pod(environ, service_account)
    usual = (home or Path.home()) / ".kube" / "config"
    if kubeconfigs.is_there(usual):
        return _from_kubeconfig(kubeconfigs.load([usual], context), environ)
    raise UnavailableError(
        f"no cluster is configured: KUBECONFIG is not set, {usual} does not exist, and this is not "
        "a pod",
        hint="name a kubeconfig with --kubeconfig",
    )


def _from_kubeconfig(chosen: Kubeconfig, environ: Mapping[str, str]) -> Connection:
    cluster, user = chosen.cluster, chosen.user
    host = cluster.text("server").rstrip("/")
    if urlsplit(host).scheme not in ("http", "https"):
        raise KubeconfigError(f"cluster {cluster.name!r} has no http or https server")
    endpoint = Endpoint(
        host,
        authority=cluster.content("certificate-authority"),
        is_verified=not cluster.fields.get("insecure-skip-tls-verify", False),
        server_name=cluster.text("tls-server-name") or None,
        proxy=_proxy(host, cluster.text("proxy-url"), environ),
        headers=impersonation(user),
    )
    source = source_of(user, _cluster_info(cluster, endpoint), environ)
    return Connection(endpoint, source, chosen.context.text("namespace") or DEFAULT_NAMESPACE)


def _from_pod(environ: Mapping[str, str], service_account: Path) -> Connection:
    address, port = environ["KUBERNETES_SERVICE_HOST"], environ["KUBERNETES_SERVICE_PORT"]
    host = f"https://[{address}]:{port}" if ":" in address else f"https://{address}:{port}"
    authority = kubeconfigs.read_file(service_account / "ca.crt")
    namespace = service_account / "namespace"
    return Connection(
        Endpoint(host, authority=authority, proxy=_proxy(host, "", environ)),
        TokenFile(service_account / "token"),
        namespace.read_text().strip() if namespace.is_file() else DEFAULT_NAMESPACE,
    )


def impersonation(user: Section) -> Headers:
    """The headers of a user who acts as another one."""
    headers = [("Impersonate-User", user.text("as")), ("Impersonate-Uid", user.text("as-uid"))]
    headers += [("Impersonate-Group", str(group)) for group in user.fields.get("as-groups") or ()]
    for name, values in (user.fields.get("as-user-extra") or {}).items():
        headers += [(f"Impersonate-Extra-{quote(name, '')}", str(value)) for value in values]
    return tuple(header for header in headers if header[1])


def _cluster_info(cluster: Section, endpoint: Endpoint) -> Json:
    """What a credential plugin is told, as kubectl words it."""
    info: dict[str, Any] = {"server": endpoint.host}
    if endpoint.server_name:
        info["tls-server-name"] = endpoint.server_name
    if not endpoint.is_verified:
        info["insecure-skip-tls-verify"] = True
    if cluster.text("certificate-authority-data"):
        info["certificate-authority-data"] = cluster.text("certificate-authority-data")
    extensions = cluster.fields.get("extensions") or ()
    for extension in extensions:
        if extension.get("name") == "client.authentication.k8s.io/exec":
            info["config"] = extension.get("extension")
    return info


def _proxy(host: str, named: str, environ: Mapping[str, str]) -> str | None:
    """The proxy of the kubeconfig, or else of the environment."""
    proxy = named or proxy_for(host, environ)
    if proxy and urlsplit(proxy).scheme not in ("http", "https"):
        raise KubeconfigError(f"proxy {proxy} is neither http nor https")
    return proxy or None


def _ssl_context(endpoint: Endpoint, certificate: tuple[bytes, bytes] | None) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(
            cadata=endpoint.authority.decode("ascii") if endpoint.authority else None
        )
        if certificate is not None:
            with tempfile.NamedTemporaryFile() as file:  # OpenSSL reads keys from files only
                file.write(b"\n".join(certificate))
                file.flush()
                context.load_cert_chain(file.name)
    except (ssl.SSLError, ValueError) as error:
        raise KubeconfigError(f"a certificate for {endpoint.host} is unusable: {error}") from None
    if not endpoint.is_verified:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context
