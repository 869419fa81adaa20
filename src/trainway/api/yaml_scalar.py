"""What a plain (unquoted) YAML scalar means.

Manifests are written for kubectl, so words and numbers mean what they mean there: YAML 1.1 words
(`yes`, `off`, `~`), integers in four bases, no base-60 numbers, and dates stay text. kubectl sends
JSON, where 1e3 and 1.0 are the integers 1000 and 1; so are they here.
"""

import re
from math import isinf

Scalar = str | int | float | bool | None

_WORDS: dict[str, Scalar] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(
        ("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True
    ),
    **dict.fromkeys(
        ("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False
    ),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), float("inf")),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), float("-inf")),
}
_FIRST = frozenset("+-.0123456789yYnNtTfFoO~")
"""Text that starts otherwise is nothing but text, and most text does."""

_INTEGER = re.compile(
    r"[-+]?(?:0[xX](?P<hex>[0-9a-fA-F]+)|0[bB](?P<bin>[01]+)|0[oO]?(?P<oct>[0-7]+)|0|[1-9][0-9]*)",
    re.ASCII,
)
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", re.ASCII)
_BASES = {"hex": 16, "bin": 2, "oct": 8}
INT64 = range(-(2**63), 2**64)
_LARGEST_EXACT = 1e21
"""From here on JSON writers give a number an exponent, and it is no longer an integer."""


def resolve(text: str) -> Scalar:
    """The value of a plain scalar. Infinity and NaN come as floats, for the caller to refuse."""
    if text and text[0] not in _FIRST:
        return text
    if text in _WORDS:
        return _WORDS[text]
    if text[0] in "+-.0123456789":
        return _number(text)
    return text


def integral(number: float) -> int | float:
    """A float as JSON shows it: without a fraction it is an integer."""
    return int(number) if number.is_integer() and abs(number) < _LARGEST_EXACT else number


def _number(text: str) -> Scalar:
    plain = text.replace("_", "") if text[0] != "." else text
    if match := _INTEGER.fullmatch(plain):
        value = _integer(plain, match)
        if value is not None:
            return value
    if _FLOAT.fullmatch(plain):
        number = float(plain)
        if not isinf(number):
            return integral(number)
    return text


def _integer(plain: str, match: re.Match[str]) -> int | None:
    """The integer, if it has 64 bits or fewer."""
    digits = match[match.lastgroup] if match.lastgroup else plain.lstrip("+-")
    if len(digits) > 64:  # as many as the longest 64-bit integer has, written in binary
        return None
    value = int(digits, _BASES.get(match.lastgroup or "", 10))
    value = -value if plain[0] == "-" else value
    return value if value in INT64 else None
