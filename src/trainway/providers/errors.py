"""What goes wrong at a cloud, and how much of it must not be tried again."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from trainway.errors import UnavailableError


class Scope(StrEnum):
    """How far an error reaches, from narrow to wide."""

    NONE = "none"
    """Nothing is to be avoided: the same call may work in a moment."""
    ZONE = "zone"
    REGION = "region"
    INSTANCE_TYPE = "instance-type"
    """The type is of no use anywhere on that cloud."""
    CLOUD = "cloud"


class Trouble(StrEnum):
    """What is wrong."""

    CAPACITY = "capacity"
    QUOTA = "quota"
    THROTTLED = "throttled"
    CREDENTIALS = "credentials"
    DENIED = "denied"
    INVALID = "invalid"
    UNREACHABLE = "unreachable"
    OTHER = "other"


@dataclass(frozen=True)
class Meaning:
    """What a code of a cloud stands for."""

    trouble: Trouble
    scope: Scope
    spot_only: bool = False


class ProviderError(UnavailableError):
    """A cloud has refused, or did not answer."""

    code = "cloud"

    def __init__(
        self,
        message: str,
        *,
        trouble: Trouble,
        scope: Scope,
        spot_only: bool = False,
        of_accelerator: bool = False,
        hint: str = "",
    ) -> None:
        super().__init__(message, hint=hint)
        self.trouble = trouble
        self.scope = scope
        self.spot_only = spot_only
        """Whether it says nothing of machines on demand."""
        self.of_accelerator = of_accelerator
        """Whether it is about accelerators, whichever type of machine they are attached to."""


def not_ours(cloud: str, machines: Sequence[str]) -> ProviderError:
    """What is said of machines that do not carry our tag: they are left as they are."""
    return ProviderError(
        f"{cloud}: {', '.join(machines)}: not ended, since it was not made by Trainway",
        trouble=Trouble.INVALID,
        scope=Scope.NONE,
    )
