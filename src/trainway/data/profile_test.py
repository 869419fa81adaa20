from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from trainway.data.profile import (
    az_config,
    check_address,
    gs_config,
    r2_config,
    s3_config,
    s3_keys,
)
from trainway.data.signature import Keys
from trainway.errors import UsageError

KEYS = "[default]\naws_access_key_id = A\naws_secret_access_key = B\n[lab]\naws_access_key_id = C\n"
CONFIG = (
    "[profile lab]\nregion = eu-1\nendpoint_url = https://lab\n[profile sso]\nsso_session = x\n"
)
NO_FILES: Mapping[str, str] = {}


@dataclass(frozen=True)
class Case:
    name: str
    environment: Mapping[str, str]
    files: Mapping[str, str] = field(default_factory=dict)
    found: Mapping[str, str] = field(default_factory=dict)


@pytest.mark.parametrize(
    "case",
    [
        Case("nothing: obstore asks for the role of the instance", {}),
        Case("variables are obstore's", {"AWS_ACCESS_KEY_ID": "K"}, {"/h/.aws/credentials": KEYS}),
        Case(
            "the default profile",
            {},
            {"/h/.aws/credentials": KEYS},
            {"aws_access_key_id": "A", "aws_secret_access_key": "B"},
        ),
        Case(
            "a named profile, even with variables",
            {"AWS_PROFILE": "lab", "AWS_ACCESS_KEY_ID": "K"},
            {"/h/.aws/credentials": KEYS, "/h/.aws/config": CONFIG},
            {"aws_access_key_id": "C", "aws_endpoint": "https://lab", "aws_region": "eu-1"},
        ),
        Case(
            "variables for the endpoint, and other files",
            {"AWS_ENDPOINT_URL": "http://e", "AWS_REGION": "r", "AWS_SHARED_CREDENTIALS_FILE": "k"},
            {"k": KEYS},
            {
                "aws_access_key_id": "A", "aws_secret_access_key": "B",
                "aws_endpoint": "http://e", "aws_region": "r",
            },
        ),
    ],
    ids=lambda case: case.name,
)  # fmt: skip
def test_s3_is_asked_with_what_people_have(case: Case) -> None:
    assert s3_config(case.environment, "/h", case.files.get) == case.found


@pytest.mark.parametrize(
    ("profile", "files", "said"),
    [
        ("other", {"/h/.aws/credentials": KEYS}, "no profile 'other'"),
        ("sso", {"/h/.aws/config": CONFIG}, "signs in another way"),
        ("lab", {"/h/.aws/credentials": "no section"}, "can be read"),
    ],
)
def test_a_profile_without_keys_is_refused(
    profile: str, files: Mapping[str, str], said: str
) -> None:
    with pytest.raises(UsageError) as raised:
        s3_config({"AWS_PROFILE": profile}, "/h", files.get)

    assert said in raised.value.message


def test_r2_is_asked_with_its_own_files_or_variables() -> None:
    section = "[r2]\naws_access_key_id = A\naws_secret_access_key = B\n"
    files = {"/h/.cloudflare/accountid": "acc\n", "/h/.cloudflare/r2.credentials": section}
    variables = {
        "R2_ENDPOINT_URL": "http://e",
        "R2_ACCESS_KEY_ID": "A",
        "R2_SECRET_ACCESS_KEY": "B",
    }

    by_files = r2_config({}, "/h", files.get)
    by_variables = r2_config(variables, "/h", NO_FILES.get)

    assert by_files.pop("aws_endpoint") == "https://acc.r2.cloudflarestorage.com"
    assert by_variables.pop("aws_endpoint") == "http://e"
    assert by_files == by_variables
    assert by_files["aws_access_key_id"] == "A"


@pytest.mark.parametrize(("variables", "said"), [({}, "account"), ({"R2_ACCOUNT_ID": "a"}, "keys")])
def test_r2_says_what_is_missing(variables: Mapping[str, str], said: str) -> None:
    with pytest.raises(UsageError) as raised:
        r2_config(variables, "/h", NO_FILES.get)

    assert said.replace("keys", "credentials") in raised.value.message


@pytest.mark.parametrize(
    ("environment", "found"),
    [
        ({}, {}),
        ({"GOOGLE_BASE_URL": "https://gcs"}, {"google_base_url": "https://gcs"}),
        (
            {"STORAGE_EMULATOR_HOST": "localhost:4443", "GOOGLE_BASE_URL": "https://gcs"},
            {"google_base_url": "http://localhost:4443", "google_bearer_token": "emulator"},
        ),
        (
            {"STORAGE_EMULATOR_HOST": "https://host:1/"},
            {"google_base_url": "https://host:1", "google_bearer_token": "emulator"},
        ),
    ],
    ids=str,
)
def test_where_google_is_asked(environment: dict[str, str], found: dict[str, str]) -> None:
    assert gs_config(environment) == found


def test_where_azure_is_asked() -> None:
    assert az_config({}) == {}
    assert az_config({"AZURE_ENDPOINT": "http://a"}) == {"azure_storage_endpoint": "http://a"}


VARIABLES = {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "s", "AWS_SESSION_TOKEN": "t"}
PROFILE = {"aws_access_key_id": "b", "aws_secret_access_key": "c", "aws_region": "here"}


@pytest.mark.parametrize(
    ("environment", "config", "found"),
    [
        ({}, {}, None),
        (VARIABLES, {}, Keys("a", "s", "t")),
        (VARIABLES, PROFILE, Keys("b", "c", "", "here")),
        ({**VARIABLES, "AWS_SERVER_SIDE_ENCRYPTION": "aws:kms"}, PROFILE, None),
        ({**VARIABLES, "AWS_SKIP_SIGNATURE": "true"}, {}, None),
        ({"AWS_ACCESS_KEY_ID": "a"}, {}, None),
    ],
)
def test_with_which_keys_requests_of_our_own_are_signed(
    environment: dict[str, str], config: dict[str, str], found: Keys | None
) -> None:
    assert s3_keys(environment, config) == found


@pytest.mark.parametrize(
    "address",
    ["http://127.0.0.1:9000", "https://s3.example.org/below/", "http://[::1]:80", "http://a_b"],
)
def test_an_address_of_a_store(address: str) -> None:
    check_address("s3", address)


@pytest.mark.parametrize(
    "address",
    [
        "minio:9000",
        "nonsense",
        "http://",
        "http://no sense",
        "http://a:99999",
        "http://[::1",
        "ftp://a",
    ],
)
def test_what_is_no_address_is_refused_with_the_setting_and_without_the_value(address: str) -> None:
    with pytest.raises(UsageError, match=r"^the endpoint of s3:// is not an address$") as caught:
        check_address("s3", address)
    assert "AWS_ENDPOINT_URL" in str(caught.value.hint)
