"""What rclone calls the stores of a task, for those who hand over keys and those who use them."""

from typing import Final

TYPES: Final = {"s3": "s3", "r2": "s3", "gs": "google cloud storage", "az": "azureblob"}
"""The kind of the store of each scheme."""
PREFIX: Final = "RCLONE_CONFIG_"
"""What variables begin with that tell rclone of a store."""


def remote_name(scheme: str) -> str:
    """The name of the store of a scheme."""
    return f"trainway{scheme}"


def rclone_prefix(scheme: str) -> str:
    """What the variables begin with that tell rclone of it."""
    return f"{PREFIX}{remote_name(scheme).upper()}_"
