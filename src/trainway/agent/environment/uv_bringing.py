"""Brings uv to a host that has none: once, from where its packages come from.

It is in the folder of the environments, under the name of its wheel, and has that name only when it
is whole and has run. Whatever is in the way is a reason, and no error: pip can do the same.
"""

from __future__ import annotations

import base64
import hashlib
import http.client
import os
import platform
import posixpath
import re
import shutil
import ssl
import subprocess
import time
import urllib.error
import urllib.request
import zipfile
from urllib.parse import unquote, urlsplit, urlunsplit

from trainway.agent.environment.index_settings import for_uv, has_settings
from trainway.agent.environment.uv_wheel import JSON_PAGE, Wheel, best, places_of, wheels_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from trainway.agent.environment.requirements import Requirements
    from trainway.agent.environment.shelf import Shelf
    from trainway.agent.environment.uv_wheel import Places

FOLDER = "tools"
SECONDS = 20.0
"""How long an index may be silent, and how long the program may take to say its version."""
SLOWEST_PAGE = 60.0
SLOWEST_WHEEL = 900.0
"""How many seconds each may take as a whole: meanwhile all jobs of the host wait that need uv."""
LARGEST_PAGE = 32 << 20
LARGEST_WHEEL = 200 << 20
LARGEST_PROGRAM = 400 << 20
_MEMBER = re.compile(r"uv-[0-9.]+\.data/scripts/uv")
_PIECE = 1 << 20


class NotBroughtError(Exception):
    """Why there is no uv. The message is for the user."""


class UnreachableError(NotBroughtError):
    """The index does not answer."""


def brought(shelf: Shelf) -> str | None:
    """The uv that was brought earlier."""
    folder = _folder(shelf)
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    found = (posixpath.join(folder, name, "uv") for name in reversed(names) if name[:1] != ".")
    return next((path for path in found if os.access(path, os.X_OK)), None)


def bring(shelf: Shelf, requirements: Requirements, environ: Mapping[str, str]) -> str:
    """The uv of this host, brought if it has to be; NotBroughtError, or an error of the disk."""
    folder = _folder(shelf)
    with shelf.alone(f"uv-{posixpath.basename(folder)}"):
        found = brought(shelf)
        if found is not None:
            return found
        if has_settings(environ):
            raise NotBroughtError("a file of uv's settings says where packages come from")
        settings = for_uv(environ)
        wheel = _wheel(places_of(requirements.lines, settings), settings)
        print(f"bringing uv {wheel.version} to this host", flush=True)  # noqa: T201 - the log
        partial = posixpath.join(folder, ".partial")
        shutil.rmtree(partial, ignore_errors=True)  # of somebody who was killed
        os.makedirs(partial, 0o700)
        try:
            _unpack(_fetched(wheel, partial, settings), f"{partial}/uv")
            final = posixpath.join(folder, wheel.name[: -len(".whl")])
            shutil.rmtree(final, ignore_errors=True)  # what somebody has broken
            os.rename(partial, final)
        except BaseException:
            shutil.rmtree(partial, ignore_errors=True)
            raise
    return f"{final}/uv"


def _folder(shelf: Shelf) -> str:
    """Where it is: hosts of several kinds may share the folder of the environments."""
    kind = f"{platform.machine()}-{'musl' if _glibc() is None else 'glibc'}"
    return posixpath.join(shelf.folder, FOLDER, kind)


def _wheel(places: Places, settings: Mapping[str, str]) -> Wheel:
    machine, glibc = platform.machine(), _glibc()
    for folder in places.folders:
        is_ours = os.path.isdir(folder) and os.access(folder, os.R_OK | os.X_OK)
        names = os.listdir(folder) if is_ours else []
        files = [name for name in names if os.path.isfile(f"{folder}/{name}")]
        found = best((Wheel(name, f"{folder}/{name}") for name in files), machine, glibc)
        if found is not None:
            return found
    for index in places.indexes:
        page = f"{index.rstrip('/')}/uv/"
        pieces = _read(page, settings, LARGEST_PAGE, SLOWEST_PAGE)
        text = b"".join(pieces).decode("utf-8", "replace")
        try:
            found = best(wheels_of(text, page), machine, glibc)
            if found is not None:
                found.place = _with_credentials(found.place, index)
        except (ValueError, RecursionError):
            raise NotBroughtError("its index makes no sense") from None
        if found is not None:
            if not re.fullmatch("[0-9a-f]{64}", found.sha256):
                raise NotBroughtError("its index does not say the hash of its wheel")
            return found
    if not places.indexes:
        raise NotBroughtError("the job has no index of packages, and no folder of it has uv")
    raise NotBroughtError(f"the index of packages has none for {machine}")


