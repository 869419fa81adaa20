"""The time zone of this machine, by its name, which a schedule keeps when the clocks are put."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

_LINK: Final = Path("/etc/localtime")
_DATABASE: Final = "zoneinfo/"


def local_zone(environ: Mapping[str, str], link: Path = _LINK) -> str:
    """The name in TZ, or what /etc/localtime is a link to; UTC where neither names a zone."""
    from trainway.errors import UsageError  # noqa: PLC0415 - as below
    from trainway.schedule.moments import zone_of  # noqa: PLC0415 - only to create a schedule

    named = environ.get("TZ", "").removeprefix(":")
    if not named:
        try:
            named = str(link.readlink()).rpartition(_DATABASE)[2]
        except OSError:
            named = ""
    try:
        zone_of(named.removeprefix("posix/"))
    except UsageError:
        return "UTC"
    return named
