"""Whether what talks to a Kubernetes cluster is installed."""

from importlib.util import find_spec
from typing import Final

from trainway.errors import UnavailableError

_PACKAGES: Final = ("aiohttp", "orjson")


def require_packages() -> None:
    """Say what to install if something is missing."""
    missing = [package for package in _PACKAGES if find_spec(package) is None]
    if missing:
        raise UnavailableError(
            f"to talk to a Kubernetes cluster, install {' and '.join(missing)}",
            hint="pip install 'trainway[kubernetes]'",
        )
