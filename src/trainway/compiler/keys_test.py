import ast
import base64
import inspect
import re
from dataclasses import dataclass

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, x25519

from trainway.compiler import keys
from trainway.compiler.keys import (
    REDACTED,
    FixedKeys,
    GeneratedKeys,
    RedactedKeys,
    curve_certificate,
    secret_value,
    z85,
)

P521_OID = "1.3.132.0.35"
Z85_KEY = re.compile(
    r'^    (public|secret)-key = "([0-9a-zA-Z.:+=^!/*?&<>()\[\]{}@%$#-]{40})"$', re.M
)


@dataclass(frozen=True)
class Case:
    name: str
    data: bytes
    text: str


@pytest.mark.parametrize(
    "case",
    [
        # The test vectors of ZeroMQ's RFC 32 and of libzmq's manual page.
        Case("rfc", bytes([0x86, 0x4F, 0xD2, 0x6F, 0xB5, 0x59, 0xF7, 0x5B]), "HelloWorld"),
        Case(
            "libzmq",
            bytes.fromhex("8E0BDD697628B91D8F245587EE95C5B04D48963F79259877B49CD9063AEAD3B7"),
            "JTKVSB%%)wK0E.X)V>+}o?pNmC{O&4W4b!Ni{Lh6",
        ),
        Case("nothing", b"", ""),
        Case("zeros", bytes(4), "00000"),
        Case("ones", b"\xff" * 4, "%nSc0"),
    ],
    ids=lambda case: case.name,
)
def test_z85(case: Case) -> None:
    assert z85(case.data) == case.text


def test_z85_refuses_a_remainder() -> None:
    with pytest.raises(ValueError, match="not 5"):
        z85(b"12345")


def test_an_ssh_key_is_ecdsa_on_p521_in_the_traditional_form() -> None:
    pair = GeneratedKeys().ssh_keypair()
    assert pair.private_key.startswith("-----BEGIN EC PRIVATE KEY-----\n")
    private = serialization.load_pem_private_key(pair.private_key.encode(), password=None)
    assert isinstance(private, ec.EllipticCurvePrivateKey)
    der = private.private_bytes(
        serialization.Encoding.DER,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    )
    assert bytes.fromhex("06052b81040023") in der, f"the key names the curve {P521_OID}"
    public = serialization.load_ssh_public_key(pair.public_key.encode())
    assert public == private.public_key()
    assert pair.public_key.startswith("ecdsa-sha2-nistp521 ")
    assert pair.public_key.endswith("\n")
    assert pair.public_key.count("\n") == 1


def test_a_curve_certificate_holds_one_pair_of_keys() -> None:
    text = GeneratedKeys().curve_certificate()
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert [line for line in lines if not line.startswith(" ")] == ["metadata", "curve"]
    found = dict(Z85_KEY.findall(text))
    private = x25519.X25519PrivateKey.from_private_bytes(_decode(found["secret"]))
    assert z85(private.public_key().public_bytes_raw()) == found["public"]


def test_keys_differ_from_call_to_call() -> None:
    """D11: upstream's certificate follows from the UID, ours from nothing."""
    generated = GeneratedKeys()
    assert generated.curve_certificate() != generated.curve_certificate()
    assert generated.ssh_keypair() != generated.ssh_keypair()


def test_a_curve_certificate_as_text() -> None:
    assert curve_certificate(bytes(32), b"\xff" * 32) == (
        "#  ZeroMQ CURVE **Secret** Certificate\n"
        "#  DO NOT DISTRIBUTE\n"
        "\n"
        "metadata\n"
        '    name = "trainway"\n'
        "curve\n"
        f'    public-key = "{"0" * 40}"\n'
        f'    secret-key = "{"%nSc0" * 8}"\n'
    )


def test_fixed_keys_stay_the_same() -> None:
    assert FixedKeys().ssh_keypair() == FixedKeys().ssh_keypair()
    assert len(Z85_KEY.findall(FixedKeys().curve_certificate())) == 2


def test_redacted_keys_stay_readable_in_a_secret() -> None:
    pair = RedactedKeys().ssh_keypair()
    texts = [pair.private_key, pair.public_key, RedactedKeys().curve_certificate()]
    assert [secret_value(text) for text in texts] == [REDACTED] * 3
    base64.b64decode(REDACTED, validate=True)


def test_a_secret_value_is_base64() -> None:
    assert secret_value("täst\n") == "dMOkc3QK"


def test_importing_the_module_does_not_import_cryptography() -> None:
    imports = [
        alias.name if isinstance(node, ast.Import) else node.module
        for node in ast.parse(inspect.getsource(keys)).body
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    ]
    assert "base64" in imports
    assert not [name for name in imports if name and name.startswith("cryptography")]


def _decode(text: str) -> bytes:
    """The other way round than `z85`."""
    alphabet = {char: index for index, char in enumerate(keys._Z85)}
    data = b""
    for start in range(0, len(text), 5):
        number = 0
        for char in text[start : start + 5]:
            number = number * 85 + alphabet[char]
        data += number.to_bytes(4, "big")
    return data
