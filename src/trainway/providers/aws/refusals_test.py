"""How far an error of AWS reaches."""

from dataclasses import dataclass

import pytest

from trainway.providers.aws.refusals import AwsError
from trainway.providers.errors import Scope, Trouble


@dataclass(frozen=True)
class Case:
    code: str
    trouble: Trouble
    scope: Scope
    spot_only: bool = False


CASES = [
    Case("InsufficientInstanceCapacity", Trouble.CAPACITY, Scope.ZONE),
    Case("Unsupported", Trouble.CAPACITY, Scope.ZONE),
    Case("SpotMaxPriceTooLow", Trouble.CAPACITY, Scope.ZONE, spot_only=True),
    Case("VcpuLimitExceeded", Trouble.QUOTA, Scope.REGION),
    Case("MaxSpotInstanceCountExceeded", Trouble.QUOTA, Scope.REGION, spot_only=True),
    Case("RequestLimitExceeded", Trouble.THROTTLED, Scope.NONE),
    Case("UnauthorizedOperation", Trouble.DENIED, Scope.CLOUD),
    Case("OptInRequired", Trouble.DENIED, Scope.REGION),
    Case("AuthFailure", Trouble.CREDENTIALS, Scope.CLOUD),
    Case("NoCredentialsError", Trouble.CREDENTIALS, Scope.CLOUD),
    Case("InvalidAMIID.NotFound", Trouble.INVALID, Scope.REGION),
    Case("InvalidAMIID.Malformed", Trouble.INVALID, Scope.REGION),
    Case("InvalidSpotInstanceRequestID.NotFound", Trouble.INVALID, Scope.REGION, spot_only=True),
    Case("InvalidInstanceType", Trouble.INVALID, Scope.REGION),
    Case("EndpointConnectionError", Trouble.UNREACHABLE, Scope.NONE),
    Case("DependencyViolation", Trouble.OTHER, Scope.NONE),
    Case("SomethingNew", Trouble.OTHER, Scope.ZONE),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.code)
def test_a_code_says_what_not_to_try_again(case: Case) -> None:
    error = AwsError(case.code, "No.")

    assert (error.trouble, error.scope, error.spot_only) == (
        case.trouble,
        case.scope,
        case.spot_only,
    )
    assert error.message == f"AWS: No ({case.code})"


def test_bad_credentials_say_where_they_are_looked_for() -> None:
    hint = AwsError("ExpiredToken", "The token is expired.").hint or ""

    for place in ("AWS_ACCESS_KEY_ID", "AWS_PROFILE", "~/.aws/credentials", "role of the machine"):
        assert place in hint


def test_a_page_of_a_proxy_is_one_line() -> None:
    error = AwsError("ResponseParserError", "Unable to parse response:\n<html>\n<body>")

    assert error.message == "AWS: Unable to parse response (ResponseParserError)"
