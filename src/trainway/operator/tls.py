"""How the operator's servers speak TLS, in the words of the configuration file.

The file names cipher suites as the IANA does; OpenSSL has names of its own for those before TLS
1.3. The suites of 1.3 are always all there, as with Go. HTTP/2 is not spoken.
"""

import ssl
from collections.abc import Mapping
from typing import Final

from trainway.operator.config import TlsConfig

VERSIONS: Final[Mapping[str, ssl.TLSVersion]] = {
    "1.0": ssl.TLSVersion.TLSv1_2,
    "1.1": ssl.TLSVersion.TLSv1_2,
    "1.2": ssl.TLSVersion.TLSv1_2,
    "1.3": ssl.TLSVersion.TLSv1_3,
}
"""The versions of TLS by name; 1.0 and 1.1 are accepted and mean 1.2: what can speak more is not
broken by it."""

CIPHER_SUITES: Final[Mapping[str, str]] = {
    "TLS_RSA_WITH_AES_128_CBC_SHA": "AES128-SHA",
    "TLS_RSA_WITH_AES_256_CBC_SHA": "AES256-SHA",
    "TLS_RSA_WITH_AES_128_GCM_SHA256": "AES128-GCM-SHA256",
    "TLS_RSA_WITH_AES_256_GCM_SHA384": "AES256-GCM-SHA384",
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA": "ECDHE-ECDSA-AES128-SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA": "ECDHE-ECDSA-AES256-SHA",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA": "ECDHE-RSA-AES128-SHA",
    "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA": "ECDHE-RSA-AES256-SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256": "ECDHE-ECDSA-AES128-SHA256",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256": "ECDHE-RSA-AES128-SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256": "ECDHE-ECDSA-AES128-GCM-SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384": "ECDHE-ECDSA-AES256-GCM-SHA384",
    "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256": "ECDHE-RSA-AES128-GCM-SHA256",
    "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384": "ECDHE-RSA-AES256-GCM-SHA384",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256": "ECDHE-RSA-CHACHA20-POLY1305",
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256": "ECDHE-ECDSA-CHACHA20-POLY1305",
    "TLS_AES_128_GCM_SHA256": "",
    "TLS_AES_256_GCM_SHA384": "",
    "TLS_CHACHA20_POLY1305_SHA256": "",
}


def configure(context: ssl.SSLContext, tls: TlsConfig) -> None:
    """Give a server's context the configured versions, ciphers and protocols."""
    if tls.min_version:
        context.minimum_version = VERSIONS[tls.min_version]
    names = [CIPHER_SUITES[suite] for suite in tls.cipher_suites]
    if any(names):
        context.set_ciphers(":".join(filter(None, names)))
    context.set_alpn_protocols(["http/1.1"])


def server_context(tls: TlsConfig) -> ssl.SSLContext:
    """A context for a server, still without certificate."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    configure(context, tls)
    return context
