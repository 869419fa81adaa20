"""Credentials of object stores where people keep them: variables, and the files of profiles.

obstore reads variables and asks for the role of the instance by itself. The files of the AWS
command line it does not read, nor those of R2; they are read here. What is found is passed on, and
never printed.
"""

import configparser
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Final
from urllib.parse import urlsplit

from trainway.data.signature import Keys
from trainway.errors import UsageError

ReadText = Callable[[str], str | None]
"""Gives the text of a file; None: there is none."""
_KEYS: Final = ("aws_access_key_id", "aws_secret_access_key", "aws_session_token")
_MORE_THAN_KEYS: Final = (
    "AWS_SKIP_SIGNATURE", "AWS_SERVER_SIDE_ENCRYPTION", "AWS_SSE_KMS_KEY_ID",
    "AWS_SSE_CUSTOMER_KEY_BASE64", "AWS_SSE_BUCKET_KEY_ENABLED", "AWS_REQUEST_PAYER",
    "AWS_S3_EXPRESS", "AWS_CHECKSUM_ALGORITHM", "AWS_UNSIGNED_PAYLOAD",
)  # fmt: skip
_NOT_OF_R2: Final = {
    "AWS_SKIP_SIGNATURE": "false",
    "AWS_VIRTUAL_HOSTED_STYLE_REQUEST": "false",
    "AWS_S3_EXPRESS": "false",
    "AWS_REQUEST_PAYER": "false",
}
"""What obstore adds of the variables of AWS, and what it is told instead where one is set."""
HIDDEN_FROM_R2: Final = (
    "AWS_SERVER_SIDE_ENCRYPTION", "AWS_SSE_KMS_KEY_ID", "AWS_SSE_CUSTOMER_KEY_BASE64",
    "AWS_SSE_BUCKET_KEY_ENABLED", "AWS_CHECKSUM_ALGORITHM",
)  # fmt: skip
"""What obstore adds as well, and cannot be told to leave out."""
SERVICE_ENDPOINT: Final = "aws_endpoint_url_s3"
"""A setting that only newer versions of obstore know; those prefer it to any other endpoint."""
_SIGN_IN: Final = ("sso_session", "sso_start_url", "role_arn", "credential_process")
_R2: Final = "r2"
_ENDPOINTS: Final = {
    "s3": "AWS_ENDPOINT_URL (or endpoint_url of the profile)",
    "gs": "STORAGE_EMULATOR_HOST",
    "az": "AZURE_STORAGE_ENDPOINT",
    "r2": "R2_ENDPOINT_URL",
}
_NOT_IN_URLS: Final = ' \t\r\n"<>\\^`{|}'


def s3_config(environment: Mapping[str, str], home: str, read: ReadText) -> dict[str, str]:
    """What S3 is asked with, beyond what obstore finds itself."""
    found: dict[str, str] = {}
    endpoint = environment.get("AWS_ENDPOINT_URL_S3") or environment.get("AWS_ENDPOINT_URL")
    region = environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION")
    chosen = environment.get("AWS_PROFILE")
    if chosen or not environment.get("AWS_ACCESS_KEY_ID"):
        profile = _profile(environment, home, read, chosen or "default")
        if chosen and not profile:
            raise UsageError(
                f"there is no profile {chosen!r} of AWS",
                hint="see AWS_PROFILE, and ~/.aws/credentials and ~/.aws/config",
            )
        found |= {key: profile[key] for key in _KEYS if key in profile}
        if chosen and "aws_access_key_id" not in found and any(map(profile.get, _SIGN_IN)):
            raise UsageError(
                f"the profile {chosen!r} of AWS has no keys: it signs in another way",
                hint='eval "$(aws configure export-credentials --format env)" gives you some',
            )
        endpoint = endpoint or profile.get("endpoint_url")
        region = region or profile.get("region")
    if endpoint:
        found["aws_endpoint"] = endpoint
    if region:
        found["aws_region"] = region
    return found


def s3_keys(environment: Mapping[str, str], config: Mapping[str, str]) -> Keys | None:
    """The keys that requests of our own are signed with.

    None: obstore finds others, or is told of more than keys, which only it knows how to ask for.
    """
    if any(environment.get(name) for name in _MORE_THAN_KEYS):
        return None
    source = config if "aws_access_key_id" in config else _lower(environment)
    access, secret = source.get("aws_access_key_id"), source.get("aws_secret_access_key")
    if not access or not secret:
        return None
    token = source.get("aws_session_token") or ""
    return Keys(access, secret, token, config.get("aws_region") or "us-east-1")


@dataclass(frozen=True)
class KnownCredential:
    """Keys that were found here, as obstore asks for them.

    It gets them as a whole, since it completes single ones with what the environment has of others:
    a session token of AWS would go to R2.
    """

    access: str
    secret: str = field(repr=False)
    token: str | None = field(repr=False)

    def __call__(self) -> dict[str, str | None]:
        """The keys; they do not expire as long as a program runs."""
        return {
            "access_key_id": self.access,
            "secret_access_key": self.secret,
            "token": self.token,
            "expires_at": None,
        }


