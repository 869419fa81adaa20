"""The cluster's own certificate authority.

Certificates serve TLS on addresses of this machine. Clients of the API server identify themselves
by static tokens, which need no certificate; only the API server has one, to reach the kubelet.
"""

import datetime as dt
import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

LIFETIME: Final = dt.timedelta(days=30)
CLOCK_SKEW: Final = dt.timedelta(minutes=5)


@dataclass(frozen=True)
class KeyPair:
    """The files of a certificate and its private key."""

    certificate: Path
    key: Path


class Authority:
    """A certificate authority made for one cluster; its key is never written down."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.certificate_file = folder / "ca.crt"
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "trainway-test-cluster")])
        builder = certificate_builder(self.name, self.name, self.key.public_key())
        usage = x509.KeyUsage(
            digital_signature=True,
            key_cert_sign=True,
            crl_sign=True,
            content_commitment=False,
            key_encipherment=False,
            data_encipherment=False,
            key_agreement=False,
            encipher_only=False,
            decipher_only=False,
        )
        certificate = (
            builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(usage, critical=True)
            .sign(self.key, hashes.SHA256())
        )
        self.certificate_file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))

    def issue(
        self, name: str, *, hosts: Sequence[str] = (), organization: str = "", stem: str = "tls"
    ) -> KeyPair:
        """A certificate for this name in a folder of that name: for a server if it has hosts."""
        key = ec.generate_private_key(ec.SECP256R1())
        attributes = [x509.NameAttribute(NameOID.COMMON_NAME, name)]
        if organization:
            attributes.append(x509.NameAttribute(NameOID.ORGANIZATION_NAME, organization))
        builder = certificate_builder(x509.Name(attributes), self.name, key.public_key())
        builder = builder.add_extension(
            x509.ExtendedKeyUsage(
                [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
            ),
            critical=False,
        )
        if hosts:
            names = x509.SubjectAlternativeName([alternative_name(host) for host in hosts])
            builder = builder.add_extension(names, critical=False)
        certificate = builder.sign(self.key, hashes.SHA256())
        folder = self.folder / name.replace(":", "-")
        folder.mkdir(exist_ok=True)
        pair = KeyPair(folder / f"{stem}.crt", folder / f"{stem}.key")
        pair.certificate.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        write_private_key(key, pair.key)
        return pair


def certificate_builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey
) -> x509.CertificateBuilder:
    now = dt.datetime.now(dt.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - CLOCK_SKEW)
        .not_valid_after(now + LIFETIME)
    )


def alternative_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def service_account_key(folder: Path) -> Path:
    """The key that signs the tokens of service accounts."""
    path = folder / "service-accounts.key"
    write_private_key(rsa.generate_private_key(public_exponent=65537, key_size=2048), path)
    return path


def write_private_key(key: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey, path: Path) -> None:
    path.touch(mode=0o600)
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
