"""Keeps the certificate of the operator's servers: made and renewed by us, or given as files.

A server hands its TLS context over once (`attach`) and is never restarted: new connections get the
new certificate. Replicas agree through one Secret; whoever writes it first wins.
"""

import asyncio
import contextlib
import logging
import os
import ssl
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final, Protocol

from trainway.errors import TrainwayError
from trainway.json_types import Json
from trainway.kube.certificates import (
    CA_CERTIFICATE,
    CERTIFICATE,
    KEY,
    Certificates,
    UnusableCertificateError,
    end_of,
    renewed,
    trust_patch,
)
from trainway.kube.client import JSON_PATCH, Client
from trainway.kube.errors import AlreadyExists, Conflict, InvalidObject, ObjectNotFound
from trainway.kube.resources import MUTATING_WEBHOOKS, SECRETS, VALIDATING_WEBHOOKS, Resource

CHECK_SECONDS: Final = 15.0
WEBHOOK_CONFIGURATIONS: Final[Sequence[tuple[Resource, str]]] = (
    (VALIDATING_WEBHOOKS, "validator.trainer.kubeflow.org"),
    (MUTATING_WEBHOOKS, "defaulter.trainer.kubeflow.org"),
    (VALIDATING_WEBHOOKS, "validator.kubeflow.org"),
    (MUTATING_WEBHOOKS, "defaulter.kubeflow.org"),
)
"""The configurations that name our webhooks: upstream's two, and two of our own for MPIJobs."""
_ATTEMPTS: Final = 10

_log = logging.getLogger(__name__)


class CertificateError(TrainwayError):
    """There is no certificate to serve with."""

    code = "certificate"


class CertificateKeeper(Protocol):
    """Where servers get their certificate."""

    @property
    def authorities(self) -> str:
        """What clients must trust (PEM); empty if that is not known."""
        ...

    @property
    def end(self) -> datetime | None:
        """When the certificate that is served ends; None if that is not known."""
        ...

    @property
    def ready(self) -> bool:
        """Whether there is a certificate to serve with."""
        ...

    def attach(self, context: ssl.SSLContext) -> None:
        """Give the context of a server the certificate, now and whenever it changes."""
        ...

    async def refresh(self) -> None:
        """Look once whether anything has to change."""
        ...


async def keep(keeper: CertificateKeeper, seconds: float = CHECK_SECONDS) -> None:
    """Refresh for ever; what fails is tried again."""
    while True:
        await asyncio.sleep(seconds)
        try:
            await keeper.refresh()
        except TrainwayError as error:
            _log.warning("cannot look after certificates: %s", error.message)


class _Served:
    """A certificate in files, and the TLS contexts that serve it."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._contexts: list[ssl.SSLContext] = []
        self.ready = False
        self.authorities = ""
        self.end: datetime | None = None

    def attach(self, context: ssl.SSLContext) -> None:
        """Give the context of a server the certificate, now and whenever it changes."""
        self._contexts.append(context)
        if self.ready:
            self._load(context)

    def _load(self, context: ssl.SSLContext) -> None:
        try:
            context.load_cert_chain(self._directory / CERTIFICATE, self._directory / KEY)
        except (OSError, ssl.SSLError) as error:
            raise CertificateError(
                f"cannot serve with {self._directory / CERTIFICATE}: {error}",
                hint=f"{CERTIFICATE} and {KEY} must be PEM and belong together",
            ) from None

    def _changed(self, authorities: str) -> None:
        if not self._contexts:
            self._load(ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER))
        for context in self._contexts:
            self._load(context)
        self.authorities = authorities
        self.end = end_of((self._directory / CERTIFICATE).read_bytes())
        self.ready = True


class CertificateFiles(_Served):
    """Files that someone else looks after: `tls.crt`, `tls.key`, and `ca.crt` if there is one."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self._seen: tuple[bytes, ...] = ()

    async def refresh(self) -> None:
        """Load the files if they are others than before."""
        try:
            texts = tuple((self._directory / name).read_bytes() for name in (CERTIFICATE, KEY))
        except OSError as error:
            raise CertificateError(
                f"cannot read the certificate: {error}",
                hint=f"the folder must have {CERTIFICATE} and {KEY}",
            ) from None
        authority = b""
        with contextlib.suppress(FileNotFoundError):
            authority = (self._directory / CA_CERTIFICATE).read_bytes()
        if (*texts, authority) != self._seen:
            self._changed(authority.decode("ascii", "replace"))
            self._seen = (*texts, authority)


