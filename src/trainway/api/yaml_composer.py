"""YAML text to plain values, safely.

The tree is built here from the parser's events, because the usual loaders recurse without bound,
let an alias stand for a billion nodes, and keep the last of two equal keys without a word. What a
scalar means is told by `yaml_scalar`.
"""

import json
import re
from collections.abc import Callable, Iterator
from math import isfinite
from types import NoneType
from typing import Any, Final

import yaml
from yaml import events

from trainway.api.document import MAX_DEPTH, Document, Place, Places, Steps, place
from trainway.api.yaml_scalar import Scalar, resolve
from trainway.errors import ManifestError

MAX_EXPANSION: Final = 1_000_000
"""What aliases may add to a text: nodes, and one more for every 64 characters of a string."""

_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_CORE: Final = "tag:yaml.org,2002:"
_MERGE_TAG: Final = _CORE + "merge"
_TYPES: Final[dict[str, tuple[type, ...]]] = {
    _CORE + "bool": (bool,),
    _CORE + "int": (int,),
    _CORE + "float": (int, float),
    _CORE + "null": (NoneType,),
}
_UNPRINTABLE: Final = re.compile(
    "[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
)
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_LONGEST_QUOTE: Final = 60


def compose(
    text: str,
    meaning: Callable[[str], Scalar] = resolve,
    places: list[Places] | None = None,
) -> Iterator[Document]:
    """The documents of a text. Raises ManifestError at the first thing that is wrong.

    `meaning` says what a plain scalar is; `places` gets those of each document.
    """
    if match := _UNPRINTABLE.search(text):
        code = f"U+{ord(match[0]):04X}"
        raise ManifestError(f"the character {code} is not allowed", *place(text, match.start()))
    try:
        yield from _Composer(meaning, places).documents(yaml.parse(text, Loader=_LOADER))
    except yaml.MarkedYAMLError as error:
        raise _syntax_error(error) from None
    except (ValueError, OverflowError):  # PyYAML without libyaml, given numbers out of range
        raise ManifestError("a number in an escape or directive is too large", 1, 1) from None


def _syntax_error(error: yaml.MarkedYAMLError) -> ManifestError:
    problem = error.problem or "this is not valid YAML"
    if error.context and error.context_mark:
        problem += f" ({error.context} from line {error.context_mark.line + 1})"
    mark = error.problem_mark
    return ManifestError(problem, *(mark.line + 1, mark.column + 1) if mark else (1, 1))


def _error(event: Any, problem: str) -> ManifestError:
    return ManifestError(problem, *_start(event))


def _start(event: Any) -> Place:
    return event.start_mark.line + 1, event.start_mark.column + 1


def _quote(text: str) -> str:
    quoted = json.dumps(text)
    return quoted if len(quoted) <= _LONGEST_QUOTE else quoted[: _LONGEST_QUOTE - 4] + '..."'


class _Sentinel:
    """Stands where a key or an anchored value is not, or not yet."""


_NO_KEY: Final = _Sentinel()
_MERGE: Final = _Sentinel()
_OPEN: Final = _Sentinel()


class _Frame:
    """A list or object that is still open."""

    __slots__ = ("anchor", "key", "merged", "value")

    def __init__(self, value: dict[str, Any] | list[Any], anchor: str | None) -> None:
        self.value = value
        self.anchor = anchor
        self.key: str | _Sentinel = _NO_KEY
        self.merged: list[dict[str, Any]] | None = None


