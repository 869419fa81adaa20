"""What spot machines are told of being taken, and that they ask for it. Pure but for the asking."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from trainway.agent.transfer.frames import WatchNotices
    from trainway.json_types import Json

SETTING = "notices"
"""Where it stands in the settings of a host which cloud is asked; only spot machines have it."""
_MOST = 200
"""How long the words of a cloud may be."""


def watch(host: Any) -> None:
    """Have a host ask its cloud, if it is one that is told; said after each new connection."""
    asks = host.settings.get(SETTING)
    if asks:
        frame: WatchNotices = {
            "op": "watch_notices",
            "cloud": str(asks["cloud"]),
            "machine": str(asks.get("machine") or ""),
            "address": str(asks.get("address") or ""),
        }
        host.send(frame)


def heard(frame: Json) -> Json:
    """What a host says of its cloud, no longer than it need be."""
    told: Json = {key: str(frame.get(key) or "")[:_MOST] for key in ("at", "why")}
    return {**told, "risk": True} if frame.get("risk") else told
