"""What a new machine is told when it starts for the first time: who may log in, and when to go.

The text is in the format of cloud-init, which the images of all large clouds read. JSON is YAML, so
nothing in a key can end its string.
"""

import json
from typing import Any, Final

FIRST_CONTACT_S: Final = 3600
"""After so long a machine shuts down that no agent of ours has ever come to."""
_GUARD: Final = (
    "sleep {seconds}; for home in $(getent passwd | cut -d: -f6); do "
    '[ -e "$home/.trainway" ] && exit; done; shutdown -h now'
)


def user_data(public_key: str, *, host_key: str = "", may_shut_down: bool = False) -> str:
    """Let the owner of a key in, as the user that the image has for people.

    `host_key`: the private key by which the machine is known; empty: it makes some itself.
    `may_shut_down`: a machine whose server was gone before it came there shuts itself down, since
    there is no agent on it that could.
    """
    told: dict[str, Any] = {"ssh_authorized_keys": [public_key.strip()]}
    if host_key:
        told["ssh_keys"] = {"ed25519_private": host_key}
    if may_shut_down:
        told["runcmd"] = [["sh", "-c", f"({guard()}) >/dev/null 2>&1 &"]]
    return f"#cloud-config\n{json.dumps(told)}\n"


def guard(seconds: float = FIRST_CONTACT_S) -> str:
    """The lines of a shell that shut a machine down unless our agent is in somebody's home."""
    return _GUARD.format(seconds=seconds)
