"""Which ssh-agent the server's pools use: that of the shell that last used one.

The server and the agents of pools outlive the login that started them, and with it their ssh-agent.
So they are given a link in the home directory, and whoever has to do with hosts points it anew.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

VARIABLE: Final = "SSH_AUTH_SOCK"
LINK: Final = "ssh-agent.sock"


def lend(home: Path, environ: Mapping[str, str]) -> None:
    """Point the link at the agent of this shell, if it has one."""
    link, agent = home / LINK, environ.get(VARIABLE)
    if not agent or not home.is_dir() or agent == str(link):
        return
    try:
        if link.is_symlink() and str(link.readlink()) == agent:
            return
        fresh = link.with_name(f"{LINK}.{os.getpid()}")
        fresh.symlink_to(agent)
        fresh.replace(link)
    except OSError:  # another user's home: his agent is not ours to choose
        return
