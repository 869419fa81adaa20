"""What an error of AWS means: what is wrong, and how much of it must not be tried again.

Codes are those of the EC2 API and of the classes of botocore. One that is not in the table blocks
the zone: that is wrong at worst for a moment, and never stops a launch that could go on elsewhere.
"""

from collections.abc import Mapping
from typing import Final

from trainway.providers.errors import Meaning, ProviderError, Scope, Trouble
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
    UNKNOWN,
    WRONG,
    WRONG_HERE,
    WRONG_IN_ZONE,
)

CODES: Final[Mapping[str, Meaning]] = {
    "InsufficientInstanceCapacity": NO_ROOM,
    "InsufficientHostCapacity": NO_ROOM,
    "InsufficientReservedInstanceCapacity": NO_ROOM,
    "InsufficientCapacityOnHost": NO_ROOM,
    "InsufficientCapacity": NO_ROOM,
    "InsufficientAddressCapacity": NO_ROOM,
    "InsufficientFreeAddressesInSubnet": NO_ROOM,
    "ReservationCapacityExceeded": NO_ROOM,
    "Unsupported": NO_ROOM,
    "UnfulfillableCapacity": NO_SPOT_ROOM,
    "SpotMaxPriceTooLow": NO_SPOT_ROOM,
    "VcpuLimitExceeded": QUOTA,
    "InstanceLimitExceeded": QUOTA,
    "VolumeLimitExceeded": QUOTA,
    "MaxIOPSLimitExceeded": QUOTA,
    "AddressLimitExceeded": QUOTA,
    "SecurityGroupLimitExceeded": QUOTA,
    "VpcLimitExceeded": QUOTA,
    "MaxSpotInstanceCountExceeded": Meaning(Trouble.QUOTA, Scope.REGION, spot_only=True),
    "RequestLimitExceeded": THROTTLED,
    "Throttling": THROTTLED,
    "ThrottlingException": THROTTLED,
    "InstanceCreditThrottled": THROTTLED,
    "ResourceCountExceeded": THROTTLED,
    "AuthFailure": CREDENTIALS,
    "ExpiredToken": CREDENTIALS,
    "ExpiredTokenException": CREDENTIALS,
    "RequestExpired": CREDENTIALS,
    "InvalidClientTokenId": CREDENTIALS,
    "UnrecognizedClientException": CREDENTIALS,
    "SignatureDoesNotMatch": CREDENTIALS,
    "MissingAuthenticationToken": CREDENTIALS,
    "NoCredentialsError": CREDENTIALS,
    "PartialCredentialsError": CREDENTIALS,
    "CredentialRetrievalError": CREDENTIALS,
    "TokenRetrievalError": CREDENTIALS,
    "SSOTokenLoadError": CREDENTIALS,
    "UnauthorizedSSOTokenError": CREDENTIALS,
    "ProfileNotFound": CREDENTIALS,
    "UnauthorizedOperation": DENIED,
    "AccessDenied": DENIED,
    "AccessDeniedException": DENIED,
    "Blocked": DENIED,
    "PendingVerification": DENIED_HERE,
    "OptInRequired": DENIED_HERE,
    "InvalidInstanceType": WRONG_HERE,
    "InvalidSubnetID.NotFound": WRONG_HERE,
    "InvalidGroup.NotFound": WRONG_HERE,
    "InvalidKeyPair.NotFound": WRONG_HERE,
    "InvalidVpcID.NotFound": WRONG_HERE,
    "InvalidCapacityReservationId.NotFound": WRONG_HERE,
    "VPCIdNotSpecified": WRONG_HERE,
    "InvalidBlockDeviceMapping": WRONG_HERE,
    "InvalidParameterValue": WRONG_HERE,
    "InvalidParameterCombination": WRONG_HERE,
    "ParamValidationError": WRONG,
    "MalformedQueryString": WRONG,
    "IdempotentParameterMismatch": WRONG,
    "UnsupportedOperation": WRONG_IN_ZONE,
    "DependencyViolation": BUSY,
    "InvalidPlacementGroup.InUse": BUSY,
    "IncorrectInstanceState": BUSY,
    "InternalError": SILENT,
    "InternalFailure": SILENT,
    "ServiceUnavailable": SILENT,
    "Unavailable": SILENT,
    "EndpointConnectionError": SILENT,
    "ConnectTimeoutError": SILENT,
    "ReadTimeoutError": SILENT,
    "ConnectionClosedError": SILENT,
    "ProxyConnectionError": SILENT,
    "ResponseParserError": SILENT,
    "HTTPClientError": SILENT,
}
FAMILIES: Final[Mapping[str, Meaning]] = {
    "InvalidAMIID": WRONG_HERE,
    "InsufficientInstanceCapacity": NO_ROOM,
    "InvalidSpot": Meaning(Trouble.INVALID, Scope.REGION, spot_only=True),
}
"""What codes begin with."""
HINTS: Final[Mapping[Trouble, str]] = {
    Trouble.CREDENTIALS: "AWS credentials are looked for in AWS_ACCESS_KEY_ID and AWS_PROFILE, in "
    "~/.aws/credentials and ~/.aws/config (also `aws sso login`), and in the role of the machine; "
    "`aws sts get-caller-identity` shows what is found",
    Trouble.QUOTA: "ask for more in the AWS console under Service Quotas, or name another region",
    Trouble.DENIED: "docs/cloud-providers.md has the policy that Trainway needs",
}
GONE: Final = "InvalidInstanceID.NotFound"


def meaning(code: str) -> Meaning:
    """What an error of this code says."""
    if code in CODES:
        return CODES[code]
    for beginning, found in FAMILIES.items():
        if code.startswith(beginning):
            return found
    return UNKNOWN


class AwsError(ProviderError):
    """An error of AWS, with its code."""

    def __init__(self, code: str, message: str, hint: str = "") -> None:
        found = meaning(code)
        super().__init__(
            f"AWS: {message.partition(chr(10))[0].rstrip('.: ')} ({code})",
            trouble=found.trouble,
            scope=found.scope,
            spot_only=found.spot_only,
            hint=hint or HINTS.get(found.trouble, ""),
        )
        self.aws_code = code