def known_credential(config: Mapping[str, str]) -> KnownCredential | None:
    """The keys that were found here; None: obstore finds others itself."""
    access, secret, token = (config.get(key) for key in _KEYS)
    if not access and not secret:
        return None
    if not access or not secret:
        given, missing = _KEYS[:2] if access else (_KEYS[1], _KEYS[0])
        raise UsageError(
            f"the profile of AWS has {given}, but no {missing}",
            hint="see AWS_PROFILE, and ~/.aws/credentials and ~/.aws/config",
        )
    return KnownCredential(access, secret, token or None)


def without_keys(config: Mapping[str, str]) -> dict[str, str]:
    """The settings that are no keys."""
    return {name: value for name, value in config.items() if name not in _KEYS}


def check_address(scheme: str, address: str) -> None:
    """Refuse what is no address of a store: obstore ends with a traceback of its own there."""
    try:
        parts = urlsplit(address)
        is_right = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError:
        is_right = False
    if not is_right or not address.isascii() or any(letter in _NOT_IN_URLS for letter in address):
        raise UsageError(
            f"the endpoint of {scheme}:// is not an address",
            hint=f"{_ENDPOINTS[scheme]} needs one such as http://127.0.0.1:9000",
        )


def _lower(environment: Mapping[str, str]) -> dict[str, str]:
    return {key: environment.get(key.upper(), "") for key in _KEYS}


def gs_config(environment: Mapping[str, str]) -> dict[str, str]:
    """What Google is asked with: where its emulator is, as Google's own libraries find it."""
    host = environment.get("STORAGE_EMULATOR_HOST")
    if not host:
        base = environment.get("GOOGLE_BASE_URL")
        return {"google_base_url": base} if base else {}
    address = host if "://" in host else f"http://{host}"
    return {"google_base_url": address.rstrip("/"), "google_bearer_token": "emulator"}


def az_config(environment: Mapping[str, str]) -> dict[str, str]:
    """Where Azure is asked, if somebody says so; the emulator's variables obstore reads itself."""
    endpoint = environment.get("AZURE_STORAGE_ENDPOINT") or environment.get("AZURE_ENDPOINT")
    return {"azure_storage_endpoint": endpoint} if endpoint else {}


def r2_config(environment: Mapping[str, str], home: str, read: ReadText) -> dict[str, str]:
    """What R2 is asked with: its own variables, or the files that SkyPilot has for it."""
    folder = PurePosixPath(home, ".cloudflare")
    account = environment.get("R2_ACCOUNT_ID") or (read(str(folder / "accountid")) or "").strip()
    endpoint = environment.get("R2_ENDPOINT_URL")
    if not endpoint and not account:
        raise UsageError(
            "R2 needs the id of your account",
            hint="set R2_ACCOUNT_ID, or write it into ~/.cloudflare/accountid",
        )
    keys = {
        "aws_access_key_id": environment.get("R2_ACCESS_KEY_ID", ""),
        "aws_secret_access_key": environment.get("R2_SECRET_ACCESS_KEY", ""),
    }
    if not all(keys.values()):
        profile = _section(read(str(folder / "r2.credentials")), _R2, "r2.credentials")
        keys = {key: profile.get(key, "") for key in keys}
    if not all(keys.values()):
        raise UsageError(
            "there are no credentials of R2",
            hint="set R2_ACCESS_KEY_ID and R2_SECRET_ACCESS_KEY, or write a profile [r2] into"
            " ~/.cloudflare/r2.credentials",
        )
    made = endpoint or f"https://{account}.r2.cloudflarestorage.com"
    others = {**_NOT_OF_R2, SERVICE_ENDPOINT.upper(): made}
    told = {name.lower(): value for name, value in others.items() if name in environment}
    return {**keys, **told, "aws_endpoint": made, "aws_region": "auto"}


def _profile(
    environment: Mapping[str, str], home: str, read: ReadText, name: str
) -> dict[str, str]:
    folder = PurePosixPath(home, ".aws")
    config = environment.get("AWS_CONFIG_FILE") or str(folder / "config")
    keys = environment.get("AWS_SHARED_CREDENTIALS_FILE") or str(folder / "credentials")
    section = name if name == "default" else f"profile {name}"
    return {
        **_section(read(config), section, config),
        **_section(read(keys), name, keys),
    }


def _section(text: str | None, name: str, file: str) -> dict[str, str]:
    parser = configparser.RawConfigParser()
    try:
        parser.read_string(text or "")
    except configparser.Error:
        raise UsageError(f"{file} is not a file of profiles that can be read") from None
    return dict(parser[name]) if parser.has_section(name) else {}
