"""JSON as an answer, whatever is in it.

What comes in is checked (`json_body`), but a store may have rows from before that, and jobs write
journals of their own. One of them must not make a whole list unreadable: what JSON does not have
is replaced.
"""

import json
import re
from math import isfinite
from typing import Any, Final

from starlette.responses import JSONResponse

_ESCAPED_SURROGATE: Final = re.compile(r"\\ud[89a-f]")


class JsonAnswer(JSONResponse):
    """An answer that can be written in any case."""

    def render(self, content: Any) -> bytes:
        """The text; the usual way, unless that fails."""
        try:
            return super().render(content)
        except ValueError:  # which half of a surrogate pair is as well
            return super().render(presentable(content))


def json_text(value: object) -> str:
    """A value as JSON in ASCII, on one line."""
    try:
        text = json.dumps(value, allow_nan=False)
    except ValueError:
        return json.dumps(presentable(value))
    return json.dumps(presentable(value)) if _ESCAPED_SURROGATE.search(text) else text


def presentable(value: Any) -> Any:
    """The same without half surrogate pairs, and with null for what is no number."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, dict):
        return {presentable(str(key)): presentable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [presentable(item) for item in value]
    return value
