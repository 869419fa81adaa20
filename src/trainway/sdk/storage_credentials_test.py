"""Credentials for hosts: of whom, under which names, and nothing that is not there."""

from dataclasses import dataclass, field

import pytest

from trainway.sdk.storage_credentials import variables

S3, R2, GS, AZ = (f"RCLONE_CONFIG_TRAINWAY{name}_" for name in ("S3", "R2", "GS", "AZ"))


@dataclass(frozen=True)
class Case:
    name: str
    scheme: str
    expected: dict[str, str]
    environment: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)


ACCOUNT = '{"type": "service_account"}'
CASES = [
    Case(
        "keys of the environment",
        "s3",
        {
            "AWS_ACCESS_KEY_ID": "a",
            "AWS_SECRET_ACCESS_KEY": "s",
            "AWS_ENDPOINT_URL": "http://e",
            f"{S3}TYPE": "s3",
            f"{S3}PROVIDER": "Other",
            f"{S3}ACCESS_KEY_ID": "a",
            f"{S3}SECRET_ACCESS_KEY": "s",
            f"{S3}ENDPOINT": "http://e",
            f"{S3}NO_CHECK_BUCKET": "true",
        },
        {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "s", "AWS_ENDPOINT_URL": "http://e"},
    ),
    Case(
        "a profile",
        "s3",
        {
            "AWS_ACCESS_KEY_ID": "p",
            "AWS_SECRET_ACCESS_KEY": "q",
            "AWS_REGION": "eu-1",
            f"{S3}TYPE": "s3",
            f"{S3}PROVIDER": "AWS",
            f"{S3}ACCESS_KEY_ID": "p",
            f"{S3}SECRET_ACCESS_KEY": "q",
            f"{S3}REGION": "eu-1",
            f"{S3}NO_CHECK_BUCKET": "true",
        },
        {"AWS_PROFILE": "work", "AWS_ACCESS_KEY_ID": "not-this"},
        {
            "/me/.aws/credentials": "[work]\naws_access_key_id=p\naws_secret_access_key=q\n",
            "/me/.aws/config": "[profile work]\nregion=eu-1\n",
        },
    ),
    Case(
        "the role of the machine",
        "s3",
        {
            f"{S3}TYPE": "s3",
            f"{S3}PROVIDER": "AWS",
            f"{S3}NO_CHECK_BUCKET": "true",
            f"{S3}ENV_AUTH": "true",
        },
    ),
    Case(
        "R2",
        "r2",
        {
            "R2_ENDPOINT_URL": "https://acc.r2.cloudflarestorage.com",
            "R2_ACCESS_KEY_ID": "a",
            "R2_SECRET_ACCESS_KEY": "s",
            f"{R2}TYPE": "s3",
            f"{R2}PROVIDER": "Cloudflare",
            f"{R2}ACCESS_KEY_ID": "a",
            f"{R2}SECRET_ACCESS_KEY": "s",
            f"{R2}ENDPOINT": "https://acc.r2.cloudflarestorage.com",
            f"{R2}REGION": "auto",
            f"{R2}NO_CHECK_BUCKET": "true",
        },
        {"R2_ACCOUNT_ID": "acc", "R2_ACCESS_KEY_ID": "a", "R2_SECRET_ACCESS_KEY": "s"},
    ),
    Case(
        "a service account of Google",
        "gs",
        {
            "GOOGLE_SERVICE_ACCOUNT_KEY": ACCOUNT,
            f"{GS}TYPE": "google cloud storage",
            f"{GS}BUCKET_POLICY_ONLY": "true",
            f"{GS}SERVICE_ACCOUNT_CREDENTIALS": ACCOUNT,
        },
        {"GOOGLE_APPLICATION_CREDENTIALS": "/key.json"},
        {"/key.json": ACCOUNT},
    ),
    Case(
        "an account of Azure",
        "az",
        {
            "AZURE_STORAGE_ACCOUNT_NAME": "n",
            "AZURE_STORAGE_ACCOUNT_KEY": "k",
            f"{AZ}TYPE": "azureblob",
            f"{AZ}ACCOUNT": "n",
            f"{AZ}KEY": "k",
        },
        {"AZURE_STORAGE_ACCOUNT_NAME": "n", "AZURE_STORAGE_ACCOUNT_KEY": "k"},
    ),
    Case("no token of the hub", "hf", {}),
    Case(
        "a token of the hub in a file",
        "hf",
        {"HF_TOKEN": "t"},
        files={"/me/.cache/huggingface/token": "t\n"},
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_variables(case: Case) -> None:
    assert variables(case.scheme, case.environment, "/me", case.files.get) == case.expected
