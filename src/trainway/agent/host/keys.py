"""Who may come from one host of a job to another: keys, for the life of the job only.

The launcher of an MPI job starts processes on the hosts of its workers. Each of these hosts lets
the key of that job in, by a line of the user's authorized_keys that can do one thing: join a pod of
that job. The line is there from the job's arrival to its end. The file is the user's own, so that
all other lines stay as they are, byte for byte, and it is replaced as a whole, under a lock.
"""

from __future__ import annotations

import fcntl
import os
import posixpath
import pwd
import re
import stat
from contextlib import closing, suppress

from trainway.agent.base.directory import Directory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

PATH_VARIABLE = "TRAINWAY_AUTHORIZED_KEYS"
"""The variable that names the file where the SSH server of a host does not read the usual one."""
USUAL_PATH = ".ssh/authorized_keys"
LINK_LIMIT = 16
SCAN_SECONDS = 10
"""How long the server of a busy host may take; what its files say may be of another server."""
HOST_KEYS = "/etc/ssh"

_LINE = re.compile(rb'restrict,command=".*" \S+ \S+ trainway-job-([\w.-]+)@([\w.-]+)')
_NAME = re.compile(r"[\w.-]+", re.ASCII)
_KIND = re.compile(r"(ssh|ecdsa|sk)-[a-z0-9@.-]+")
_KEY = re.compile(r"[A-Za-z0-9+/]+={0,3}")


class KeysError(Exception):
    """A key cannot be let in. The message is a sentence for the user."""


def authorized_keys(environ: Mapping[str, str]) -> str:
    """The path of the file in which this user's keys are."""
    return environ.get(PATH_VARIABLE) or posixpath.join(
        pwd.getpwuid(os.getuid()).pw_dir, USUAL_PATH
    )


def public_key(text: str) -> str:
    """The kind and the key of a line that `ssh-keygen` wrote, without its comment."""
    words = text.split()
    if len(words) < 2 or not _KIND.fullmatch(words[0]) or not _KEY.fullmatch(words[1]):
        raise KeysError("this is not a public SSH key")
    return f"{words[0]} {words[1]}"


class AuthorizedKeys:
    """The file of the user, as far as it has lines of ours.

    `host` tells our lines from those of other hosts, which may share the user's home directory.
    """

    def __init__(self, path: str, host: str) -> None:
        self._path = path
        self._host = re.sub(r"[^\w.-]", "-", host, flags=re.ASCII) or "localhost"

    def admit(self, job_id: str, key: str, command: Sequence[str]) -> None:
        """Let a job's key run one command on this host, whatever it asks for."""
        if not _NAME.fullmatch(job_id):
            raise KeysError(f"{job_id!r} is not the name of a job")
        line = _line(command, public_key(key), f"trainway-job-{job_id}@{self._host}")
        # First in the file: so the end of the user's last line stays as it is, whatever it is.
        self._rewrite(lambda data: line + _without(data, self._is_of(job_id)))

    def dismiss(self, job_id: str) -> None:
        """Let it in no more."""
        self._rewrite(lambda data: _without(data, self._is_of(job_id)))

    def keep_only(self, jobs: Collection[str]) -> None:
        """Let in no more all jobs but these."""

        def is_unknown(line: bytes) -> bool:
            found = _LINE.fullmatch(line)
            if found is None or found[2].decode() != self._host:
                return False
            return found[1].decode() not in jobs

        self._rewrite(lambda data: _without(data, is_unknown))

    def _is_of(self, job_id: str) -> Callable[[bytes], bool]:
        wanted = (job_id.encode(), self._host.encode())

        def is_of_job(line: bytes) -> bool:
            found = _LINE.fullmatch(line)
            return found is not None and found.groups() == wanted

        return is_of_job

    def _rewrite(self, change: Callable[[bytes], bytes]) -> None:
        try:
            path = _own_file(self._path)
            folder, name = posixpath.split(path)
            if change(b"") == b"" and not posixpath.exists(path):
                return
            _make_folder(folder)
            with closing(Directory(folder)) as directory:
                _replace(directory, name, change)
        except OSError as error:
            raise KeysError(f"{self._path} cannot be changed: {error.strerror}") from error


