"""The module that speaks to clusters, imported when it is needed: its packages are an extra."""

from typing import Any

from trainway.errors import UnavailableError


def cluster_module() -> Any:
    """The module; an UnavailableError says what has to be installed for it."""
    try:
        from trainway.backends.kubernetes import cluster  # noqa: PLC0415 - may not be installed
    except ImportError as error:
        raise UnavailableError(
            f"clusters need the package {error.name}, which is not installed",
            hint="pip install 'trainway[kubernetes]'",
        ) from error
    return cluster
