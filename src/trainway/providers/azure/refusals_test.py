"""What errors of Azure mean."""

from dataclasses import dataclass

import pytest

from trainway.providers.azure.answers import failure
from trainway.providers.azure.refusals import complaint
from trainway.providers.azure.stand_in_testing import problem
from trainway.providers.errors import Scope, Trouble
from trainway.providers.web_api import RefusalError


@dataclass(frozen=True)
class Case:
    status: int
    code: str
    trouble: Trouble
    scope: Scope
    message: str = "no"


CASES = [
    Case(409, "SkuNotAvailable", Trouble.CAPACITY, Scope.ZONE),
    Case(409, "ZonalAllocationFailed", Trouble.CAPACITY, Scope.ZONE),
    Case(409, "AllocationFailed", Trouble.CAPACITY, Scope.ZONE),
    Case(409, "SpotPriceGreaterThanProvidedMaxPrice", Trouble.CAPACITY, Scope.ZONE),
    Case(409, "AzureSpotFeatureNotEnabledForSubscription", Trouble.INVALID, Scope.CLOUD),
    Case(409, "QuotaExceeded", Trouble.QUOTA, Scope.REGION),
    Case(409, "OperationNotAllowed", Trouble.QUOTA, Scope.REGION, "exceeding approved Cores quota"),
    Case(409, "OperationNotAllowed", Trouble.INVALID, Scope.ZONE, "the disk is not attached"),
    Case(429, "OperationNotAllowed", Trouble.THROTTLED, Scope.NONE, "too many requests"),
    Case(429, "", Trouble.THROTTLED, Scope.NONE),
    Case(401, "InvalidAuthenticationToken", Trouble.CREDENTIALS, Scope.CLOUD),
    Case(404, "SubscriptionNotFound", Trouble.CREDENTIALS, Scope.CLOUD),
    Case(403, "AuthorizationFailed", Trouble.DENIED, Scope.CLOUD),
    Case(409, "MissingSubscriptionRegistration", Trouble.DENIED, Scope.CLOUD),
    Case(403, "RequestDisallowedByPolicy", Trouble.DENIED, Scope.REGION),
    Case(409, "ResourceGroupBeingDeleted", Trouble.OTHER, Scope.NONE),
    Case(400, "InvalidParameter", Trouble.INVALID, Scope.REGION),
    Case(400, "SomethingNew", Trouble.INVALID, Scope.REGION),
    Case(503, "SomethingNew", Trouble.UNREACHABLE, Scope.NONE),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.status} {case.code}")
def test_a_code_says_what_not_to_try_again(case: Case) -> None:
    status, answer = problem(case.status, case.code, case.message)
    error = RefusalError("Azure", status, complaint(status, answer))
    assert (error.trouble, error.scope) == (case.trouble, case.scope)
    assert error.spot_only is ("Spot" in case.code)


def test_people_are_told_what_to_do() -> None:
    assert "az login" in complaint(401, None).hint
    assert (
        "az provider register" in complaint(*problem(409, "MissingSubscriptionRegistration")).hint
    )
    long = complaint(*problem(409, "AllocationFailed", "No room.\r\nMore at https://example.com"))
    assert long.message == "No room (AllocationFailed)"


def test_a_machine_that_failed_without_a_word_is_told_too() -> None:
    found = failure({"properties": {"provisioningState": "Failed"}})
    assert found is not None
    assert "does not say why" in found.message
    assert failure({"properties": {"provisioningState": "Succeeded"}}) is None
