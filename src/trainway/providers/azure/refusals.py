"""What an error of Azure means: what is wrong, and how much of it must not be tried again. Pure."""

from collections.abc import Mapping
from typing import Any, Final

from trainway.providers.errors import Meaning, Scope, Trouble
from trainway.providers.meanings import (
    BUSY,
    CREDENTIALS,
    DENIED,
    DENIED_HERE,
    NO_ROOM,
    NO_SPOT_ROOM,
    QUOTA,
    SILENT,
    THROTTLED,
    WRONG_HERE,
    WRONG_IN_ZONE,
)
from trainway.providers.web_api import Complaint, status_meaning

NO_SPOT: Final = Meaning(Trouble.INVALID, Scope.CLOUD, spot_only=True)

CODES: Final[Mapping[str, Meaning]] = {
    "SkuNotAvailable": NO_ROOM,
    "AllocationFailed": NO_ROOM,
    "ZonalAllocationFailed": NO_ROOM,
    "OverconstrainedAllocationRequest": NO_ROOM,
    "OverconstrainedZonalAllocationRequest": NO_ROOM,
    "CapacityReservationAllocationFailed": NO_ROOM,
    "AllocationTimeout": NO_ROOM,
    "SpotPriceGreaterThanProvidedMaxPrice": NO_SPOT_ROOM,
    "AzureSpotFeatureNotEnabledForSubscription": NO_SPOT,
    "MaxPriceValueInvalid": NO_SPOT,
    "QuotaExceeded": QUOTA,
    "ResourceQuotaExceeded": QUOTA,
    "PublicIPCountLimitReached": QUOTA,
    "StandardSkuPublicIPCountLimitReached": QUOTA,
    "NetworkSecurityGroupCountLimitReached": QUOTA,
    "VirtualNetworkCountLimitReached": QUOTA,
    "TooManyRequests": THROTTLED,
    "SubscriptionRequestsThrottled": THROTTLED,
    "OperationThrottled": THROTTLED,
    "AuthenticationFailed": CREDENTIALS,
    "InvalidAuthenticationToken": CREDENTIALS,
    "InvalidAuthenticationTokenTenant": CREDENTIALS,
    "ExpiredAuthenticationToken": CREDENTIALS,
    "SubscriptionNotFound": CREDENTIALS,
    "InvalidSubscriptionId": CREDENTIALS,
    "AuthorizationFailed": DENIED,
    "LinkedAuthorizationFailed": DENIED,
    "ReadOnlyDisabledSubscription": DENIED,
    "MissingSubscriptionRegistration": DENIED,
    "SubscriptionNotRegistered": DENIED,
    "RequestDisallowedByPolicy": DENIED_HERE,
    "LocationNotAvailableForResourceGroup": DENIED_HERE,
    "LocationNotAvailableForResourceType": DENIED_HERE,
    "NoRegisteredProviderFound": DENIED_HERE,
    "InvalidParameter": WRONG_HERE,
    "ImageNotFound": WRONG_HERE,
    "PlatformImageNotFound": WRONG_HERE,
    "OSProvisioningTimedOut": WRONG_HERE,
    "AnotherOperationInProgress": BUSY,
    "ResourceGroupBeingDeleted": BUSY,
    "OperationPreempted": BUSY,
    "RetryableError": BUSY,
    "ScopeLocked": BUSY,
    "InternalServerError": SILENT,
    "InternalOperationError": SILENT,
    "InternalExecutionError": SILENT,
    "ServerTimeout": SILENT,
}
GONE: Final = frozenset({"ResourceNotFound", "ResourceGroupNotFound", "NotFound"})
AMBIGUOUS: Final = "OperationNotAllowed"
"""A quota that is used up, or something that a machine cannot do in its state."""
HINTS: Final[Mapping[Trouble, str]] = {
    Trouble.CREDENTIALS: "run `az login`, or set AZURE_CLIENT_ID, AZURE_TENANT_ID and "
    "AZURE_CLIENT_SECRET; AZURE_SUBSCRIPTION_ID says which subscription is meant",
    Trouble.QUOTA: "ask for more in the Azure portal under Quotas, or name another region",
    Trouble.DENIED: "docs/cloud-providers.md has the rights that Trainway needs",
}
REGISTER: Final = (
    "run `az provider register --namespace Microsoft.Compute`, and the same with Microsoft.Network"
)


def complaint(status: int, answer: Any) -> Complaint:
    """What the body of an error says."""
    error = answer.get("error") if isinstance(answer, dict) else None
    if not isinstance(error, dict):
        return Complaint("", hint=HINTS.get(status_meaning(status).trouble, ""))
    return told(status, str(error.get("code") or ""), str(error.get("message") or ""))


def told(status: int, code: str, message: str) -> Complaint:
    """What a code stands for, with the first line of its message."""
    meaning = CODES.get(code)
    if code == AMBIGUOUS:
        is_quota = "quota" in message.lower()
        meaning = QUOTA if is_quota else WRONG_IN_ZONE
    if status == 429:
        meaning = THROTTLED
    trouble = (meaning or status_meaning(status)).trouble
    hint = REGISTER if code.endswith("Registration") else HINTS.get(trouble, "")
    line = message.strip().partition("\n")[0].rstrip(". \r")
    return Complaint(f"{line} ({code})" if code else line, meaning, hint, code)
