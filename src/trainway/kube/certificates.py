"""A certificate authority of our own, and the serving certificate it signs.

The API server and the pods of jobs must trust the operator's servers, whose names no public
authority knows. When a certificate is renewed is decided here; `certificate_keeper` stores it.

Nobody may stand before a certificate that it cannot check yet. So a new authority is published next
to the old one, in one bundle, long before anything is signed by it.
"""

import base64
import binascii
import ipaddress
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from trainway.json_types import Json

AUTHORITY_NAME: Final = "kubeflow-trainer-ca"
ORGANISATION: Final = "kubeflow-trainer"

AUTHORITY_LIFETIME: Final = timedelta(days=3650)
AUTHORITY_RENEWAL: Final = timedelta(days=480)
"""How long before its end an authority gets a successor: longer than what it signs may live."""
SERVING_LIFETIME: Final = timedelta(days=365)
SERVING_RENEWAL: Final = timedelta(days=120)
SERVING_LAST_MOMENT: Final = timedelta(days=1)
"""From here on a serving certificate is renewed even if its authority is only just published."""
_CLOCK_SKEW: Final = timedelta(hours=1)

CA_CERTIFICATE: Final = "ca.crt"
CA_KEY: Final = "ca.key"
CERTIFICATE: Final = "tls.crt"
KEY: Final = "tls.key"

_SigningKey = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey


class UnusableCertificateError(ValueError):
    """What is stored is no certificate and key that belong together."""


@dataclass(frozen=True)
class Certificates:
    """All four texts (PEM), as the Secret has them."""

    authorities: str
    """One or more authorities, the one that signs first."""
    authority_key: str
    certificate: str
    key: str

    @classmethod
    def from_secret(cls, secret: Mapping[str, Any]) -> "Certificates":
        """What a Secret holds; UnusableCertificateError if that is not all of it."""
        data = secret.get("data") or {}
        try:
            texts = [
                base64.b64decode(data[name], validate=True).decode("ascii")
                for name in (CA_CERTIFICATE, CA_KEY, CERTIFICATE, KEY)
            ]
        except KeyError as error:
            raise UnusableCertificateError(f"{error.args[0]} is missing") from None
        except (binascii.Error, UnicodeDecodeError, TypeError) as error:
            raise UnusableCertificateError(f"not a text in base64: {error}") from None
        return cls(*texts)

    def secret_data(self) -> dict[str, str]:
        """The data of a Secret."""
        texts = {
            CA_CERTIFICATE: self.authorities,
            CA_KEY: self.authority_key,
            CERTIFICATE: self.certificate,
            KEY: self.key,
        }
        return {name: base64.b64encode(text.encode()).decode() for name, text in texts.items()}


def end_of(certificate: bytes) -> datetime | None:
    """When a certificate (PEM, of a chain the first) ends; None: it cannot be read."""
    try:
        return x509.load_pem_x509_certificate(certificate).not_valid_after_utc
    except ValueError:
        return None


def renewed(
    current: Certificates | None, names: Sequence[str], now: datetime
) -> tuple[Certificates, str]:
    """The certificates to use from now on, and why they are others; empty: they are the same.

    `names` are host names and addresses under which the servers are reached.
    """
    if current is None:
        return _new(names, now), "there are none"
    try:
        return _renewed(current, names, now)
    except ValueError as error:
        return _new(names, now), str(error)


def _new(names: Sequence[str], now: datetime) -> Certificates:
    key = ec.generate_private_key(ec.SECP256R1())
    authority = _authority(key, now)
    return _signed(Certificates(_pem(authority), _key_pem(key), "", ""), names, now)


def _renewed(
    current: Certificates, names: Sequence[str], now: datetime
) -> tuple[Certificates, str]:
    authorities = _read_certificates(current.authorities)
    signing = _read_key(current.authority_key)
    if signing.public_key() != authorities[0].public_key():
        raise UnusableCertificateError("the key does not belong to the authority")
    serving = _read_certificates(current.certificate)[0]
    if _read_key(current.key).public_key() != serving.public_key():
        raise UnusableCertificateError("the key does not belong to the certificate")
    if _ends_within(authorities[0], timedelta(0), now):
        raise UnusableCertificateError("the authority has expired")
    reason = ""
    if _ends_within(authorities[0], AUTHORITY_RENEWAL, now):
        reason = "the authority expires soon"
        key = ec.generate_private_key(ec.SECP256R1())
        kept = [old for old in authorities if not _ends_within(old, timedelta(0), now)]
        bundle = "".join(map(_pem, [_authority(key, now), *kept]))
        current = replace(current, authorities=bundle, authority_key=_key_pem(key))
    needed = _serving_reason(serving, authorities, names, now, SERVING_LAST_MOMENT)
    if not reason:
        needed = _serving_reason(serving, authorities, names, now, SERVING_RENEWAL)
    if needed:
        current = _signed(current, names, now)
    return current, " and ".join(filter(None, (reason, needed)))


