"""The working directory of a cluster on this host, which lasts as long as the cluster.

Every task of the cluster runs there, so that one finds the files and the virtual environment that
the setup of another has made. It is also `~/sky_workdir`, as tasks know it, unless another cluster
or the user has something of that name already.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainway.agent.base.directory import Directory

CLUSTERS = "clusters"
NAME = "sky_workdir"
_ID = re.compile(r"[A-Za-z0-9][\w.-]{0,127}")


def is_cluster(identity: str) -> bool:
    """Whether that can be the id of a cluster, and so the name of a folder."""
    return _ID.fullmatch(identity) is not None


def path_of(home: Directory, cluster: str) -> str:
    """Where it is."""
    return home.join(CLUSTERS, cluster, NAME)


def link(path: str, user_home: str) -> None:
    """Have it under the name that tasks know, where that name is free."""
    known = os.path.join(user_home, NAME)
    with suppress(OSError):
        if os.path.islink(known) and not os.path.exists(known):
            os.unlink(known)
        if not os.path.lexists(known):
            os.symlink(path, known)


def folders(home: Directory, cluster: str, user_home: str) -> list[str]:
    """All that is to be removed with a cluster."""
    known = os.path.join(user_home, NAME)
    path = path_of(home, cluster)
    links = [known] if os.path.islink(known) and os.readlink(known) == path else []
    return [os.path.dirname(path), *links]
