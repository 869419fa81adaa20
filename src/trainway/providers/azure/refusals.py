"""What an error of Azure means: what is wrong, and how much of it must not be tried again. Pure."""

from collections.abc import Mapping
from typing import Any, Final

from trainway.providers.errors import Meaning, Scope, Trouble
from trainway.providers.web_api import Complaint, status_meaning

NO_ROOM: Final = Meaning(Trouble.CAPACITY, Scope.ZONE)
NO_SPOT: Final = Meaning(Trouble.INVALID, Scope.CLOUD, spot_only=True)
QUOTA: Final = Meaning(Trouble.QUOTA, Scope.REGION)
THROTTLED: Final = Meaning(Trouble.THROTTLED, Scope.NONE)
CREDENTIALS: Final = Meaning(Trouble.CREDENTIALS, Scope.CLOUD)
DENIED: Final = Meaning(Trouble.DENIED, Scope.CLOUD)
WRONG_HERE: Final = Meaning(Trouble.INVALID, Scope.REGION)
NOT_THIS_REGION: Final = Meaning(Trouble.DENIED, Scope.REGION)
BUSY: Final = Meaning(Trouble.OTHER, Scope.NONE)
SILENT: Final = Meaning(Trouble.UNREACHABLE, Scope.NONE)

CODES: Final[Mapping[str, Meaning]] = {
    "SkuNotAvailable": NO_ROOM,
    "AllocationFailed": NO_ROOM,
    "ZonalAllocationFailed": NO_ROOM,
    "OverconstrainedAllocationRequest": NO_ROOM,
    "OverconstrainedZonalAllocationRequest": NO_ROOM,
    "CapacityReservationAllocationFailed": NO_ROOM,
    "AllocationTimeout": NO_ROOM,
    "SpotPriceGreaterThanProvidedMaxPrice": Meaning(Trouble.CAPACITY, Scope.ZONE, spot_only=True),
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
    "RequestDisallowedByPolicy": NOT_THIS_REGION,
    "LocationNotAvailableForResourceGroup": NOT_THIS_REGION,
    "LocationNotAvailableForResourceType": NOT_THIS_REGION,
    "NoRegisteredProviderFound": NOT_THIS_REGION,
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
        meaning = QUOTA if is_quota else Meaning(Trouble.INVALID, Scope.ZONE)
    if status == 429:
        meaning = THROTTLED
    trouble = (meaning or status_meaning(status)).trouble
    hint = REGISTER if code.endswith("Registration") else HINTS.get(trouble, "")
    line = message.strip().partition("\n")[0].rstrip(". \r")
    return Complaint(f"{line} ({code})" if code else line, meaning, hint, code)
