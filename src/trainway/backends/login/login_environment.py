"""What ssh finds in its environment when we start it: the ssh-agent that was lent last.

The command line points the link (`trainway.sdk.ssh_agent`). Without it the server's own agent
counts.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

VARIABLE: Final = "SSH_AUTH_SOCK"
LINK: Final = "ssh-agent.sock"


def login_environment(home: Path, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The server's environment, with the agent that was lent."""
    link = home / LINK
    if environ.get(VARIABLE) and not link.is_symlink():
        return dict(environ)
    return {**environ, VARIABLE: str(link)}
