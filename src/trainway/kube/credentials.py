"""Who we are to the API server: an authorization header, a client certificate, or both.

Some credentials are for ever, some are in a file that is written anew, some must be fetched from
a program or a provider. Each of them is a `Source`, asked again when what it gave expires or the
API server does not know us any more.
"""

import asyncio
import base64
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Protocol

from trainway.json_types import Json
from trainway.kube.errors import Unauthorized
from trainway.kube.kubeconfig import KubeconfigError, Section, read_file

_FILE_SECONDS: Final = 60.0
"""How often a token file is read again; kubelet writes a new one long before the old expires."""
_PLUGIN_SECONDS: Final = 60.0
"""How long a plugin may take."""
_PROVIDER_SECONDS: Final = 300.0
_EARLY_SECONDS: Final = 10.0
"""How long before it expires a token is renewed."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """What to show to the API server."""

    authorization: str = ""
    certificate: tuple[bytes, bytes] | None = None
    """A client certificate and its key, as PEM."""
    seconds: float | None = None
    """After so many seconds they are to be asked for again; None means when they are refused."""


class Source(Protocol):
    """Where credentials come from."""

    async def fetch(self) -> Credentials:
        """Credentials that are valid now."""
        ...


@dataclass(frozen=True, slots=True)
class Plain:
    """Written in the kubeconfig, or in files it names."""

    user: Section

    async def fetch(self) -> Credentials:
        """Read the files again, for they may be new."""
        user = self.user
        certificate, key = user.content("client-certificate"), user.content("client-key")
        pair = (certificate, key) if certificate and key else None
        token, path = user.text("token"), user.path("tokenFile")
        if not token and path is not None:
            token = _token(path)
            return Credentials(f"Bearer {token}", pair, _FILE_SECONDS)
        if token:
            return Credentials(f"Bearer {token}", pair)
        if user.text("username"):
            plain = f"{user.text('username')}:{user.text('password')}".encode()
            return Credentials(f"Basic {base64.b64encode(plain).decode()}", pair)
        return Credentials("", pair)


@dataclass(frozen=True, slots=True)
class TokenFile:
    """The token of a service account, which is written anew every hour or so."""

    path: Path

    async def fetch(self) -> Credentials:
        """Read the file."""
        return Credentials(f"Bearer {_token(self.path)}", None, _FILE_SECONDS)


@dataclass(frozen=True, slots=True)
class Plugin:
    """A program that prints an ExecCredential."""

    user: Section
    cluster: Json
    """What the program is told of the cluster, where it asks for that."""
    environ: Mapping[str, str]
    now: Callable[[], datetime] = lambda: datetime.now(UTC)

    async def fetch(self) -> Credentials:
        """Run the program."""
        plugin = self.user.fields["exec"]
        command, environment = plugin_command(plugin, self.user.folder, self.cluster, self.environ)
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                env=environment,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
        except OSError as error:
            raise KubeconfigError(
                f"credential plugin {command[0]}: {error.strerror}",
                hint=plugin.get("installHint") or None,
            ) from None
        try:
            async with asyncio.timeout(_PLUGIN_SECONDS):
                output, complaint = await process.communicate()
        except TimeoutError:
            raise Unauthorized(
                f"credential plugin {command[0]} took longer than {_PLUGIN_SECONDS:.0f} s"
            ) from None
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        if process.returncode:
            said = " ".join(complaint.decode(errors="replace").split())
            raise Unauthorized(
                f"credential plugin {command[0]} ended with status {process.returncode}: {said}"
            )
        return plugin_answer(output, plugin["apiVersion"], command[0], self.now())


@dataclass(frozen=True, slots=True)
class Provider:
    """An authentication provider of old kubeconfigs (OIDC, GCP), which kubernetes_asyncio knows."""

    user: Section

    async def fetch(self) -> Credentials:
        """Let kubernetes_asyncio renew the token where needed."""
        # 40 MB, and most kubeconfigs do without
        from kubernetes_asyncio.config import ConfigException  # noqa: PLC0415
        from kubernetes_asyncio.config.kube_config import KubeConfigLoader  # noqa: PLC0415

        loader = KubeConfigLoader(
            {
                "current-context": "it",
                "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}],
                "clusters": [{"name": "it", "cluster": {"server": "http://it"}}],
                "users": [{"name": "it", "user": dict(self.user.fields)}],
            },
            config_base_path=str(self.user.folder),
        )
        holder = _Holder()
        try:
            await loader.load_and_set(holder)
        except (ConfigException, ValueError) as error:
            raise Unauthorized(f"{self.user.name}: {' '.join(str(error).split())}") from None
        return Credentials(holder.api_key.get("BearerToken", ""), None, _PROVIDER_SECONDS)


class _Holder:
    """Stands for kubernetes_asyncio's Configuration."""

    def __init__(self) -> None:
        self.api_key: dict[str, str] = {}


def source_of(user: Section, cluster: Json, environ: Mapping[str, str] = os.environ) -> Source:
    """The source that a user of a kubeconfig names."""
    if isinstance(user.fields.get("exec"), dict):
        plugin = user.fields["exec"]
        for field in ("command", "apiVersion"):
            if not plugin.get(field):
                raise KubeconfigError(f"user {user.name!r}: exec has no {field}")
        return Plugin(user, cluster, environ)
    if user.fields.get("auth-provider"):
        return Provider(user)
    return Plain(user)


def plugin_command(
    plugin: Json, folder: Path, cluster: Json, environ: Mapping[str, str]
) -> tuple[list[str], dict[str, str]]:
    """What to run and in which environment; a path is relative to the kubeconfig."""
    program = str(plugin["command"])
    if "/" in program:
        program = str(folder / program)
    spec: Json = {"interactive": False}
    if plugin.get("provideClusterInfo"):
        spec["cluster"] = cluster
    question = {"apiVersion": plugin["apiVersion"], "kind": "ExecCredential", "spec": spec}
    extra = {entry["name"]: entry["value"] for entry in plugin.get("env") or ()}
    environment = {**environ, **extra, "KUBERNETES_EXEC_INFO": json.dumps(question)}
    return [program, *map(str, plugin.get("args") or ())], environment


def plugin_answer(output: bytes, api_version: str, program: str, now: datetime) -> Credentials:
    """The credentials a plugin printed."""
    try:
        answer = json.loads(output)
        status = answer["status"]
        token = status.get("token", "")
        certificate = status.get("clientCertificateData", "").encode()
        key = status.get("clientKeyData", "").encode()
    except (ValueError, KeyError, TypeError, AttributeError):
        raise Unauthorized(f"credential plugin {program} printed no ExecCredential") from None
    if answer.get("apiVersion") != api_version:
        raise Unauthorized(
            f"credential plugin {program} speaks {answer.get('apiVersion')}, not {api_version}"
        )
    if not token and not (certificate and key):
        raise Unauthorized(f"credential plugin {program} gave neither token nor certificate")
    return Credentials(
        f"Bearer {token}" if token else "",
        (certificate, key) if certificate and key else None,
        _seconds_left(status.get("expirationTimestamp"), program, now),
    )


def _seconds_left(expiration: Any, program: str, now: datetime) -> float | None:
    if not expiration:
        return None
    try:
        moment = datetime.fromisoformat(str(expiration))
    except ValueError:
        raise Unauthorized(
            f"credential plugin {program}: {expiration!r} is not an expirationTimestamp"
        ) from None
    return max(1.0, (moment - now).total_seconds() - _EARLY_SECONDS)


def _token(path: Path) -> str:
    token = read_file(path).decode().strip()
    if not token:
        raise KubeconfigError(f"the token file {path} is empty")
    return token
