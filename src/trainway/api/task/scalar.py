"""What a plain YAML scalar means in a task: what PyYAML's safe loader makes of it.

It differs from kubectl's reading (`api.yaml_scalar`): `y` and `1e3` are text, `1.0` stays a
fraction, which matters because values of `envs` become strings. Two traps of YAML 1.1 are left
out: `22:22` is text and not a number of base 60, and a date is text as it is written.
"""

import re
from typing import Final

from trainway.api.yaml_scalar import Scalar

_WORDS: Final[dict[str, Scalar]] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), float("inf")),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), float("-inf")),
}
_INTEGER: Final = re.compile(
    r"(?P<sign>[-+]?)(?:0b(?P<bin>[01_]+)|0x(?P<hex>[0-9a-fA-F_]+)|0(?P<oct>[0-7_]+)"
    r"|(?P<dec>0|[1-9][0-9_]*))",
    re.ASCII,
)
_FLOAT: Final = re.compile(
    r"[-+]?(?:[0-9][0-9_]*\.[0-9_]*|\.[0-9][0-9_]*)(?:[eE][-+][0-9]+)?", re.ASCII
)
_BASES: Final = {"bin": 2, "hex": 16, "oct": 8, "dec": 10}
_MOST_DIGITS: Final = 400
"""A number has fewer; Python is slow with, and then refuses, thousands of them."""


def resolve(text: str) -> Scalar:
    """The value of a plain scalar. Infinity and NaN come as floats, for the caller to refuse."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in "+-.0123456789" or len(text) > _MOST_DIGITS:
        return text
    if match := _INTEGER.fullmatch(text):
        group = match.lastgroup or "dec"
        digits = match[group].replace("_", "")
        if digits:
            number = int(digits, _BASES[group])
            return -number if match["sign"] == "-" else number
    if _FLOAT.fullmatch(text):
        return float(text.replace("_", ""))
    return text
