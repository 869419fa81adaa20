"""Where the API is."""

from typing import Final

BASE_PATH: Final = "/api/v1"
