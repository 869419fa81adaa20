"""Why a host cannot be reached, in one line with what to do about it.

OpenSSH says it on standard error, in sentences that have stayed the same for many years, among
banners and warnings that mean nothing; our own remote commands say it by their exit status.
"""

from __future__ import annotations

import re

from trainway.agent.transfer.ssh_command import BAD_COPY, NO_FOLDER, NO_PYTHON, OLD_PYTHON, login

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainway.json_types import Json


KEPT = 8192
"""How much of what was said is looked at: the last of it."""
LONGEST = 200
SILENCE = "it does not answer"
NOISE = re.compile(r"^(\s*$|\*\*|@@|Warning: Permanently added|debug\d:|Pseudo-terminal)")


class Failure:
    """One line about what is wrong, and one about what to do."""

    def __init__(
        self, message: str, hint: str = "", *, vague: bool = False, lasting: bool = False
    ) -> None:
        self.message = message
        self.hint = hint
        self.vague = vague
        """Whether anything that was known before says more."""
        self.lasting = lasting
        """Whether it stays so until somebody mends it."""

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message


def explain(host: Json, status: int | None, said: bytes) -> Failure:
    """What a program's end means; no status: it was given up."""
    text = said[-KEPT:].decode("utf-8", "replace")
    by_hand = login(host)
    for pattern, message, hint, lasting in _SENTENCES:
        found = re.search(pattern, text)
        if found:
            values = {"by_hand": by_hand, "name": host["name"], **found.groupdict()}
            return Failure(message.format(**values), hint.format(**values), lasting=lasting)
    if status in _STATUSES:
        message, hint, lasting = _STATUSES[status]
        values = {"python": host.get("python") or "python3", "by_hand": by_hand}
        return Failure(message.format(**values), hint.format(**values), lasting=lasting)
    lines = [line.strip() for line in text.splitlines() if not NOISE.match(line)]
    if lines:
        return Failure(lines[-1][:LONGEST], f"try it by hand: {by_hand}")
    if status is None:
        return Failure(SILENCE, f"try it by hand: {by_hand}", vague=True)
    return Failure(f"the connection ended (status {status})", f"try it by hand: {by_hand}")


def not_startable(error: OSError, program: str) -> Failure:
    """A program of this machine does not start."""
    if isinstance(error, FileNotFoundError):
        what = f"there is no program {program} here"
        return Failure(what, "install OpenSSH's client", lasting=True)
    return Failure(f"{program} does not start: {error.strerror}")


_STATUSES = {
    NO_PYTHON: (
        "there is no {python} on the host",
        "install Python 3.8 or later there, or set `python` of the pool",
        True,
    ),
    OLD_PYTHON: (
        "{python} on the host is older than Python 3.8",
        "install a later one there, and set `python` of the pool",
        True,
    ),
    NO_FOLDER: (
        "~/.trainway cannot be made on the host",
        "look at its home directory: {by_hand}",
        False,
    ),
    BAD_COPY: (
        "the agent could not be copied to the host",
        "check whether its disk is full: {by_hand}",
        False,
    ),
}

_SENTENCES = (
    (
        r"REMOTE HOST IDENTIFICATION HAS CHANGED",
        "its host key has changed: somebody may be listening in",
        "if the host was reinstalled, remove its old key with ssh-keygen -R, then: {by_hand}",
        True,
    ),
    (
        r"REVOKED HOST KEY|revoked host key",
        "its host key was revoked",
        "ask whoever runs the host",
        True,
    ),
    (
        r"Host key verification failed|No \S+ host key is known for",
        "its host key is not known here",
        "connect once by hand and compare the key: {by_hand}",
        True,
    ),
    (
        r"Permission denied \((?P<methods>[^)]*)\)",
        "the login was refused ({methods})",
        "check that the key is there, and in the ssh agent (ssh-add -l); try: {by_hand}",
        True,
    ),
    (
        r"Too many authentication failures",
        "the login was refused: too many keys were tried",
        "set `identity` of the pool or host, with IdentitiesOnly in ~/.ssh/config",
        True,
    ),
    (
        r"UNPROTECTED PRIVATE KEY FILE",
        "others can read the private key, so ssh does not use it",
        "chmod 600 the key file",
        True,
    ),
    (
        r"Could not resolve hostname (?P<host>[^:\s]+): Temporary failure",
        "the name {host} cannot be looked up now",
        "check that this machine is online",
        False,
    ),
    (
        r"Could not resolve hostname (?P<host>[^:\s]+)",
        "there is no host named {host}",
        "check the name, or give its HostName in ~/.ssh/config",
        True,
    ),
    (
        r"Connection refused",
        "nothing listens there for SSH",
        "check that sshd is running, and on that port",
        False,
    ),
    (
        r"No route to host",
        "there is no route to it",
        "check that it is on, and in this network",
        False,
    ),
    (
        r"Network is unreachable",
        "its network cannot be reached from here",
        "check that this machine is online",
        False,
    ),
    (
        r"Connection timed out|Operation timed out|timed out during banner exchange",
        "it did not answer within 5 s",
        "check that it is on, and that the firewall lets SSH through",
        False,
    ),
    (
        r"Timeout, server \S+ not responding",
        "it stopped answering",
        "check that it is on, and still in this network",
        False,
    ),
    (
        r"Bad configuration option: (?P<option>\S+)|Bad owner or permissions on (?P<file>\S+)",
        "ssh does not accept its own configuration",
        "see what it says: {by_hand}",
        True,
    ),
    (
        r"No space left on device|Disk quota exceeded",
        "its disk is full",
        "make room there: {by_hand}",
        False,
    ),
    (r"Read-only file system", "its home directory cannot be written to", "look: {by_hand}", False),
    (
        r"Connection (closed|reset) by",
        "it closed the connection",
        "its sshd may limit connections; try: {by_hand}",
        False,
    ),
)
