"""Which wheel of uv fits a host, and where wheels are looked for. Pure.

A host without uv gets it from where its packages come from, so nobody is trusted who is not trusted
anyway. uv's wheels have one program in them, for one kind of processor and C library.
"""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from urllib.parse import urldefrag, urljoin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

PYPI = "https://pypi.org/simple"
JSON_PAGE = "application/vnd.pypi.simple.v1+json"
_NAME = re.compile(r"uv-(\d+(?:\.\d+){1,3})-py3-none-([A-Za-z0-9_.]+)\.whl")
_TAG = re.compile(r"(many|musl)linux_(\d+)_(\d+)_(\w+)|manylinux(2014)_(\w+)")
_OPTION = re.compile(
    r"(-i|-f|--index-url|--extra-index-url|--find-links|--no-index)(?:[=\s]+(.+))?"
)
_VARIABLE = re.compile(r"\$\{([A-Z][A-Z0-9_]*)\}")


class Wheel:
    """A wheel of uv; `place` is its URL, or its path."""

    def __init__(self, name: str, place: str, sha256: str = "") -> None:
        match = _NAME.fullmatch(name)
        self.name = name
        self.place = place
        self.sha256 = sha256
        self.version = match.group(1) if match else ""
        self.tags = match.group(2).split(".") if match else []


class Places:
    """Where wheels are looked for: pages of indexes, and folders of this host."""

    def __init__(self, indexes: Sequence[str] = (), folders: Sequence[str] = ()) -> None:
        self.indexes = list(indexes)
        self.folders = list(folders)


def places_of(lines: Iterable[str], settings: Mapping[str, str]) -> Places:
    """Where packages come from, as the requirements and the variables of uv say."""
    main = settings.get("UV_DEFAULT_INDEX") or settings.get("UV_INDEX_URL") or PYPI
    more = f"{settings.get('UV_INDEX') or ''} {settings.get('UV_EXTRA_INDEX_URL') or ''}".split()
    links = (settings.get("UV_FIND_LINKS") or "").split(",")
    has_index = not settings.get("UV_NO_INDEX")
    for line in lines:
        match = _OPTION.fullmatch(line)
        option, value = (match.group(1), (match.group(2) or "").strip()) if match else ("", "")
        if option in ("-i", "--index-url"):
            main = value
        elif option == "--extra-index-url":
            more.append(value)
        elif option in ("-f", "--find-links"):
            links.append(value)
        elif option == "--no-index":
            has_index = False
    named = [_filled(word, settings) for word in (main, *more)] if has_index else []
    indexes = [word.partition("=")[2] if _is_named(word) else word for word in named]
    folders = [_filled(link.strip(), settings) for link in links]
    return Places(
        [index for index in indexes if index.startswith(("https://", "http://"))],
        [folder for folder in folders if folder.startswith("/")],
    )


def _is_named(word: str) -> bool:
    """Whether an index has a name before it, as `UV_INDEX` may have."""
    return re.match(r"[A-Za-z0-9_.-]+=https?://", word) is not None


def _filled(text: str, environ: Mapping[str, str]) -> str:
    return _VARIABLE.sub(lambda match: environ.get(match.group(1), ""), text)


def wheels_of(page: str, url: str) -> list[Wheel]:
    """The wheels that a page of an index lists, in either of its two forms."""
    try:
        told = json.loads(page)
    except ValueError:
        return _from_html(page, url)
    files = told.get("files") if isinstance(told, dict) else None
    found = []
    for each in files if isinstance(files, list) else ():
        if isinstance(each, dict) and not each.get("yanked"):
            hashes = each.get("hashes")
            sha256 = str(hashes.get("sha256") or "") if isinstance(hashes, dict) else ""
            place = urljoin(url, str(each.get("url")))
            found.append(Wheel(str(each.get("filename")), place, sha256))
    return found


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = dict(attrs)
        if tag == "a" and told.get("href") and "data-yanked" not in told:
            self.found.append(str(told["href"]))


def _from_html(page: str, url: str) -> list[Wheel]:
    parser = _Links()
    parser.feed(page)
    found = []
    for link in parser.found:
        place, fragment = urldefrag(urljoin(url, link))
        sha256 = fragment[len("sha256=") :] if fragment.startswith("sha256=") else ""
        found.append(Wheel(place.rpartition("/")[2], place, sha256))
    return found


def best(wheels: Iterable[Wheel], machine: str, glibc: tuple[int, int] | None) -> Wheel | None:
    """The newest wheel that runs on a host; without glibc it has another C library."""
    fitting = [(_rank(wheel, machine, glibc), wheel) for wheel in wheels if wheel.version]
    ranked = [(rank, wheel) for rank, wheel in fitting if rank]
    if not ranked:
        return None
    return max(ranked, key=lambda pair: (_numbers(pair[1].version), pair[0]))[1]


def _rank(wheel: Wheel, machine: str, glibc: tuple[int, int] | None) -> int:
    """0: it does not run there. uv's programs for musl need no C library, so they run anywhere."""
    rank = 0
    for tag in wheel.tags:
        match = _TAG.fullmatch(tag)
        if match is None or (match.group(4) or match.group(6)) != machine:
            continue
        if match.group(1) == "musl":
            rank = max(rank, 1)
        else:
            needed = (2, 17) if match.group(5) else (int(match.group(2)), int(match.group(3)))
            rank = max(rank, 2 if glibc is not None and glibc >= needed else 0)
    return rank


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(word) for word in version.split("."))
