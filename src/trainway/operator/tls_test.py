import ssl

import pytest

from trainway.operator.config import TlsConfig
from trainway.operator.tls import CIPHER_SUITES, VERSIONS, server_context


@pytest.mark.parametrize("suite", [name for name, known in CIPHER_SUITES.items() if known])
def test_openssl_knows_every_suite_by_our_name(suite: str) -> None:
    context = server_context(TlsConfig(cipher_suites=(suite,)))
    old = {cipher["name"] for cipher in context.get_ciphers() if cipher["protocol"] != "TLSv1.3"}
    assert old == {CIPHER_SUITES[suite]}


@pytest.mark.parametrize("version", VERSIONS)
def test_versions(version: str) -> None:
    context = server_context(TlsConfig(min_version=version))
    assert context.minimum_version == VERSIONS[version] >= ssl.TLSVersion.TLSv1_2


def test_suites_of_1_3_alone_leave_the_others_as_they_are() -> None:
    plain = server_context(TlsConfig()).get_ciphers()
    assert server_context(TlsConfig(cipher_suites=("TLS_AES_128_GCM_SHA256",))).get_ciphers() == (
        plain
    )
