"""What a host has, and what pods may find on it."""

from __future__ import annotations

import os
import pwd
import sys

from trainway.agent.host.interfaces import interfaces
from trainway.agent.kubelet import process_tree
from trainway.agent.kubelet.gpus import machine_gpus

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from trainway.agent.transfer.host_events import Facts


PROTOCOL = 1
MEMORY_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
_DROPPED = ("SSH_", "TRAINWAY_", "KUBEFLOW_", "SUDO_")
_DROPPED_NAMES = frozenset(("_", "OLDPWD", "PWD", "SHLVL", "TERM", "LINES", "COLUMNS"))
_LOOPBACK = ("127.", "::1")


def facts() -> Facts:
    """What does not change while the agent runs."""
    return {
        "name": os.uname().nodename,
        "cpus": len(os.sched_getaffinity(0)),
        "memory": memory(),
        "gpus": machine_gpus(),
        "python": ".".join(str(part) for part in sys.version_info[:3]),
        "protocol": PROTOCOL,
        "user": user(),
        "boot": process_tree.boot_id(),
    }


def addresses() -> list[str]:
    """The addresses under which others may reach this machine, as they are now."""
    return [item for item in interfaces() if not item.startswith(_LOOPBACK)]


def user() -> str:
    """Who runs this."""
    try:
        return str(pwd.getpwuid(os.getuid()).pw_name)
    except KeyError:
        return str(os.getuid())


def memory(limits: tuple[str, ...] = MEMORY_LIMITS) -> int:
    """The bytes of memory that there are, or that this process may use if that is less."""
    found = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    for path in limits:
        try:
            with open(path, encoding="ascii") as file:
                text = file.read().strip()
        except OSError:
            continue
        if text.isdigit():
            found = min(found, int(text))
    return found


def base_environment(environ: Mapping[str, str], programs: str) -> dict[str, str]:
    """What every process on this host starts from: the user's, without what is of one session.

    Programs of ours in that folder come before others.
    """
    env = {
        name: value
        for name, value in environ.items()
        if not name.startswith(_DROPPED) and name not in _DROPPED_NAMES
    }
    env.setdefault("HOME", os.path.expanduser("~"))
    env["PATH"] = f"{programs}:{env.get('PATH') or os.defpath}"
    return env
