"""Certificate and token with which training code reports its progress to the agent of its job.

Clients trust the certificate itself as their authority, so each job has its own, and it is good for
the loopback address alone.
"""

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import ip_address
from typing import Final

LOOPBACK: Final = "127.0.0.1"
"""Where jobs of this machine report, and where their pods meet."""
_LIFETIME = timedelta(days=3650)
_EARLY = timedelta(hours=1)
"""How long before now a certificate begins: the clock may be set back a little while the
job runs."""


@dataclass(frozen=True)
class StatusKeys:
    """What the endpoint needs, as files."""

    certificate: bytes
    key: bytes
    token: str


def new_status_keys(job: str, now: datetime) -> StatusKeys:
    """Make a certificate for the loopback address and a token."""
    # Imported here: the server starts without it.
    from cryptography import x509  # noqa: PLC0415 - see above
    from cryptography.hazmat.primitives import hashes, serialization  # noqa: PLC0415 - see above
    from cryptography.hazmat.primitives.asymmetric import ec  # noqa: PLC0415 - see above

    key = ec.generate_private_key(ec.SECP256R1())
    public = key.public_key()
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, f"trainway job {job}")])
    here = [x509.IPAddress(ip_address(LOOPBACK)), x509.DNSName("localhost")]
    identifier = x509.SubjectKeyIdentifier.from_public_key(public)
    usage = x509.KeyUsage(
        digital_signature=True, key_cert_sign=True, crl_sign=False, content_commitment=False,
        key_encipherment=False, data_encipherment=False, key_agreement=False,
        encipher_only=False, decipher_only=False,
    )  # fmt: skip
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(public)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _EARLY)
        .not_valid_after(now + _LIFETIME)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(usage, critical=True)
        .add_extension(x509.SubjectAlternativeName(here), critical=False)
        .add_extension(identifier, critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(identifier),
            critical=False,
        )
        .sign(key, hashes.SHA256())
    )
    return StatusKeys(
        certificate.public_bytes(serialization.Encoding.PEM),
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        ),
        secrets.token_urlsafe(32),
    )
