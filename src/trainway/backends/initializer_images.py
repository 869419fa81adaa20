"""The capability of a backend to name the images that fetch data and models for a job."""

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

from trainway.backends.base import Backend


@runtime_checkable
class NamesInitializers(Protocol):
    """Runs initializers as images, which somebody may have chosen."""

    def initializer_images(self) -> Mapping[str, str]:
        """The images that take the place of upstream's, by the step that they do."""
        ...


def initializer_images(backend: Backend) -> Mapping[str, str]:
    """Those that were chosen for a backend."""
    return backend.initializer_images() if isinstance(backend, NamesInitializers) else {}