class _Composer:
    """Builds the tree of each document, with a stack of its own instead of recursion."""

    def __init__(self, meaning: Callable[[str], Scalar], places: list[Places] | None) -> None:
        self._meaning = meaning
        self._places = places
        self._stack: list[_Frame] = []
        self._anchors: dict[str, Any] = {}
        self._expansion = 0
        self._root: Any = None

    def documents(self, stream: Iterator[Any]) -> Iterator[Document]:
        start: Any = None
        for event in stream:
            start = start or event
            match event:
                case events.ScalarEvent():
                    self._mark(event)
                    self._add(_scalar(event, self._meaning), event, event.anchor)
                case events.MappingStartEvent() | events.SequenceStartEvent():
                    self._open(event)
                case events.MappingEndEvent() | events.SequenceEndEvent():
                    self._close(event)
                case events.AliasEvent():
                    self._mark(event)
                    self._add(self._alias(event), event, None)
                case events.StreamStartEvent() | events.DocumentStartEvent():
                    self._anchors = {}
                    start = None
                    if self._places is not None and isinstance(event, events.DocumentStartEvent):
                        self._places.append(Places())
                case events.DocumentEndEvent():
                    yield self._root, start.start_mark.line + 1, start.start_mark.column + 1

    def _open(self, event: Any) -> None:
        is_mapping = isinstance(event, events.MappingStartEvent)
        if event.tag not in (None, "!", _CORE + ("map" if is_mapping else "seq")):
            raise _error(event, f"the tag {_quote(event.tag)} is not known")
        if len(self._stack) >= MAX_DEPTH:
            raise _too_deep(event)
        if self._stack:
            frame = self._stack[-1]
            if frame.key is _NO_KEY and isinstance(frame.value, dict):
                raise _error(event, "a key must be a string")
        self._mark(event)
        if event.anchor is not None:
            self._anchors[event.anchor] = _OPEN
        self._stack.append(_Frame({} if is_mapping else [], event.anchor))

    def _close(self, event: Any) -> None:
        frame = self._stack.pop()
        if isinstance(frame.value, dict):
            for source in frame.merged or ():
                for key, value in source.items():
                    frame.value.setdefault(key, value)
        self._add(frame.value, event, frame.anchor)

    def _add(self, value: Any, event: Any, anchor: str | None) -> None:
        """Put a finished value where it belongs."""
        if anchor is not None:
            self._anchors[anchor] = value
        if not self._stack:
            self._root = value
            return
        frame = self._stack[-1]
        if isinstance(frame.value, list):
            frame.value.append(value)
        elif frame.key is _NO_KEY:
            frame.key = _key(frame, value, event)
            if self._places is not None:
                self._places[-1].keys[self._steps()] = _start(event)
        elif frame.key is _MERGE:
            frame.merged = _merge_sources(value, event)
            frame.key = _NO_KEY
        else:
            frame.value[str(frame.key)] = value
            frame.key = _NO_KEY

    def _mark(self, event: Any) -> None:
        """Note where a value starts, where anybody wants to know."""
        if self._places is None:
            return
        is_key = self._stack and self._stack[-1].key is _NO_KEY
        if not (is_key and isinstance(self._stack[-1].value, dict)):
            self._places[-1].values[self._steps()] = _start(event)

    def _steps(self) -> Steps:
        return tuple(
            len(frame.value) if isinstance(frame.value, list) else str(frame.key)
            for frame in self._stack
        )

    def _alias(self, event: Any) -> Any:
        value = self._anchors.get(event.anchor, _NO_KEY)
        if value is _NO_KEY:
            raise _error(event, f"the alias {_quote(event.anchor)} has no anchor before it")
        if value is _OPEN:
            raise _error(event, f"the alias {_quote(event.anchor)} is inside its own anchor")
        return self._copy(value, len(self._stack), event)

    def _copy(self, value: Any, depth: int, event: Any) -> Any:
        """A copy of its own for every alias, so that no two places of a tree share a node."""
        self._expansion += 1 + (len(value) // 64 if isinstance(value, str) else 0)
        if self._expansion > MAX_EXPANSION:
            raise _error(event, f"aliases expand to more than {MAX_EXPANSION:,} nodes")
        if not isinstance(value, dict | list):
            return value
        if depth >= MAX_DEPTH:
            raise _too_deep(event)
        if isinstance(value, dict):
            return {key: self._copy(item, depth + 1, event) for key, item in value.items()}
        return [self._copy(item, depth + 1, event) for item in value]


def _too_deep(event: Any) -> ManifestError:
    return _error(event, f"nested more than {MAX_DEPTH} levels deep")


def _key(frame: _Frame, value: Any, event: Any) -> str | _Sentinel:
    """Keys of JSON are strings; numbers and booleans become one, as kubectl makes them."""
    if _is_merge(event):
        if frame.merged is not None:
            raise _error(event, 'the key "<<" appears twice')
        return _MERGE
    if not isinstance(value, str | int | float):
        raise _error(event, "a key must be a string")
    key = value if isinstance(value, str) else json.dumps(value)
    if key in frame.value:
        raise _error(event, f"the key {_quote(key)} appears twice")
    return key


def _is_merge(event: Any) -> bool:
    if not isinstance(event, events.ScalarEvent):
        return False
    plain = event.tag is None and event.implicit[0]
    return event.value == "<<" and (plain or event.tag == _MERGE_TAG)


def _merge_sources(value: Any, event: Any) -> list[dict[str, Any]]:
    sources = value if isinstance(value, list) else [value]
    if not all(isinstance(source, dict) for source in sources):
        raise _error(event, "the value of << must be an object or a list of objects")
    return sources


def _scalar(event: Any, meaning: Callable[[str], Scalar]) -> Scalar:
    text: str = event.value
    tag: str | None = event.tag
    if not text.isascii() and _SURROGATE.search(text):  # libyaml sees to it, PyYAML does not
        raise _error(event, "found an incomplete surrogate pair")
    if tag is None:
        value = meaning(text) if event.implicit[0] else text
    elif tag in ("!", _CORE + "str", _MERGE_TAG):
        return text
    elif tag not in _TYPES:
        raise _error(event, f"the tag {_quote(tag)} is not known")
    else:
        value = meaning(text)
        of_type = isinstance(value, _TYPES[tag])
        if not of_type or isinstance(value, bool) != (bool in _TYPES[tag]):
            raise _error(event, f"{_quote(text)} is not of the type {tag.removeprefix(_CORE)}")
    if isinstance(value, float) and not isfinite(value):
        raise _error(event, f"{_quote(text)} cannot be written as JSON")
    return value
