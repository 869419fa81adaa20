"""What a URI names: a scheme, a bucket (or repository, or host) and a key in it.

A word without a scheme is a path of this machine. Keys never have `..`, `.` or empty names, so that
nobody has to ask later where they lead. What stands behind a `?` may be a signature: it is sent,
and never shown.
"""

import re
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import unquote

from trainway.errors import UsageError

HUB: Final = "hf"
WEB: Final = "https"
FILE: Final = "file"
OBJECT_STORES: Final = {"s3": "S3", "gs": "Google Cloud Storage", "az": "Azure", "r2": "R2"}
SCHEMES: Final = (HUB, *OBJECT_STORES, WEB, FILE)
MODEL: Final = "models"
_KINDS: Final = (MODEL, "datasets", "spaces")
_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(.*)", re.DOTALL)
_SLIP: Final = re.compile(rf"(?:({'|'.join(SCHEMES)}):/?|({'|'.join(SCHEMES)})//+)([^/].*|)")
"""A URI with a letter missing before its path."""
_CONTROL: Final = re.compile("[\x00-\x1f\x7f]")
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_HOST: Final = re.compile(r"[A-Za-z0-9._-]+(:[0-9]{1,5})?|\[[0-9A-Fa-f:.]+\](:[0-9]{1,5})?")
_NAMED: Final = f"{', '.join(f'{each}://' for each in SCHEMES[:-1])} or file://"


@dataclass(frozen=True)
class Location:
    """Where bytes are; `key` has no slash at its ends, and is empty for all that is there."""

    scheme: str
    bucket: str
    key: str
    is_folder: bool = False
    """Whether the URI ends with a slash, and so can mean no single file."""
    query: str = field(default="", repr=False)

    def __str__(self) -> str:
        root = "/" if self.scheme == FILE else f"{self.bucket}/" if self.key else self.bucket
        end = "/" if self.is_folder and self.key else ""
        return f"{self.scheme}://{root}{self.key}{end}"

    def of(self, key: str) -> "Location":
        """The place of another key in the same bucket."""
        return Location(self.scheme, self.bucket, key)

    @property
    def name(self) -> str:
        """The last name of the key."""
        return self.key.rpartition("/")[2]


@dataclass(frozen=True)
class Repository:
    """A repository of the hub; an empty revision is its main branch."""

    kind: str
    name: str
    revision: str = ""

    @property
    def bucket(self) -> str:
        """As it is written in a URI."""
        kind = "" if self.kind == MODEL else f"{self.kind}/"
        return f"{kind}{self.name}" + (f"@{self.revision}" if self.revision else "")


def has_scheme(text: str) -> bool:
    """Whether a word is a URI, and no path; also one with a slip, for `parse` to refuse.

    As a path it would be a folder of this machine that nobody looks into.
    """
    return _SCHEME.fullmatch(text) is not None or _SLIP.fullmatch(text) is not None


def meant(path: str) -> str:
    """The URI that a path was meant to be: `s3://b/x` for `s3:/b/x`; else empty."""
    found = _SLIP.fullmatch(path)
    if found is None:
        return ""
    scheme = found[1] or found[2]
    return f"{scheme}://{'/' if scheme == FILE else ''}{found[3]}"


def parse(text: str) -> Location:
    """What a URI names; anything without a scheme is refused."""
    if _CONTROL.search(text):
        raise UsageError("a URI must not have control characters")
    match = _SCHEME.fullmatch(text)
    if match is None:
        if uri := meant(text):
            instead = f"did you mean {uri}? A path of this machine is ./{text}"
            raise UsageError(f"{text} is not a URI", hint=instead)
        raise UsageError(f"{text!r} is not a URI", hint=f"a URI starts with {_NAMED}")
    scheme, rest = match[1].lower(), match[2]
    if scheme == HUB:
        return _hub(text, rest)
    if scheme == WEB:
        return _web(rest)
    if scheme == FILE:
        return _file(text, rest)
    if scheme in OBJECT_STORES:
        return _object(text, scheme, rest)
    instead = f"write https://{rest}" if scheme == "http" else f"there are {_NAMED}"
    raise UsageError(f"{scheme}:// is not a scheme that can be read or written", hint=instead)


def parse_repository(bucket: str) -> Repository:
    """The repository that the bucket of a hub's location names."""
    words = bucket.split("/")
    kind = words.pop(0) if words[0] in _KINDS else MODEL
    name, _, revision = "/".join(words).partition("@")
    return Repository(kind, name, unquote(revision))


def check_key(text: str, key: str) -> None:
    """Refuse names that lead elsewhere."""
    if any(name in {"", ".", ".."} for name in key.split("/")) and key:
        raise UsageError(
            f'{text}: a name is empty, "." or ".."', hint="write the way without such names"
        )


def _object(text: str, scheme: str, rest: str) -> Location:
    bucket, _, key = rest.partition("/")
    if not _NAME.fullmatch(bucket):
        what = "container" if scheme == "az" else "bucket"
        wrong = (
            f"{bucket!r} is not a valid name for a {what}" if bucket else f"the {what} has no name"
        )
        raise UsageError(f"{text}: {wrong}", hint=f"write {scheme}://{what.upper()}/KEY")
    return _located(text, scheme, bucket, key)


def _hub(text: str, rest: str) -> Location:
    words = rest.split("/")
    depth = 3 if words[0] in _KINDS else 2
    bucket, key = "/".join(words[:depth]), "/".join(words[depth:])
    names = parse_repository(bucket).name.split("/")
    if len(words) < depth or len(names) != 2 or not all(map(_NAME.fullmatch, names)):
        raise UsageError(
            f"{text} does not name a repository",
            hint="write hf://OWNER/MODEL or hf://datasets/OWNER/NAME, with @REVISION and /PATH if"
            " you like",
        )
    return _located(text, HUB, parse_repository(bucket).bucket, key)


def _web(rest: str) -> Location:
    rest, _, query = rest.partition("#")[0].partition("?")
    host, _, key = rest.partition("/")
    shown = f"https://{host.rpartition('@')[2]}/{key}"
    if "@" in host:
        raise UsageError(
            f"{shown}: a URI must not have a user name or password",
            hint="they would be seen by others",
        )
    if not _HOST.fullmatch(host) or not key:
        raise UsageError(
            f"{shown} does not name a file of a web server", hint="write https://HOST/PATH"
        )
    located = _located(shown, WEB, host.lower(), key)
    return Location(WEB, located.bucket, located.key, located.is_folder, query)


def _file(text: str, rest: str) -> Location:
    host, slash, path = rest.partition("/")
    if host not in {"", "localhost"} or not slash:
        raise UsageError(
            f"{text} does not name a file of this machine",
            hint="write file:///PATH with three slashes, or only the path",
        )
    decoded = unquote(path)
    if "\0" in decoded:
        raise UsageError("a URI must not have control characters")
    return _located(text, FILE, "", decoded)


def _located(text: str, scheme: str, bucket: str, key: str) -> Location:
    is_folder = key.endswith("/") or not key
    key = key.removesuffix("/")
    check_key(text, key)
    return Location(scheme, bucket, key, is_folder)
