"""Which provider a cloud has. Nothing of a cloud is imported before it is used.

A provider of another package is an entry point of the group `trainway.providers`, under the name of
its cloud.
"""

from collections.abc import Mapping
from importlib import import_module
from importlib.metadata import entry_points
from typing import Final, cast

from trainway.errors import NotFoundError, UnavailableError
from trainway.providers.base import Provider

GROUP: Final = "trainway.providers"
BUILTIN: Final[Mapping[str, str]] = {
    "aws": "trainway.providers.aws.provider:AwsProvider",
    "azure": "trainway.providers.azure.provider:AzureProvider",
    "gcp": "trainway.providers.gcp.provider:GcpProvider",
    "lambda": "trainway.providers.lambda_cloud.provider:LambdaProvider",
    "runpod": "trainway.providers.runpod.provider:RunpodProvider",
}
"""Those that come with Trainway, as `module:Class`."""


def names() -> list[str]:
    """The clouds on which machines can be rented."""
    return sorted({*BUILTIN, *(entry.name for entry in entry_points(group=GROUP))})


def provider(cloud: str) -> Provider:
    """The provider of a cloud; raises that there is none, or what must be installed for it."""
    where = BUILTIN.get(cloud)
    if where is None:
        return _installed(cloud)
    module, _, name = where.partition(":")
    try:
        found = getattr(import_module(module), name)()
    except ModuleNotFoundError as error:
        raise UnavailableError(
            f"the cloud {cloud} needs the package {error.name}, which is not installed",
            hint=f"pip install 'trainway[{cloud}]'",
        ) from error
    return cast("Provider", found)


def _installed(cloud: str) -> Provider:
    for entry in entry_points(group=GROUP):
        if entry.name == cloud:
            return cast("Provider", entry.load()())
    raise NotFoundError(
        f"there is no provider for the cloud {cloud!r}", hint=f"clouds: {', '.join(names())}"
    )
