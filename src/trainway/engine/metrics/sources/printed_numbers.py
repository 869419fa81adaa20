"""The numbers in a line that training code prints, by the default pattern. Pure.

Every part of the expressions is possessive or short, so that no line takes long, whatever is in it.
"""

import re
from collections.abc import Mapping
from itertools import islice
from typing import Final

_NUMBER: Final = r"[-+]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][-+]?\d++)?"
_BEFORE: Final = r"(?<![\w./@-])"
_BEHIND: Final = r"(?=$|[\s,;|)\]}%'\"]|\.(?:\s|$))"
_PAIR: Final = re.compile(
    rf"{_BEFORE}(?:(train|training|val|valid|validation|test|eval) )?"
    rf"([a-z_][\w./@-]{{0,63}}+)['\"]?\s{{0,3}}[:=]\s{{0,9}}({_NUMBER}){_BEHIND}",
    re.IGNORECASE | re.ASCII,
)
_COUNTERS: Final = {
    "step": "step",
    "global_step": "step",
    "iteration": "step",
    "iter": "step",
    "epoch": "epoch",
}
_COUNTER: Final = re.compile(
    rf"{_BEFORE}({'|'.join(_COUNTERS)})['\"]?(?:\s{{0,3}}[:=]\s{{0,9}}|\s{{1,3}}\[?|\[)"
    rf"({_NUMBER})(?=$|[\s,;|)\]}}%'\":/-]|\.(?:\s|$))",
    re.IGNORECASE | re.ASCII,
)
_ROUND: Final = re.compile(r"\s{0,9}\[(\d{1,18})\]\s", re.ASCII)
"""How the lines of XGBoost and LightGBM begin."""
_MOST: Final = 50
"""The numbers of a line that count."""


def printed_numbers(line: str) -> Mapping[str, float]:
    """What `loss: 0.31` and `loss=0.31` say, with the step and epoch of the line."""
    found: dict[str, float] = {}
    for match in islice(_PAIR.finditer(line), _MOST):
        group, name, number = match.groups()
        if name.lower() not in _COUNTERS:
            found.setdefault(f"{group}_{name}" if group else name, float(number))
    if not found:
        return {}
    begun = _ROUND.match(line)
    if begun:
        found["step"] = float(begun.group(1))
    for match in islice(_COUNTER.finditer(line), _MOST):
        found[_COUNTERS[match.group(1).lower()]] = float(match.group(2))
    return found
