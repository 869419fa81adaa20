"""Where the dashboard is."""

from typing import Final

ROOT: Final = "/dashboard/"
LOGIN: Final = f"{ROOT}login"
LOGOUT: Final = f"{ROOT}logout"
SESSION: Final = f"{ROOT}session"
EVENTS: Final = f"{ROOT}events"
DATA: Final = (SESSION, EVENTS, LOGOUT)
"""What is no page, and only for who is logged in."""


def local_goal(path: str) -> str:
    """A place in the dashboard to go to; anything else is its first page."""
    is_local = path.startswith(ROOT) and "\\" not in path and path.isprintable()
    return path if is_local and path != LOGIN else ROOT
