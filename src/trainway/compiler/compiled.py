"""What a front end hands back for one job."""

from dataclasses import dataclass, field
from typing import Any

from trainway.schema.field import FieldError


@dataclass(frozen=True, slots=True)
class Compiled:
    """The objects to create, in the order to create them, and what the author should know."""

    objects: list[dict[str, Any]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    errors: list[FieldError] = field(default_factory=list)
    """Why there are no objects, where the job is at fault."""