def _serving_reason(
    serving: x509.Certificate,
    authorities: Sequence[x509.Certificate],
    names: Sequence[str],
    now: datetime,
    margin: timedelta,
) -> str:
    """Why there must be another serving certificate; empty if there need not be."""
    if _ends_within(serving, margin, now):
        return "the certificate expires soon"
    if not set(_alternative_names(names)) <= set(_names_of(serving)):
        return "the certificate is for other names"
    if not any(_is_issuer(authority, serving, now) for authority in authorities):
        return "this authority did not issue the certificate"
    return ""


def _is_issuer(authority: x509.Certificate, issued: x509.Certificate, now: datetime) -> bool:
    if _ends_within(authority, timedelta(0), now):
        return False
    try:
        issued.verify_directly_issued_by(authority)
    except (InvalidSignature, ValueError, TypeError):
        return False
    return True


def _ends_within(certificate: x509.Certificate, margin: timedelta, now: datetime) -> bool:
    return certificate.not_valid_after_utc - margin <= now


def _authority(key: ec.EllipticCurvePrivateKey, now: datetime) -> x509.Certificate:
    name = x509.Name(
        [
            x509.NameAttribute(NameOID.COMMON_NAME, AUTHORITY_NAME),
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, ORGANISATION),
        ]
    )
    public = key.public_key()
    usage = _key_usage(digital_signature=True, key_cert_sign=True, crl_sign=True)
    return (
        _builder(name, name, public, now, AUTHORITY_LIFETIME)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(usage, critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
        .sign(key, hashes.SHA256())
    )


def _signed(current: Certificates, names: Sequence[str], now: datetime) -> Certificates:
    """The same authority with a new serving certificate."""
    authority = _read_certificates(current.authorities)[0]
    signing = _read_key(current.authority_key)
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0][:64])])
    identifier = x509.AuthorityKeyIdentifier.from_issuer_public_key(signing.public_key())
    certificate = (
        _builder(subject, authority.subject, key.public_key(), now, SERVING_LIFETIME)
        .add_extension(x509.SubjectAlternativeName(_alternative_names(names)), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_key_usage(digital_signature=True), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(identifier, critical=False)
        .sign(signing, hashes.SHA256())
    )
    return replace(current, certificate=_pem(certificate), key=_key_pem(key))


def _builder(
    subject: x509.Name,
    issuer: x509.Name,
    public: ec.EllipticCurvePublicKey,
    now: datetime,
    lifetime: timedelta,
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _CLOCK_SKEW)
        .not_valid_after(now + lifetime)
    )


def _key_usage(
    *, digital_signature: bool, key_cert_sign: bool = False, crl_sign: bool = False
) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=digital_signature,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=key_cert_sign,
        crl_sign=crl_sign,
        encipher_only=False,
        decipher_only=False,
    )


def _alternative_names(names: Iterable[str]) -> list[x509.GeneralName]:
    alternatives: list[x509.GeneralName] = []
    for name in names:
        try:
            alternatives.append(x509.IPAddress(ipaddress.ip_address(name)))
        except ValueError:
            alternatives.append(x509.DNSName(name))
    return alternatives


def _names_of(certificate: x509.Certificate) -> list[x509.GeneralName]:
    try:
        extension = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName)
    except x509.ExtensionNotFound:
        return []
    return list(extension.value)


def _read_certificates(text: str) -> list[x509.Certificate]:
    try:
        return x509.load_pem_x509_certificates(text.encode())
    except ValueError as error:
        raise UnusableCertificateError(f"not a certificate: {error}") from None


def _read_key(text: str) -> _SigningKey:
    try:
        key = serialization.load_pem_private_key(text.encode(), password=None)
    except (ValueError, TypeError) as error:
        raise UnusableCertificateError(f"not a key: {error}") from None
    if not isinstance(key, _SigningKey):
        raise UnusableCertificateError("a key must be an RSA key or an elliptic curve key")
    return key


def _pem(certificate: x509.Certificate) -> str:
    return certificate.public_bytes(serialization.Encoding.PEM).decode("ascii")


def _key_pem(key: ec.EllipticCurvePrivateKey) -> str:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    ).decode("ascii")


def trust_patch(configuration: Mapping[str, Any], authorities: str) -> list[Json]:
    """The JSON patch that lets the API server trust these authorities for each webhook; or none."""
    bundle = base64.b64encode(authorities.encode()).decode("ascii")
    operations: list[Json] = []
    for index, webhook in enumerate(configuration.get("webhooks") or []):
        if (webhook.get("clientConfig") or {}).get("caBundle") != bundle:
            path = f"/webhooks/{index}"
            operations += [
                {"op": "test", "path": f"{path}/name", "value": webhook["name"]},
                {"op": "add", "path": f"{path}/clientConfig/caBundle", "value": bundle},
            ]
    return operations
