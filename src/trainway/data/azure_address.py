"""Addresses of blobs that say who asks: with the user's SAS token, or one of a key's own making.

obstore makes such addresses too, but signs a name with letters beyond ASCII, or with blanks, in a
form that Azure does not take. Pure: the time comes from outside.
"""

import base64
import binascii
import hmac
from collections.abc import Mapping
from datetime import datetime
from typing import Final, Literal
from urllib.parse import quote, urlencode

from trainway.data.profile import az_config

Method = Literal["GET", "PUT"]
PERMISSIONS: Final[Mapping[Method, str]] = {"GET": "r", "PUT": "w"}
_VERSION: Final = "2021-08-06"
_KEYS: Final = (
    "AZURE_STORAGE_ACCOUNT_KEY", "AZURE_STORAGE_ACCESS_KEY", "AZURE_STORAGE_MASTER_KEY",
)  # fmt: skip
_TOKENS: Final = ("AZURE_STORAGE_SAS_TOKEN", "AZURE_STORAGE_SAS_KEY")


def address(
    environment: Mapping[str, str], container: str, name: str, method: Method, until: datetime
) -> str:
    """The address of a blob for a request; empty: only obstore knows who asks."""
    account = environment.get("AZURE_STORAGE_ACCOUNT_NAME")
    base = az_config(environment).get("azure_storage_endpoint")
    if not base and account:
        base = f"https://{account}.blob.core.windows.net"
    key, token = _first(environment, _KEYS), _first(environment, _TOKENS).lstrip("?")
    if key and account:
        token = _token(account, key, f"{container}/{name}", PERMISSIONS[method], until)
    if not token or not base:
        return ""
    return f"{base.rstrip('/')}/{container}/{plain(name)}?{token}"


def plain(name: str) -> str:
    """A name as it stands in an address."""
    return quote(name, safe="/-_.~")


def _token(account: str, key: str, path: str, permissions: str, until: datetime) -> str:
    """A SAS token for one blob; empty: the key is none."""
    end = until.strftime("%Y-%m-%dT%H:%M:%SZ")
    resource = f"/blob/{account}/{path}"
    # Permissions, begin, end, what, policy, network, protocol, version, kind, seven without use.
    words = (permissions, "", end, resource, "", "", "", _VERSION, "b", *[""] * 7)
    try:
        secret = base64.b64decode(key, validate=True)
    except (binascii.Error, ValueError):
        return ""
    signed = base64.b64encode(hmac.digest(secret, "\n".join(words).encode(), "sha256")).decode()
    return urlencode({"sv": _VERSION, "sr": "b", "sp": permissions, "se": end, "sig": signed})


def _first(environment: Mapping[str, str], names: tuple[str, ...]) -> str:
    return next((environment[name] for name in names if environment.get(name)), "")
