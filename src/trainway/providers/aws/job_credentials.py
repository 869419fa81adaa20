"""Credentials of AWS for jobs: tokens of STS that expire after an hour.

Programs of AWS ask the `credential_process` of their configuration, and ask again shortly before
what it said expires. Ours prints a file, which the server has replaced by then.
"""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from trainway.providers.base import JobCredentials
from trainway.providers.errors import ProviderError, Scope, Trouble

SETTING: Final = "job_credentials"
SESSION: Final = "session"
LIFETIME_S: Final = 3600
_CONFIG: Final = '[default]\ncredential_process = cat "{folder}/aws.json"\n'
_LONGEST_NAME: Final = 64


def request(wanted: str, cluster: str) -> tuple[str, dict[str, Any]]:
    """The operation of STS that gives them, and what it is asked."""
    if wanted == SESSION:
        return "get_session_token", {"DurationSeconds": LIFETIME_S}
    if not wanted.startswith("arn:") or ":role/" not in wanted:
        raise ProviderError(
            f"clouds.aws.{SETTING}: {wanted!r} is neither `{SESSION}` nor the ARN of a role",
            trouble=Trouble.INVALID,
            scope=Scope.CLOUD,
            hint="an ARN looks like arn:aws:iam::123456789012:role/training",
        )
    name = f"trainway-{cluster}"[:_LONGEST_NAME]
    named = {"RoleArn": wanted, "RoleSessionName": name}
    return "assume_role", {**named, "DurationSeconds": LIFETIME_S}


def credentials(answer: Mapping[str, Any]) -> JobCredentials:
    """What STS has answered, as files."""
    found: Mapping[str, Any] = answer["Credentials"]
    expires: datetime = found["Expiration"]
    told = {
        "Version": 1,
        "AccessKeyId": found["AccessKeyId"],
        "SecretAccessKey": found["SecretAccessKey"],
        "SessionToken": found["SessionToken"],
        "Expiration": expires.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    files = {"aws.json": json.dumps(told), "aws.config": _CONFIG}
    return JobCredentials(files, {"AWS_CONFIG_FILE": "aws.config"}, expires)
