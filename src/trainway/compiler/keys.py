"""Key material for the Secrets that compilation makes.

The compiler is pure, so randomness comes in from outside, as a `Keys`. A cluster gets fresh keys;
tests and stored texts get fixed ones; output that is meant to be shown gets none at all.

SSH keys are ECDSA on P-521, which OpenSSH accepts under FIPS; Ed25519 is not on that list. A CURVE
certificate is what the brokers of Flux share. Upstream derives it from the UID of the TrainJob, so
that anyone who can read the TrainJob can guess it (D11); here it is random.
"""

import base64
from dataclasses import dataclass
from typing import Final, Protocol

REDACTED: Final = "REDACTED"

_Z85: Final = (
    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
)


@dataclass(frozen=True, slots=True)
class SshKeypair:
    """An SSH key: the private half as PEM, the public half as a line of authorized_keys."""

    private_key: str
    public_key: str


class Keys(Protocol):
    """Where keys come from. Every call gives a new key."""

    def ssh_keypair(self) -> SshKeypair:
        """Give a key with which pods of one job reach each other."""
        ...

    def curve_certificate(self) -> str:
        """Give the text of a certificate which the Flux brokers of one job share."""
        ...


class GeneratedKeys:
    """Fresh random keys."""

    # cryptography is imported where it is used: most jobs need no keys, and it is slow to import.

    def ssh_keypair(self) -> SshKeypair:
        """Make an ECDSA key on the curve P-521."""
        from cryptography.hazmat.primitives import serialization  # noqa: PLC0415 - see above
        from cryptography.hazmat.primitives.asymmetric import ec  # noqa: PLC0415 - see above

        key = ec.generate_private_key(ec.SECP521R1())
        private = key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.TraditionalOpenSSL,
            serialization.NoEncryption(),
        )
        public = key.public_key().public_bytes(
            serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH
        )
        return SshKeypair(private.decode("ascii"), public.decode("ascii") + "\n")

    def curve_certificate(self) -> str:
        """Make a CURVE certificate from a new X25519 key."""
        from cryptography.hazmat.primitives.asymmetric import x25519  # noqa: PLC0415 - see above

        key = x25519.X25519PrivateKey.generate()
        return curve_certificate(key.public_key().public_bytes_raw(), key.private_bytes_raw())


class FixedKeys:
    """The same keys every time, for stored texts. They open nothing."""

    def ssh_keypair(self) -> SshKeypair:
        """Give texts in the shape of a key."""
        return SshKeypair(
            "-----BEGIN EC PRIVATE KEY-----\nfixed\n-----END EC PRIVATE KEY-----\n",
            "ecdsa-sha2-nistp521 fixed\n",
        )

    def curve_certificate(self) -> str:
        """Give a certificate made of zeros and ones."""
        return curve_certificate(bytes(32), b"\x01" * 32)


class RedactedKeys:
    """No keys: a word in place of each."""

    def ssh_keypair(self) -> SshKeypair:
        """Give the word twice."""
        return SshKeypair(REDACTED, REDACTED)

    def curve_certificate(self) -> str:
        """Give the word."""
        return REDACTED


def secret_value(text: str) -> str:
    """Encode a text as `data` of a Secret has it: in base64.

    The word that stands for a key stays readable; it happens to be base64 as well.
    """
    if text == REDACTED:
        return text
    return base64.b64encode(text.encode()).decode("ascii")


def curve_certificate(public_key: bytes, secret_key: bytes) -> str:
    """Write a CURVE certificate as `flux keygen` does."""
    return (
        "#  ZeroMQ CURVE **Secret** Certificate\n"
        "#  DO NOT DISTRIBUTE\n"
        "\n"
        "metadata\n"
        '    name = "trainway"\n'
        "curve\n"
        f'    public-key = "{z85(public_key)}"\n'
        f'    secret-key = "{z85(secret_key)}"\n'
    )


def z85(data: bytes) -> str:
    """Encode bytes as ZeroMQ does (RFC 32): five characters for every four bytes."""
    if len(data) % 4:
        raise ValueError(f"Z85 takes a multiple of four bytes, not {len(data)}")
    text = []
    for start in range(0, len(data), 4):
        number = int.from_bytes(data[start : start + 4], "big")
        text += [_Z85[number // 85**power % 85] for power in (4, 3, 2, 1, 0)]
    return "".join(text)
