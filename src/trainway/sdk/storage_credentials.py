"""Credentials of whoever submits a job, as variables for the programs that bring its data.

They are looked for where `trainway data` looks, and given under two names: those that `trainway
data` reads on a host, and those of rclone. A role of the machine has no keys that could be handed
on: then the programs ask the machine that they run on. Nothing here is ever printed.
"""

from collections.abc import Mapping
from typing import Final

from trainway.api.task.storage_remote import TYPES, rclone_prefix
from trainway.data.profile import ReadText, r2_config, s3_config

_KEYS: Final = ("aws_access_key_id", "aws_secret_access_key", "aws_session_token")
_HUB: Final = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_ENDPOINT")
_AZURE: Final = {
    "AZURE_STORAGE_ACCOUNT_NAME": "ACCOUNT",
    "AZURE_STORAGE_ACCOUNT_KEY": "KEY",
    "AZURE_STORAGE_SAS_TOKEN": "",
}


def variables(
    scheme: str, environment: Mapping[str, str], home: str, read: ReadText
) -> dict[str, str]:
    """What programs on other machines need to reach the stores of a scheme as we do."""
    if scheme == "s3":
        return _s3(environment, home, read)
    if scheme == "r2":
        return _r2(environment, home, read)
    if scheme == "gs":
        return _google(environment, home, read)
    if scheme == "az":
        return _azure(environment)
    found = {name: environment[name] for name in _HUB if environment.get(name)}
    kept = environment.get("HF_TOKEN_PATH") or f"{home}/.cache/huggingface/token"
    token = "" if "HF_TOKEN" in found else (read(kept) or "").strip()
    return {**found, **({"HF_TOKEN": token} if token else {})}


def _s3(environment: Mapping[str, str], home: str, read: ReadText) -> dict[str, str]:
    config = s3_config(environment, home, read)
    given = {key: environment[key.upper()] for key in _KEYS if environment.get(key.upper())}
    keys: dict[str, str] = {key: config[key] for key in _KEYS if key in config} or given
    endpoint, region = config.get("aws_endpoint", ""), config.get("aws_region", "")
    own = {
        **{key.upper(): text for key, text in keys.items()},
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_REGION": region,
    }
    made = {"PROVIDER": "Other" if endpoint else "AWS", **_rclone_s3(keys, endpoint, region)}
    return _filled(own) | _prefixed("s3", made)


def _r2(environment: Mapping[str, str], home: str, read: ReadText) -> dict[str, str]:
    config = r2_config(environment, home, read)
    endpoint = config["aws_endpoint"]
    own = {
        "R2_ENDPOINT_URL": endpoint,
        "R2_ACCESS_KEY_ID": config["aws_access_key_id"],
        "R2_SECRET_ACCESS_KEY": config["aws_secret_access_key"],
    }
    made = {"PROVIDER": "Cloudflare", **_rclone_s3(config, endpoint, config["aws_region"])}
    return own | _prefixed("r2", made)


def _google(environment: Mapping[str, str], home: str, read: ReadText) -> dict[str, str]:
    usual = f"{home}/.config/gcloud/application_default_credentials.json"
    text = read(environment.get("GOOGLE_APPLICATION_CREDENTIALS") or usual) or ""
    is_account = '"service_account"' in text
    own = {"GOOGLE_SERVICE_ACCOUNT_KEY": text if is_account else ""}
    made = {
        "BUCKET_POLICY_ONLY": "true",
        "SERVICE_ACCOUNT_CREDENTIALS": text if is_account else "",
        "ENV_AUTH": "" if is_account else "true",
    }
    return _filled(own) | _prefixed("gs", made)


def _azure(environment: Mapping[str, str]) -> dict[str, str]:
    own = {name: environment.get(name, "") for name in _AZURE}
    made = {_AZURE[name]: text for name, text in own.items() if _AZURE[name]}
    made["ENV_AUTH"] = "" if made["KEY"] else "true"
    return _filled(own) | _prefixed("az", made)


def _rclone_s3(keys: Mapping[str, str], endpoint: str, region: str) -> dict[str, str]:
    names = {key: key.removeprefix("aws_").upper() for key in _KEYS}
    given = {names[key]: keys[key] for key in _KEYS if key in keys}
    return {
        **given,
        "ENDPOINT": endpoint,
        "REGION": region,
        "NO_CHECK_BUCKET": "true",
        "ENV_AUTH": "" if given else "true",
    }


def _prefixed(scheme: str, values: Mapping[str, str]) -> dict[str, str]:
    named = {"TYPE": TYPES[scheme], **values}
    return _filled({f"{rclone_prefix(scheme)}{name}": text for name, text in named.items()})


def _filled(values: Mapping[str, str]) -> dict[str, str]:
    return {name: text for name, text in values.items() if text}