def _line(command: Sequence[str], key: str, comment: str) -> bytes:
    from shlex import quote  # noqa: PLC0415 - slow, and needed for MPI only

    # The user's shell runs it; without `exec` that shell would be between us and the SSH server.
    text = "exec " + " ".join(quote(word) for word in command)
    if "\n" in text:
        raise KeysError("a path with a line break cannot be part of authorized_keys")
    escaped = text.replace('"', '\\"')
    return f'restrict,command="{escaped}" {key} {comment}\n'.encode("utf-8", "surrogateescape")


def _without(data: bytes, is_unwanted: Callable[[bytes], bool]) -> bytes:
    return b"\n".join(line for line in data.split(b"\n") if not is_unwanted(line))


def _own_file(path: str) -> str:
    """Where the file really is; one that somebody else could point elsewhere is refused."""
    _check_owner(posixpath.dirname(path))
    for _ in range(LINK_LIMIT):
        status = _check_owner(path)
        if status is None or stat.S_ISREG(status.st_mode):
            return path
        if not stat.S_ISLNK(status.st_mode):
            break
        folder, name = posixpath.split(path)
        with closing(Directory(folder)) as directory:
            path = posixpath.join(folder, os.readlink(name, dir_fd=directory.fd))
    raise KeysError(f"{path} is not a file, so no key is added to it")


def _check_owner(path: str) -> os.stat_result | None:
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        return None
    if status.st_uid != os.getuid():
        raise KeysError(f"{path} belongs to another user, so no key is added to it")
    return status


def _locked(directory: Directory, name: str) -> int:
    """The file, open and held by this process alone; it is made where it is missing."""
    while True:
        fd = directory.open(name, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            if _is_at(fd, directory, name):
                return fd
        except OSError:
            os.close(fd)
            raise
        os.close(fd)  # somebody replaced it meanwhile


def _is_at(fd: int, directory: Directory, name: str) -> bool:
    try:
        found = os.stat(name, dir_fd=directory.fd, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return posixpath.samestat(found, os.fstat(fd))


def _make_folder(path: str) -> None:
    parent, name = posixpath.split(path)
    with closing(Directory(parent)) as directory:
        directory.make(name)


def _replace(directory: Directory, name: str, change: Callable[[bytes], bytes]) -> None:
    locked = _locked(directory, name)
    try:
        old = directory.read(name)
        new = change(old)
        if new != old:
            draft = f"{name}.trainway"
            directory.write(draft, new, stat.S_IMODE(os.fstat(locked).st_mode))
            os.replace(draft, name, src_dir_fd=directory.fd, dst_dir_fd=directory.fd)
    finally:
        os.close(locked)


def host_keys(address: str, port: int, folder: str = HOST_KEYS) -> list[str]:
    """The public keys by which the SSH server of this host is known, from itself or its files."""
    return _scanned(address, port) or _stored(folder)


def _scanned(address: str, port: int) -> list[str]:
    """What the server answers; asked on its own host, where nobody can answer in its place."""
    import subprocess  # noqa: PLC0415 - slow, and needed for MPI only

    line = ["ssh-keyscan", "-T", str(SCAN_SECONDS), "-p", str(port), "--", address]
    try:
        done = subprocess.run(  # noqa: S603 - no shell, and our own words
            line,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=2 * SCAN_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return []
    lines = done.stdout.decode("ascii", "replace").splitlines()
    return _keys(text.partition(" ")[2] for text in lines if not text.startswith("#"))


def _stored(folder: str) -> list[str]:
    found = []
    with suppress(OSError), closing(Directory(folder)) as directory:
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in entries)
        for name in names:
            if name.startswith("ssh_host_") and name.endswith("_key.pub"):
                with suppress(OSError):
                    found.append(directory.read(name).decode("ascii", "replace"))
    return _keys(found)


def _keys(texts: Iterable[str]) -> list[str]:
    """Those of the texts that are keys, each once."""
    found: dict[str, None] = {}
    for text in texts:
        try:
            found[public_key(text)] = None
        except KeysError:
            continue
    return list(found)