def _glibc() -> tuple[int, int] | None:
    try:
        told = os.confstr("CS_GNU_LIBC_VERSION") or ""
    except (ValueError, OSError):
        return None
    match = re.fullmatch(r"glibc (\d+)\.(\d+).*", told)
    return (int(match.group(1)), int(match.group(2))) if match else None


def _fetched(wheel: Wheel, folder: str, settings: Mapping[str, str]) -> str:
    """The path of the wheel, which is what its index says."""
    if wheel.place.startswith("/"):
        return wheel.place
    digest, path = hashlib.sha256(), f"{folder}/wheel"
    with open(path, "wb") as file:
        for piece in _read(wheel.place, settings, LARGEST_WHEEL, SLOWEST_WHEEL):
            digest.update(piece)
            file.write(piece)
    if digest.hexdigest() != wheel.sha256:
        raise NotBroughtError("what came is not the wheel that its index lists")
    return path


def _unpack(wheel: str, program: str) -> None:
    """Take the program out of a wheel; it must run."""
    with open(program, "wb") as target:
        for piece in _program(wheel):
            target.write(piece)
        target.flush()
        os.fsync(target.fileno())
    os.chmod(program, 0o700)
    if os.path.exists(f"{posixpath.dirname(program)}/wheel"):
        os.unlink(f"{posixpath.dirname(program)}/wheel")
    try:
        subprocess.run(  # noqa: S603 - what was brought
            [program, "--version"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        raise NotBroughtError("its program does not run on this host") from None


def _program(wheel: str) -> Iterator[bytes]:
    """The program in a wheel; whatever is wrong with the wheel is no full disk."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            found = [each for each in archive.infolist() if _MEMBER.fullmatch(each.filename)]
            if not found:
                raise NotBroughtError("there is no program in its wheel")
            if found[0].file_size > LARGEST_PROGRAM:
                raise NotBroughtError("its wheel is too large")
            with archive.open(found[0]) as source:
                yield from iter(lambda: source.read(_PIECE), b"")
    except NotBroughtError:
        raise
    except Exception:  # noqa: BLE001 - zipfile passes on whatever its decoders raise
        raise NotBroughtError("its wheel cannot be read") from None


def _read(url: str, settings: Mapping[str, str], most: int, seconds: float) -> Iterator[bytes]:
    """What is at a URL; its credentials are for its own host, and never shown."""
    until = time.monotonic() + seconds
    parts = urlsplit(url)
    credentials, _, host = parts.netloc.rpartition("@")
    try:
        request = urllib.request.Request(  # noqa: S310 - http or https, see places_of
            urlunsplit(parts._replace(netloc=host)), headers={"Accept": f"{JSON_PAGE}, text/html"}
        )
        if credentials:
            words = base64.b64encode(unquote(credentials).encode()).decode()
            request.add_unredirected_header("Authorization", f"Basic {words}")
        certificates = settings.get("SSL_CERT_FILE")
        context = ssl.create_default_context(cafile=certificates) if certificates else None
        with urllib.request.urlopen(request, timeout=SECONDS, context=context) as answer:  # noqa: S310
            size = 0
            for piece in iter(lambda: answer.read1(_PIECE), b""):  # what is there, however little
                if time.monotonic() > until:
                    raise UnreachableError(f"{host} has not sent everything within {seconds:.0f} s")
                size += len(piece)
                if size > most:
                    raise NotBroughtError(f"{host} sends too much")
                yield piece
    except urllib.error.HTTPError as error:
        with error:
            raise NotBroughtError(f"{host}: {error.reason}") from None
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise UnreachableError(f"{host}: {getattr(error, 'reason', error)}") from None


def _with_credentials(place: str, index: str) -> str:
    """The URL of a wheel, with the credentials of the index if it is on the same host."""
    credentials, at, host = urlsplit(index).netloc.rpartition("@")
    parts = urlsplit(place)
    if parts.scheme not in ("https", "http"):
        raise NotBroughtError("its index lists it at a place that is not of the web")
    is_same = (parts.scheme, parts.netloc) == (urlsplit(index).scheme, host)
    return urlunsplit(parts._replace(netloc=f"{credentials}{at}{host}")) if is_same else place
