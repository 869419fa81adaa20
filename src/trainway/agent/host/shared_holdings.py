"""What is held of this machine through the agents of other users, and of other homes of this one.

Everybody who logs in has an agent of their own. Each agent writes what is held through it to a
file of its own, in a directory in which all users may make files and nobody can touch those of
others. A file counts if it belongs to the user whose number is in its name, was written since the
machine was started, and somebody still needs what it says is held. See decision 16.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import pwd
import re
import stat
from contextlib import contextmanager, suppress

from trainway.agent.base.directory import Directory
from trainway.agent.host.published_holdings import (
    SIZE_LIMIT,
    MalformedError,
    Published,
    PublishedHolding,
    decode,
)
from trainway.agent.kubelet import process_tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from trainway.agent.transfer.host_events import HeldByOther

    Signature = tuple[int, int, int, int]


ROOTS = ("/dev/shm", "/tmp")  # noqa: S108 - they are for all users, which is the point
LOCK = "trainway-holdings.lock"
_NAME = re.compile(r"trainway-holdings-([0-9]{1,10})-([0-9a-f]{16})-[0-9a-f]{16}\.json(\.new)?")
PUBLIC_FILE = 0o644
PUBLIC_LOCK = 0o444
FILES_LIMIT = 32
"""As many files of one user are read."""


class LockedError(Exception):
    """Another agent is just being given a place. The message says who keeps the others waiting."""


def machine_root(roots: Sequence[str] = ROOTS) -> str:
    """The directory that all users of this machine share; empty: there is none."""
    for path in roots:
        with suppress(OSError):
            mode = os.stat(path).st_mode
            is_shared = stat.S_ISDIR(mode) and mode & stat.S_ISVTX and mode & stat.S_IWOTH
            if is_shared and os.access(path, os.R_OK | os.W_OK | os.X_OK):
                return path
    return ""


def this_machine() -> str:
    """What the numbers of processes belong to: a boot, and in containers their own count."""
    namespace = ""
    with suppress(OSError):
        namespace = os.readlink("/proc/self/ns/pid")
    return f"{process_tree.boot_id()} {namespace}"


def login(uid: int) -> str:
    """The name of a user of this machine."""
    try:
        return str(pwd.getpwuid(uid).pw_name)
    except KeyError:
        return str(uid)


class SharedHoldings:
    """One agent among those of the machine."""

    def __init__(
        self,
        root: str,
        home: str,
        *,
        uid: int | None = None,
        machine: str = "",
        is_running: Callable[[int, int], bool] = process_tree.is_running,
    ) -> None:
        self._root = Directory(root)
        self._uid = os.geteuid() if uid is None else uid
        self._machine = machine or this_machine()
        self._is_running = is_running
        self._home = hashlib.sha256(os.fsencode(home)).hexdigest()[:16]
        self._name = f"trainway-holdings-{self._uid}-{self._home}-{os.urandom(8).hex()}.json"
        self._daemon = (os.getpid(), process_tree.start_time(os.getpid()))
        self._written = b""
        self._read: dict[str, tuple[Signature, Published | None]] = {}
        self._logins: dict[int, str] = {}
        self._complaints: set[str] = set()

    def publish(self, holdings: Sequence[tuple[HeldByOther, Sequence[int]]]) -> None:
        """Let all agents know what is held through this one, and by which processes."""
        if not holdings:
            self.withdraw()
            return
        items = [PublishedHolding(held, _started(processes)) for held, processes in holdings]
        text = Published(self._machine, self._daemon, items).encode()
        if text == self._written and self._is_there():
            return
        try:
            self._write(text)
            self._written = text
        except OSError as error:
            self._complain(f"agents of other users cannot be told what is held: {error}")

    def withdraw(self) -> None:
        """Nothing is held through this agent."""
        if self._written:
            self._root.remove(self._name)
            self._written = b""

    def _is_there(self) -> bool:
        """Whether the file is still there: systemd removes files of users who have logged out."""
        return os.access(self._name, os.F_OK, dir_fd=self._root.fd)

    def _write(self, text: bytes) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        fresh = f"{self._name}.new"
        fd = self._root.open(fresh, flags, PUBLIC_FILE)
        try:
            with os.fdopen(fd, "wb") as file:
                file.write(text)
                os.fchmod(fd, PUBLIC_FILE)
            os.replace(fresh, self._name, src_dir_fd=self._root.fd, dst_dir_fd=self._root.fd)
        except OSError:
            self._root.remove(fresh)
            raise

    def _complain(self, message: str) -> None:
        """Write to the log that the others do not hear of us, once."""
        if message not in self._complaints:
            self._complaints.add(message)
            os.write(2, f"{message}\n".encode())

    def clear_away(self) -> None:
        """Remove what earlier agents of the same home left."""
        for name, uid, home in self._names():
            if uid == self._uid and home == self._home and not name.startswith(self._name):
                with suppress(OSError):
                    self._root.remove(name)

    def others(self) -> list[HeldByOther]:
        """What is held through all other agents, by whom it is in the words of a person."""
        files: dict[str, tuple[int, Signature]] = {}
        count: dict[int, int] = {}
        for name, uid, _ in self._names():
            signature = None if name.startswith(self._name) else self._signature(name, uid)
            if signature is not None and not name.endswith(".new"):
                count[uid] = count.get(uid, 0) + 1
                if count[uid] <= FILES_LIMIT:
                    files[name] = (uid, signature)
        self._read = {name: each for name, each in self._read.items() if name in files}
        found: list[HeldByOther] = []
        for name, (uid, signature) in sorted(files.items()):
            found += [self._named(held, uid) for held in self._living(name, uid, signature)]
        return found

    def _names(self) -> Iterator[tuple[str, int, str]]:
        with os.scandir(self._root.fd) as entries:
            for entry in entries:
                match = _NAME.fullmatch(entry.name)
                if match is not None:
                    yield entry.name, int(match.group(1)), match.group(2)

    def _signature(self, name: str, uid: int) -> Signature | None:
        """Tells a file from what it was before; None: it is not the file of an agent."""
        try:
            status = os.stat(name, dir_fd=self._root.fd, follow_symlinks=False)
        except OSError:
            return None
        return _signature(status) if _is_trusted(status, uid) else None

    def _living(self, name: str, uid: int, signature: Signature) -> list[HeldByOther]:
        known = self._read.get(name)
        if known is None or known[0] != signature:
            known = self._read[name] = (signature, self._decoded(name, uid))
        published = known[1]
        return [] if published is None else published.living(self._is_running)

    def _decoded(self, name: str, uid: int) -> Published | None:
        try:
            with os.fdopen(self._root.open_regular(name, os.O_RDONLY), "rb") as file:
                trusted = _is_trusted(os.fstat(file.fileno()), uid)
                text = file.read(SIZE_LIMIT + 1) if trusted else b""
            published = decode(text)
        except (OSError, MalformedError):
            return None
        return published if published.machine == self._machine else None

    def _named(self, held: HeldByOther, uid: int) -> HeldByOther:
        """With the login of whoever holds it, where that is somebody else."""
        if uid == self._uid:
            return held
        if uid not in self._logins:
            self._logins[uid] = login(uid)
        client = held["client"] or "another client"
        return {**held, "client": f"{client} as {self._logins[uid]}"}

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Look and take a place while no other agent does; LockedError: one just does.

        Where there can be no lock, agents look and take all the same.
        """
        try:
            fd = self._open_lock()
        except OSError as error:
            self._complain(f"agents of other users cannot be kept waiting: {error}")
            yield
            return
        try:
            self._lock(fd)
            yield
        finally:
            os.close(fd)

    def _lock(self, fd: int) -> None:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            now = os.stat(LOCK, dir_fd=self._root.fd, follow_symlinks=False)
        except OSError as error:
            path = self._root.join(LOCK)
            raise LockedError(f"another process keeps {path} locked") from error
        if not os.path.samestat(os.fstat(fd), now):
            raise LockedError(f"somebody replaces {self._root.join(LOCK)}")

    def _open_lock(self) -> int:
        """The lock that is there is opened without O_CREAT, as `fs.protected_regular` wants it."""
        try:
            return self._root.open_regular(LOCK, os.O_RDONLY)
        except FileNotFoundError:
            pass
        with suppress(FileExistsError):
            fd = self._root.open_regular(LOCK, os.O_RDONLY | os.O_CREAT | os.O_EXCL, PUBLIC_LOCK)
            os.fchmod(fd, PUBLIC_LOCK)
            return fd
        return self._root.open_regular(LOCK, os.O_RDONLY)


def _is_trusted(status: os.stat_result, uid: int) -> bool:
    """Whether a file can be one that the agent of that user wrote."""
    return (
        stat.S_ISREG(status.st_mode) and status.st_uid == uid and 0 < status.st_size <= SIZE_LIMIT
    )


def _signature(status: os.stat_result) -> Signature:
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _started(processes: Sequence[int]) -> list[tuple[int, int]]:
    return [(pid, process_tree.start_time(pid)) for pid in processes]
