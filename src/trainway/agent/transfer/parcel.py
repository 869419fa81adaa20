"""All files of a job as one file, for nodes that share none with the login node.

It is the agent itself, with the job's files before its own: Python runs a zip file whatever stands
before it. So what sbcast has to bring to the nodes is one file, and whatever starts from it has all
that it needs. Each attempt of a job has a directory of its own there, beside the parcel.

    slurm pack JOBDIR PARCEL    make it, on the login node
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import stat
import time
from contextlib import suppress

from trainway.agent.base.directory import Directory
from trainway.agent.base.removal import remove_trees
from trainway.agent.transfer.file_names import AGENT, PLAN, WISH
from trainway.agent.transfer.outputs import scan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from tarfile import TarFile, TarInfo

    from trainway.agent.transfer.outputs import Version

FILES = (PLAN, WISH, "journal.jsonl")
FOLDERS = ("blobs", "logs", "output")
"""The folders of a job that go along: what it consists of, and what earlier attempts of it left."""
UNPACKED = "unpacked.json"
"""The file in the job's directory on a node that lists the output which came with the parcel."""
CHANGED = "TRAINWAY.mtime_ns"
"""The header that says when a file was last changed: to the nanosecond, by which its versions are
told apart."""
SYMTYPE, DIRTYPE = b"2", b"5"
SENT = ".sent"
"""The end of the name of a file beside the job's directory that says which parcel is whole."""
LOOKS, PAUSE = 600, 0.5
QUIET_LOOKS = 20
"""How many looks in a row must find that nobody holds a directory before it is removed: a link that
broke is made again within seconds."""
EXIT_USAGE = 2


def main(arguments: Sequence[str]) -> int:
    """Run `slurm pack`; the exit status."""
    if len(arguments) != 2:
        os.write(2, b"usage: slurm pack JOBDIR PARCEL\n")
        return EXIT_USAGE
    os.umask(0o077)
    pack(*arguments)
    return 0


def pack(job: str, parcel: str) -> None:
    """Write the parcel of a job."""
    import tarfile  # noqa: PLC0415 - slow, and a job has one parcel at most
    from shutil import copyfileobj  # noqa: PLC0415 - the same

    with open(parcel, "wb") as file:
        with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as archive:
            for path in _paths(job):
                with suppress(FileNotFoundError):  # gone by now
                    _add(archive, f"{job}/{path}", tarfile.TarInfo(path))
        with open(f"{job}/{AGENT}", "rb") as agent:
            copyfileobj(agent, file)


def _add(archive: TarFile, path: str, info: TarInfo) -> None:
    status = os.lstat(path)
    info.mode = stat.S_IMODE(status.st_mode)
    info.pax_headers = {CHANGED: str(status.st_mtime_ns)}
    if stat.S_ISLNK(status.st_mode):
        info.type, info.linkname = SYMTYPE, os.readlink(path)
        archive.addfile(info)
    elif stat.S_ISDIR(status.st_mode):
        info.type = DIRTYPE
        archive.addfile(info)
    elif stat.S_ISREG(status.st_mode):
        try:
            fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENXIO):  # something else by now
                return
            raise
        with os.fdopen(fd, "rb") as file:
            info.size = os.fstat(fd).st_size
            archive.addfile(info, file)


def _paths(job: str) -> Iterator[str]:
    """What goes along; folders before what is in them."""
    yield from (name for name in FILES if os.path.exists(f"{job}/{name}"))
    waiting = [name for name in FOLDERS if os.path.isdir(f"{job}/{name}")]
    while waiting:
        folder = waiting.pop()
        yield folder
        with suppress(FileNotFoundError), os.scandir(f"{job}/{folder}") as entries:
            for entry in entries:
                path = f"{folder}/{entry.name}"
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(path)
                else:
                    yield path


def unpacked(parcel: str, path: str) -> Directory:
    """The directory of a job, with what is in its parcel."""
    if not os.path.lexists(path):
        _unpack(parcel, path)
    status = os.lstat(path)
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
        raise PermissionError(errno.EPERM, "it belongs to another user", path)
    return Directory(path)


def _unpack(parcel: str, path: str) -> None:
    import tarfile  # noqa: PLC0415 - as above

    draft = f"{path}.{os.urandom(8).hex()}"
    os.mkdir(draft, 0o700)
    try:
        with tarfile.open(parcel, "r:") as archive:
            folders = {""}
            for info in archive:
                _check(info, folders)
                _write(archive, info, f"{draft}/{info.name}")
        inside = Directory(draft)
        versions = {file.path: list(file.version) for file in scan(inside)}
        inside.write(UNPACKED, json.dumps(versions).encode())
        inside.close()
        try:
            os.rename(draft, path)
        except OSError:
            if not os.path.lexists(path):  # else somebody else was faster
                raise
    finally:
        remove_trees([draft])


def _check(info: TarInfo, folders: set[str]) -> None:
    """See that it comes into a folder that was made here, not through a link or elsewhere."""
    above, _, name = info.name.rpartition("/")
    if (
        above not in folders
        or name in ("", ".", "..")
        or not (info.isfile() or info.isdir() or info.issym())
    ):
        raise OSError(errno.EPERM, "the parcel has something that does not belong there", info.name)
    if info.isdir():
        folders.add(info.name)


def _write(archive: TarFile, info: TarInfo, path: str) -> None:
    if info.issym():
        os.symlink(info.linkname, path)
        return
    if info.isdir():
        os.mkdir(path, info.mode | stat.S_IRWXU)
        return
    from shutil import copyfileobj  # noqa: PLC0415 - as above

    source = archive.extractfile(info)
    with open(path, "xb") as file:
        if source is not None:
            copyfileobj(source, file)
        os.fchmod(file.fileno(), info.mode)
    changed = int(info.pax_headers[CHANGED])
    os.utime(path, ns=(changed, changed))


def untouched(directory: Directory) -> dict[str, Version]:
    """Output that is as it came here: of a file that others changed, this is an old version."""
    try:
        versions: dict[str, list[int]] = json.loads(directory.read(UNPACKED))
    except OSError:
        return {}
    files = scan(directory)
    return {file.path: file.version for file in files if versions.get(file.path) == [*file.version]}


def remove(path: str) -> None:
    """Remove what a job has on this node: its directory, and all that lies beside it."""
    folder, _, name = path.rpartition("/")
    printed = f"{name.rpartition('.')[0]}.out"
    beside = [each for each in os.listdir(folder) if each.startswith(f"{name}.") or each == printed]
    remove_trees([path, *(f"{folder}/{each}" for each in beside)])


def hold(directory: Directory) -> None:
    """Have nobody remove it while this process runs, unless the job is over."""
    fcntl.flock(directory.fd, fcntl.LOCK_SH)


def is_unused(directory: Directory) -> bool:
    """Whether no other process holds it."""
    try:
        fcntl.flock(directory.fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        hold(directory)
    return True


def remove_unused(directory: Directory, pause: Callable[[float], None] = time.sleep) -> None:
    """Remove what a job has on this node when no other process holds it any more."""
    quiet = 0
    for _ in range(LOOKS):
        quiet = quiet + 1 if is_unused(directory) else 0
        if quiet == QUIET_LOOKS:
            remove(directory.path)
            return
        pause(PAUSE)
