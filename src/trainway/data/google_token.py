"""Tokens of Google for requests of our own, from where Google's programs keep their credentials.

obstore finds the same ones, and gives them to nobody. Which request brings a token is decided
without asking anybody; what has another form (federated identities) is left to obstore.
"""

import base64
import json
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlencode

from trainway.data.profile import ReadText

SCOPE: Final = "https://www.googleapis.com/auth/devstorage.read_write"
_TOKENS: Final = "https://oauth2.googleapis.com/token"
_INSTANCE: Final = "computeMetadata/v1/instance/service-accounts/default/token"
_GRANT: Final = "urn:ietf:params:oauth:grant-type:jwt-bearer"
_VALID_S: Final = 3600
_EARLY_S: Final = 300.0
"""So long before its end a token is replaced."""
_PATIENCE_S: Final = 10.0
_MOST_BYTES: Final = 1 << 20
_PATHS: Final = (
    "GOOGLE_SERVICE_ACCOUNT", "GOOGLE_SERVICE_ACCOUNT_PATH", "GOOGLE_APPLICATION_CREDENTIALS",
)  # fmt: skip

Sign = Callable[[str, bytes], bytes]
"""Signs bytes with a private key, as Google wants it."""


@dataclass(frozen=True)
class Credentials:
    """Who asks; without a kind it is the machine, which has an account of its own."""

    kind: str = ""
    told: Mapping[str, str] = field(default_factory=dict, repr=False)
    machine: str = "metadata.google.internal"


@dataclass(frozen=True)
class TokenRequest:
    """What brings a token."""

    url: str
    headers: Mapping[str, str]
    body: bytes | None = field(repr=False)


def credentials_of(environment: Mapping[str, str], home: str, read: ReadText) -> Credentials | None:
    """The first that obstore would take; None: they are of a kind that only it knows."""
    text = environment.get("GOOGLE_SERVICE_ACCOUNT_KEY")
    paths = [environment[name] for name in _PATHS if environment.get(name)]
    folder = environment.get("CLOUDSDK_CONFIG") or f"{home}/.config/gcloud"
    text = text or read(paths[0] if paths else f"{folder}/application_default_credentials.json")
    if text is None:
        if paths:
            return None
        host = environment.get("GCE_METADATA_HOST") or Credentials.machine
        return Credentials(machine=host)
    try:
        told = json.loads(text)
        found = {str(name): str(value) for name, value in told.items()}
    except (ValueError, AttributeError):
        return None
    kind = found.get("type") or ("service_account" if "private_key" in found else "")
    needed = _NEEDED.get(kind)
    if needed is None or not all(map(found.get, needed)):
        return None
    return Credentials(kind, found)


_NEEDED: Final = {
    "service_account": ("client_email", "private_key"),
    "authorized_user": ("client_id", "client_secret", "refresh_token"),
}


def token_request(credentials: Credentials, now: float, sign: Sign) -> TokenRequest:
    """The request that brings a token; `now` in seconds since 1970."""
    told = credentials.told
    if not credentials.kind:
        url = f"http://{credentials.machine}/{_INSTANCE}"
        return TokenRequest(url, {"metadata-flavor": "Google"}, None)
    url = told.get("token_uri") or _TOKENS
    if credentials.kind == "authorized_user":
        words = {name: told[name] for name in _NEEDED["authorized_user"]}
        form = {"grant_type": "refresh_token", **words}
    else:
        claims = {
            "iss": told["client_email"], "scope": SCOPE, "aud": url,
            "iat": int(now), "exp": int(now) + _VALID_S,
        }  # fmt: skip
        head = {"alg": "RS256", "typ": "JWT"} | (
            {"kid": told["private_key_id"]} if told.get("private_key_id") else {}
        )
        text = f"{_encoded(json.dumps(head).encode())}.{_encoded(json.dumps(claims).encode())}"
        signed = _encoded(sign(told["private_key"], text.encode()))
        form = {"grant_type": _GRANT, "assertion": f"{text}.{signed}"}
    kind = {"content-type": "application/x-www-form-urlencoded"}
    return TokenRequest(url, kind, urlencode(form).encode())


class GoogleTokens:
    """A token that is good at any time; whoever cannot have one gets an OSError."""

    def __init__(self, credentials: Credentials) -> None:
        self._credentials = credentials
        self._lock = threading.Lock()
        self._token = ""
        self._until = 0.0

    def token(self) -> str:
        """The token, a new one if the last one is about to end."""
        with self._lock:
            if time.monotonic() > self._until:
                self._fetch()
            return self._token

    def _fetch(self) -> None:
        try:
            asked = token_request(self._credentials, time.time(), rsa_signature)
            request = urllib.request.Request(  # noqa: S310 - of the user's own credentials
                asked.url, data=asked.body, headers=dict(asked.headers)
            )
            with urllib.request.urlopen(request, timeout=_PATIENCE_S) as answer:  # noqa: S310
                told = json.loads(answer.read(_MOST_BYTES))
            self._token = str(told["access_token"])
            self._until = time.monotonic() + float(told["expires_in"]) - _EARLY_S
        except urllib.error.HTTPError as error:
            with error:
                raise OSError(f"Google gives no token: {error.code}") from None
        except (ValueError, KeyError, TypeError, ImportError):
            raise OSError("Google gives no token") from None


def rsa_signature(key: str, text: bytes) -> bytes:
    """Sign with the private key of a service account."""
    from cryptography.hazmat.primitives import hashes, serialization  # noqa: PLC0415 - slow
    from cryptography.hazmat.primitives.asymmetric import padding, rsa  # noqa: PLC0415 - slow

    loaded = serialization.load_pem_private_key(key.encode(), None)
    if not isinstance(loaded, rsa.RSAPrivateKey):
        raise TypeError("not an RSA key")
    return loaded.sign(text, padding.PKCS1v15(), hashes.SHA256())


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
