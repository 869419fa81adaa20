"""Tokens of STS for jobs."""

import json
from datetime import UTC, datetime

import pytest

from trainway.providers.aws.job_credentials import credentials, request
from trainway.providers.errors import ProviderError

ROLE = "arn:aws:iam::123456789012:role/training"


def test_a_session_or_a_role_is_asked_for() -> None:
    assert request("session", "dev") == ("get_session_token", {"DurationSeconds": 3600})
    operation, asked = request(ROLE, "x" * 80)
    assert operation == "assume_role"
    assert asked["RoleArn"] == ROLE
    assert len(asked["RoleSessionName"]) == 64


@pytest.mark.parametrize("wanted", ["yes", "arn:aws:iam::1:user/me", "role/training"])
def test_anything_else_is_refused_with_an_example(wanted: str) -> None:
    with pytest.raises(ProviderError, match="neither `session` nor the ARN of a role") as caught:
        request(wanted, "dev")
    assert "arn:aws:iam::" in str(caught.value.hint)


def test_what_comes_is_what_programs_of_aws_ask_for_and_is_never_printed() -> None:
    secret = "s3cr3t"  # noqa: S105 - of a test
    expires = datetime(2026, 11, 18, 13, tzinfo=UTC)
    given = {"AccessKeyId": "ASIA1", "SecretAccessKey": secret, "SessionToken": secret}
    found = credentials({"Credentials": {**given, "Expiration": expires}})

    assert json.loads(found.files["aws.json"]) == {
        "Version": 1,
        **given,
        "Expiration": "2026-11-18T13:00:00Z",
    }
    assert found.variables == {"AWS_CONFIG_FILE": "aws.config"}
    assert found.expires == expires
    assert secret not in repr(found)
