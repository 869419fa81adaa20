"""Which files of an output directory are complete, and the list of them in the bucket. Pure.

A file is complete when nobody has changed it between two looks. What is new in a folder waits until
nothing in that folder changes any more, so that a checkpoint of several files is listed as a whole.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Final

from trainway.data.uri import check_key
from trainway.errors import TrainwayError, UsageError
from trainway.json_types import Json

NAME: Final = ".trainway-manifest.json"
"""The object that is written last; what it does not list does not count."""
MOST_BYTES: Final = 50_000_000

Version = tuple[int, int]
"""The size of a file, and its time in nanoseconds."""
Files = Mapping[str, Version]


def complete(before: Files, now: Files, *, is_over: bool) -> list[str]:
    """The files that can be mirrored, newest first; of a job that is over all of them."""
    changing = {name for name in now if before.get(name) != now[name]} if not is_over else set()
    busy = {name.partition("/")[0] for name in changing if "/" in name}
    ready = [
        name
        for name in now
        if name not in changing and not ("/" in name and name.partition("/")[0] in busy)
    ]
    return sorted(ready, key=lambda name: (-now[name][1], name))


def whole(names: Iterable[str], unread: Iterable[str]) -> list[str]:
    """Those of which nothing in the same folder is unread: half a checkpoint is none."""
    torn = {name.partition("/")[0] for name in unread if "/" in name}
    return [name for name in names if "/" not in name or name.partition("/")[0] not in torn]


def listed(mirrored: Files, now: Files) -> list[str]:
    """What the manifest has: all that is mirrored, in whichever version, and still there."""
    return sorted(name for name in mirrored if name in now)


def manifest_text(names: Iterable[str], job: str, time: str) -> bytes:
    """The manifest."""
    told: Json = {"version": 1, "job": job, "time": time, "files": list(names)}
    return json.dumps(told, indent=1).encode("utf-8", "surrogateescape")


def read_manifest(text: bytes, uri: str) -> list[str]:
    """The files that a manifest lists; no name leads out of the directory."""
    try:
        told = json.loads(text)
        names = told["files"]
        if told["version"] != 1 or not all(isinstance(name, str) and name for name in names):
            raise ValueError
        for name in names:
            check_key(uri, name)
            if "\0" in name:
                raise ValueError
    except (ValueError, KeyError, TypeError, UsageError, RecursionError):
        raise TrainwayError(
            f"{uri} is not a manifest of checkpoints", hint="remove it, or name another folder"
        ) from None
    return list(names)