class ManagedCertificates(_Served):
    """Certificates of our own authority, kept in a Secret and renewed in time.

    `directory` is a folder of this process alone: TLS contexts take nothing but files.
    """

    def __init__(
        self,
        client: Client,
        *,
        namespace: str,
        secret_name: str,
        names: Sequence[str],
        directory: Path,
        now: Callable[[], datetime],
        configurations: Sequence[tuple[Resource, str]] = WEBHOOK_CONFIGURATIONS,
    ) -> None:
        super().__init__(directory)
        self._client = client
        self._namespace = namespace
        self._secret_name = secret_name
        self._names = names
        self._now = now
        self._configurations = configurations
        self._served: Certificates | None = None

    async def refresh(self) -> None:
        """Renew what ends soon, tell the API server whom to trust, then serve."""
        certificates = await self._agreed()
        for resource, name in self._configurations:
            await self._trust(resource, name, certificates.authorities)
        if certificates != self._served:
            try:
                self._write(certificates)
            except OSError as error:
                raise CertificateError(f"cannot write the certificate: {error}") from None
            self._changed(certificates.authorities)
            self._served = certificates

    async def _agreed(self) -> Certificates:
        """What the Secret holds, after it was brought up to date by us or by another replica."""
        for _ in range(_ATTEMPTS):
            secret = await self._secret()
            certificates, reason = renewed(_stored(secret), self._names, self._now())
            if not reason:
                return certificates
            _log.info("making certificates: %s", reason)
            if await self._store(secret, certificates):
                return certificates
        raise CertificateError(f"Secret {self._namespace}/{self._secret_name} keeps changing")

    async def _secret(self) -> Json | None:
        try:
            return await self._client.get(SECRETS, self._secret_name, self._namespace)
        except ObjectNotFound:
            return None

    async def _store(self, secret: Json | None, certificates: Certificates) -> bool:
        """Write the Secret; False: another replica was faster."""
        if secret is None:
            metadata = {"name": self._secret_name, "namespace": self._namespace}
            obj: Json = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata}
            obj["data"] = certificates.secret_data()
            with contextlib.suppress(AlreadyExists):
                await self._client.create(SECRETS, obj, self._namespace)
                return True
            return False
        data = (secret.get("data") or {}) | certificates.secret_data()
        with contextlib.suppress(Conflict, ObjectNotFound):
            await self._client.replace(SECRETS, secret | {"data": data})
            return True
        return False

    async def _trust(self, resource: Resource, name: str, authorities: str) -> None:
        try:
            patch = trust_patch(await self._client.get(resource, name), authorities)
            if patch:
                await self._client.patch(resource, name, "", patch, content=JSON_PATCH)
                _log.info("%s %s trusts our authority", resource.kind, name)
        except ObjectNotFound:
            _log.debug("there is no %s %s", resource.kind, name)
        except InvalidObject:
            _log.debug("%s %s has changed meanwhile", resource.kind, name)

    def _write(self, certificates: Certificates) -> None:
        self._directory.mkdir(parents=True, exist_ok=True)
        texts: Mapping[str, str] = {
            CERTIFICATE: certificates.certificate,
            KEY: certificates.key,
            CA_CERTIFICATE: certificates.authorities,
        }
        for name, text in texts.items():
            new = self._directory / f".{name}.new"
            with open(new, "w", encoding="ascii", opener=_private) as file:
                file.write(text)
            new.replace(self._directory / name)


def _stored(secret: Json | None) -> Certificates | None:
    if secret is None or not secret.get("data"):
        return None
    try:
        return Certificates.from_secret(secret)
    except UnusableCertificateError as error:
        _log.warning("the stored certificates cannot be used: %s", error)
        return None


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
