"""What may be wanted of a job and is not done yet."""

from typing import Final

CANCEL: Final = "cancel"
DELETE: Final = "delete"
"""A cancel after which the job is forgotten."""
DEADLINE: Final = "deadline"
"""A cancel that counts as failure."""
SUSPEND: Final = "suspend"
BEGIN_SUSPENDED: Final = "begin-suspended"
RESUME: Final = "resume"

ENDING: Final = (CANCEL, DELETE, DEADLINE)
